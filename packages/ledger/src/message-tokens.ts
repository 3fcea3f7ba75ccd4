import type { PromptMessage } from '@stint/provider-hooks';
import { textTokens } from './text-tokens.js';

/** Role, separators and the like around one message. */
const tokensAroundMessage = 8;
const tokensAroundPart = 4;

/** How parts that are not text are counted. They are bills of thumb, not measurements: set your provider's. */
export interface PartRules {
  /** Tokens of one image, whatever its bytes. @default 4800 */
  readonly imageTokens: number;
  /** Bytes of a document, sound or film that make one token. @default 8 */
  readonly fileBytesPerToken: number;
  /** The least that a document, sound or film counts. @default 3000 */
  readonly leastFileTokens: number;
  /** One token a byte for text. @default false */
  readonly bound: boolean;
}

export function partRulesOf(options: Partial<PartRules>): PartRules {
  return {
    imageTokens: options.imageTokens ?? 4800,
    fileBytesPerToken: options.fileBytesPerToken ?? 8,
    leastFileTokens: options.leastFileTokens ?? 3000,
    bound: options.bound ?? false,
  };
}

/** Sizes of frozen messages, under the rules they were counted by. */
const sizes = new WeakMap<object, Map<string, number>>();

/** The tokens of one message. A frozen message is counted once. */
export function messageTokens(message: PromptMessage, rules: PartRules): number {
  if (!Object.isFrozen(message)) return countMessage(message, rules);
  const key = `${rules.bound} ${rules.imageTokens} ${rules.fileBytesPerToken} ${rules.leastFileTokens}`;
  const kept = sizes.get(message) ?? new Map<string, number>();
  const size = kept.get(key) ?? countMessage(message, rules);
  sizes.set(message, kept.set(key, size));
  return size;
}

function countMessage({ content }: PromptMessage, rules: PartRules): number {
  if (typeof content === 'string') return tokensAroundMessage + textTokens(content, rules);
  let tokens = tokensAroundMessage;
  for (const part of content) tokens += tokensAroundPart + partTokens(part, rules);
  return tokens;
}

function partTokens(part: Exclude<PromptMessage['content'], string>[number], rules: PartRules): number {
  if (part.type === 'text' || part.type === 'reasoning') return textTokens(part.text, rules);
  if (part.type === 'file') return fileTokens(part.mediaType, part.data, rules);
  return valueTokens(part, rules);
}

/** A tool's arguments or result: as JSON, but for the media in it. */
function valueTokens(value: unknown, rules: PartRules): number {
  let mediaTokens = 0;
  const text = JSON.stringify(value, (_key, member: unknown) => {
    const tokens = isMedia(member) ? fileTokens(member.mediaType, member.data, rules) : referenceTokens(member, rules);
    if (tokens === undefined) return member;
    mediaTokens += tokens;
    return undefined;
  });
  return mediaTokens + textTokens(text ?? '', rules);
}

function isMedia(value: unknown): value is { mediaType: string; data: unknown } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'mediaType' in value &&
    typeof value.mediaType === 'string' &&
    'data' in value
  );
}

/** A file in a tool's result that is named by its address or its id at the provider. */
function referenceTokens(value: unknown, rules: PartRules): number | undefined {
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined;
  if (type === 'image-url' || type === 'image-file-id') return rules.imageTokens;
  return type === 'file-url' || type === 'file-id' ? rules.leastFileTokens : undefined;
}

/** A file by its kind; the data as every specification of the AI SDK has it: bytes, base64, an address, or one of these tagged. */
function fileTokens(mediaType: string, data: unknown, rules: PartRules): number {
  const kind = mediaType.split('/', 1)[0];
  const { text, bytes } = sizeOf(data, kind === 'text');
  if (text !== undefined) return textTokens(text, kind === 'text' ? { bound: true } : rules);
  if (kind === 'image') return rules.imageTokens;
  if (bytes === undefined) return rules.leastFileTokens;
  return kind === 'text' ? bytes : Math.max(rules.leastFileTokens, Math.ceil(bytes / rules.fileBytesPerToken));
}

/** The text or the bytes of a file; neither if only its address is there. */
function sizeOf(data: unknown, isText: boolean): { readonly text?: string; readonly bytes?: number } {
  if (typeof data === 'string') return isText ? { text: data } : { bytes: Math.ceil((data.length * 3) / 4) };
  if (data instanceof Uint8Array) return { bytes: data.byteLength };
  const tagged = data as { type?: unknown; text?: unknown; data?: unknown } | null;
  if (tagged?.type === 'text' && typeof tagged.text === 'string') return { text: tagged.text };
  return tagged?.type === 'data' ? sizeOf(tagged.data, isText) : {};
}
