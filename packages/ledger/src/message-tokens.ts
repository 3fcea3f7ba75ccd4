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
    if (!isMedia(member)) return member;
    mediaTokens += fileTokens(member.mediaType, member.data, rules);
    return undefined;
  });
  return mediaTokens + textTokens(text ?? '', rules);
}

function isMedia(value: unknown): value is { mediaType: string; data: string } {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'mediaType' in value && 'data' in value && typeof value.mediaType === 'string' && typeof value.data === 'string'
  );
}

function fileTokens(mediaType: string, data: string | Uint8Array | URL, rules: PartRules): number {
  if (mediaType.startsWith('image/')) return rules.imageTokens;
  if (data instanceof URL) return rules.leastFileTokens;
  const bytes = typeof data === 'string' ? Math.ceil((data.length * 3) / 4) : data.byteLength;
  if (mediaType.startsWith('text/'))
    return textTokens(typeof data === 'string' ? data : '', { bound: true }) + (typeof data === 'string' ? 0 : bytes);
  return Math.max(rules.leastFileTokens, Math.ceil(bytes / rules.fileBytesPerToken));
}
