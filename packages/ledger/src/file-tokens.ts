import { pdfPages } from './pdf-pages.js';
import { textTokens } from './text-tokens.js';

/** How parts that are not text are counted. They are rules of thumb, not measurements: set your provider's. */
export interface PartRules {
  /** Tokens of one image, whatever its bytes. @default 4800 */
  readonly imageTokens: number;
  /** Bytes of a PDF, sound or film that make one token; with `bound` it is one. @default 8 */
  readonly fileBytesPerToken: number;
  /** The least that a page of a PDF counts: providers read its text and look at its picture. @default 4600 */
  readonly pdfPageTokens: number;
  /** The least that a PDF, sound or film counts, and what a file counts that only its address or id tells of. @default 3000 */
  readonly leastFileTokens: number;
  /** One token a byte for text. @default false */
  readonly bound: boolean;
}

export function partRulesOf(options: Partial<PartRules>): PartRules {
  return {
    imageTokens: options.imageTokens ?? 4800,
    fileBytesPerToken: options.fileBytesPerToken ?? 8,
    pdfPageTokens: options.pdfPageTokens ?? 4600,
    leastFileTokens: options.leastFileTokens ?? 3000,
    bound: options.bound ?? false,
  };
}

/** The only kinds that providers read otherwise than as text; whatever is not known to be one of them is counted as text. */
const seenOrHeard = /^(audio|video)(\/|$)|^application\/pdf$/u;
const picture = /^image(\/(?!svg)|$)/u;
const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/u;
const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w-]+=[^;,]*)*;base64,/u;

/**
 * A file by its kind: an image by rule, a PDF, sound or film by its bytes, any other a token a byte.
 * @param data as every specification of the AI SDK has it: bytes, base64, an address, or one of these tagged
 */
export function fileTokens(mediaType: string, data: unknown, rules: PartRules): number {
  if (typeof data === 'string') return tokensOfText(mediaType, data, rules);
  const bytes = bytesOf(data);
  if (bytes !== undefined) return tokensOfBytes(mediaType, bytes, rules);
  const tagged = data as { type?: unknown; text?: unknown; data?: unknown } | null | undefined;
  if (tagged?.type === 'data') return fileTokens(mediaType, tagged.data, rules);
  if (tagged?.type === 'text' && typeof tagged.text === 'string') return Buffer.byteLength(tagged.text);
  return referenceTokens(mediaType, rules) + textTokens(JSON.stringify(data) ?? '', rules);
}

/** A file that is named by its address or by its id at the provider. */
export function referenceTokens(mediaType: string, rules: PartRules): number {
  return picture.test(mediaType) ? rules.imageTokens : rules.leastFileTokens;
}

/** Base64 counts as the bytes it is; a text that is none of it, whatever it is called, as what it is. */
function tokensOfText(mediaType: string, text: string, rules: PartRules): number {
  const prefix = dataUrl.exec(text);
  const encoded = prefix === null ? text : text.slice(prefix[0].length);
  const kind = prefix?.[1] ?? mediaType;
  const isRead = !picture.test(kind) && !seenOrHeard.test(kind);
  if (isRead) return Buffer.byteLength(encoded);
  if (picture.test(kind) && base64.test(encoded)) return rules.imageTokens;
  if (base64.test(encoded)) return tokensOfBytes(kind, Buffer.from(encoded, 'base64'), rules);
  return Math.max(referenceTokens(kind, rules), Buffer.byteLength(text));
}

function tokensOfBytes(mediaType: string, bytes: Uint8Array, rules: PartRules): number {
  if (picture.test(mediaType)) return rules.imageTokens;
  if (!seenOrHeard.test(mediaType)) return bytes.byteLength;
  const pages = mediaType === 'application/pdf' ? pdfPages(bytes) : 0;
  const byLength = Math.ceil(bytes.byteLength / (rules.bound ? 1 : rules.fileBytesPerToken));
  return Math.max(rules.leastFileTokens, byLength, pages * rules.pdfPageTokens);
}

function bytesOf(data: unknown): Uint8Array | undefined {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : undefined;
}
