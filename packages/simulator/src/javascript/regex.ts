import { Unsupported } from './tokenize.js';
import { Box, Callable, fail, toText, type Value } from './values.js';

const longestSource = 80;
const longestSubject = 10_000;

/** A regular expression of the program, as an object. */
export class RegexBox extends Box {
  constructor(readonly regex: RegExp) {
    super();
  }

  /** @throws Unsupported for a subject so long that matching it might take for ever */
  on(subject: string): RegExp {
    if (subject.length > longestSubject) throw new Unsupported('The text to match is too long.');
    this.regex.lastIndex = 0;
    return this.regex;
  }
}

/**
 * Reads a literal. Only expressions whose matching time is bounded by a low power of the length are taken: no repeated
 * group, no back reference, no look-behind, at most three open repetitions.
 * @throws Unsupported for every other one
 */
export function readRegex(raw: string): RegexBox {
  const end = raw.lastIndexOf('/');
  const [source, flags] = [raw.slice(1, end), raw.slice(end + 1)];
  const plain = source.replace(/\\.|\[(?:[^\]\\]|\\.)*\]/g, 'x');
  const risky =
    /\)[*+{]|\(\?<?[=!]|\(\?</.test(plain) || /\\[1-9]/.test(source) || (plain.match(/[*+]|,\}/g) ?? []).length > 3;
  if (risky || source.length > longestSource || flags.includes('y'))
    throw new Unsupported(`The expression ${raw} is not read.`);
  return new RegexBox(new RegExp(source, flags));
}

/** The methods of a regular expression. */
export function regexMember(box: RegexBox, name: string): Value {
  if (name === 'test') return new Callable(name, (_, [text]) => box.on(toText(text)).test(toText(text)));
  if (name === 'source') return box.regex.source;
  if (name === 'flags') return box.regex.flags;
  throw new Unsupported(`The property ${name} of a regular expression is not read.`);
}

/** `String.prototype.replace` and `replaceAll` with an expression or a text to look for, and a text or function to put there. */
export function replaceText(self: string, [pattern, by]: readonly Value[], all: boolean): Value {
  const insert = (match: string, ...rest: readonly unknown[]): string => {
    if (!(by instanceof Callable)) return toText(by);
    const groups = rest.filter((part) => typeof part !== 'object') as Value[];
    return toText(by.invoke(undefined, [match, ...groups]));
  };
  if (!(by instanceof Callable) && toText(by).includes('$'))
    throw new Unsupported('Replacement patterns are not read.');
  if (!(pattern instanceof RegexBox))
    return all ? self.replaceAll(toText(pattern), insert) : self.replace(toText(pattern), insert);
  const regex = pattern.on(self);
  if (all && !regex.global) throw fail('TypeError', 'replaceAll must be called with a global RegExp');
  return self.replace(regex, insert);
}

/** `String.prototype.match`: a list of matches, or null. */
export function matchText(self: string, pattern: Value): Value {
  if (!(pattern instanceof RegexBox)) throw new Unsupported('This pattern is not read.');
  const match = self.match(pattern.on(self));
  return match === null ? null : [...match];
}
