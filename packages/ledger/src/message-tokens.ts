import type { PromptMessage } from '@stint/provider-hooks';
import { fileTokens, type PartRules, referenceTokens } from './file-tokens.js';
import { textTokens } from './text-tokens.js';

type Fields = Readonly<Record<string, unknown>>;

/** Role, separators and the like around one message. */
const tokensAroundMessage = 8;
const tokensAroundPart = 4;

/** Sizes of frozen values, under the rules they were counted by. */
const sizes = new WeakMap<object, Map<string, number>>();

/** What `count` answers for a value; asked once for a frozen one. */
function countedOnce(value: object, rules: PartRules, count: () => number): number {
  if (!Object.isFrozen(value)) return count();
  const key = Object.values(rules).join(' ');
  const kept = sizes.get(value) ?? new Map<string, number>();
  const size = kept.get(key) ?? count();
  sizes.set(value, kept.set(key, size));
  return size;
}

/**
 * The tokens of one message: all that it carries counts as text, but for the bytes of images and files in the places where a provider takes
 * them as such, which are a part of the message and a member of a tool result's `content`. A frozen message is counted once.
 */
export function messageTokens(message: PromptMessage, rules: PartRules): number {
  return countedOnce(message, rules, () => countMessage(message, rules));
}

/** The tokens of a value that is sent as JSON: definitions of tools, schemas, options. A frozen value is counted once. */
export function jsonTokens(value: object, rules: PartRules): number {
  return countedOnce(value, rules, () => textTokens(JSON.stringify(value) ?? '', rules));
}

function countMessage(message: PromptMessage, rules: PartRules): number {
  const { content } = message;
  const tokens = tokensAroundMessage + besideTokens(message, ['role', 'content'], rules);
  if (typeof content === 'string') return tokens + textTokens(content, rules);
  return content.reduce((sum, part) => sum + tokensAroundPart + partTokens(part as unknown as Fields, rules), tokens);
}

function partTokens(part: Fields, rules: PartRules): number {
  if (part.type === 'tool-result') return resultTokens(part, rules);
  if (part.type !== 'text' && part.type !== 'reasoning') return memberTokens(part, rules);
  return textTokens(String(part.text), rules) + besideTokens(part, ['type', 'text'], rules);
}

/** Only a result of the type `content` can bring files; `json` and `text` go to the provider as text, whatever they look like. */
function resultTokens(part: Fields, rules: PartRules): number {
  const output = part.output as Fields | undefined;
  const members = output?.value;
  if (output?.type !== 'content' || !Array.isArray(members)) return jsonTokens(part, rules);
  const wrapping = textTokens(JSON.stringify({ ...part, output: { ...output, value: [] } }), rules);
  return members.reduce((sum: number, member: Fields) => sum + memberTokens(member, rules), wrapping);
}

/** By what the AI SDK calls files whose bytes are there, in messages and in results of tools. */
const carryingTypes: ReadonlySet<unknown> = new Set(['file', 'reasoning-file', 'media', 'file-data', 'image-data']);
/** And those that are named by an address or an id. */
const namingTypes: Readonly<Record<string, string>> = {
  'image-url': 'image',
  'image-file-id': 'image',
  'image-file-reference': 'image',
  'file-url': 'file',
  'file-id': 'file',
  'file-reference': 'file',
};

function memberTokens(member: Fields, rules: PartRules): number {
  const { type, mediaType, data } = Object(member) as Fields;
  if (carryingTypes.has(type) && typeof mediaType === 'string' && data !== undefined)
    return fileTokens(mediaType, data, rules) + besideTokens(member, ['type', 'mediaType', 'data'], rules);
  const text = textTokens(JSON.stringify(member) ?? '', rules);
  const named = typeof type === 'string' && Object.hasOwn(namingTypes, type) ? namingTypes[type] : undefined;
  return named === undefined ? text : text + referenceTokens(named, rules);
}

/** What stands beside the text or the data: options for the provider, names, titles, signatures. */
function besideTokens(value: object, counted: readonly string[], rules: PartRules): number {
  const beside = Object.entries(value).filter(([name]) => !counted.includes(name));
  return beside.length === 0 ? 0 : textTokens(JSON.stringify(Object.fromEntries(beside)), rules);
}
