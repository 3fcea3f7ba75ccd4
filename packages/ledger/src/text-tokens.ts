/** Bytes that one token stands for: measured on two tokenizers, so that the count is rarely below theirs. */
const plainBytesPerToken = 3;
const denseBytesPerToken = 1.4;
/** A run of letters and digits this long with a digit in it is taken for hex or base64. */
const denseRunLength = 16;

const letter = 0;
const digit = 1;
const space = 2;
const joiner = 3;
const other = 4;

const kindOf = new Uint8Array(128).fill(other);
for (let code = 97; code <= 122; code += 1) kindOf[code] = letter;
for (let code = 65; code <= 90; code += 1) kindOf[code] = letter;
for (let code = 48; code <= 57; code += 1) kindOf[code] = digit;
for (const code of [32, 9, 10, 13]) kindOf[code] = space;
for (const character of '+/=_-') kindOf[character.charCodeAt(0)] = joiner;

export interface TextTokenOptions {
  /** One token a byte: no tokenizer makes more. @default false */
  readonly bound?: boolean;
}

/**
 * How many tokens a text has at most, as a rule: one for 3 bytes of words, one for 1.4 bytes of digits, hex, base64, punctuation and
 * non-ASCII, for which bytes/3 is up to 2.1 times too low.
 */
export function textTokens(text: string, options: TextTokenOptions = {}): number {
  if (options.bound === true) return Buffer.byteLength(text, 'utf8');
  const { plainBytes, denseBytes } = classify(text);
  return Math.ceil(plainBytes / plainBytesPerToken + denseBytes / denseBytesPerToken);
}

function classify(text: string): { plainBytes: number; denseBytes: number } {
  let plainBytes = 0;
  let denseBytes = 0;
  let run = 0;
  let runLetters = 0;
  let runDigits = 0;
  for (let index = 0; index <= text.length; index += 1) {
    const code = index < text.length ? text.charCodeAt(index) : 32;
    const kind = code < 128 ? kindOf[code] : other;
    if (kind === letter || kind === digit || kind === joiner) {
      run += 1;
      if (kind === letter) runLetters += 1;
      else if (kind === digit) runDigits += 1;
      continue;
    }
    const isDense = run >= denseRunLength && runDigits > 0;
    plainBytes += isDense ? 0 : runLetters;
    denseBytes += isDense ? run : run - runLetters;
    run = runLetters = runDigits = 0;
    if (index === text.length) break;
    if (kind === space) plainBytes += 1;
    else denseBytes += code < 128 ? 1 : code < 0x800 || isSurrogate(code) ? 2 : 3;
  }
  return { plainBytes, denseBytes };
}

/** Half of a pair that is four bytes in UTF-8. */
function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff;
}
