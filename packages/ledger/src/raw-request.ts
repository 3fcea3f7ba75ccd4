/** What a raw request of a provider's own shape asks for, as far as an estimate needs it. */
import type { JSONValue } from '@ai-sdk/provider';
import { type PromptMessage, serviceTierIn } from '@stint/provider-hooks';
import { LedgerError } from './errors.js';
import type { EstimatedRequest } from './estimate.js';
import { isCount } from './integers.js';
import { type Fields, fieldsOf, mediaOf, type RawMedia } from './raw-media.js';
import { toolsOf } from './raw-tools.js';

export type Dialect = 'anthropic' | 'google' | 'openai';

const googlePath = /\/models\/([^/]+):(?:streamG|g)enerateContent$/u;

/** The dialect of an address; undefined for one that is no request to a model. */
export function dialectOf(path: string): Dialect | undefined {
  if (path.endsWith('/messages')) return 'anthropic';
  if (path.endsWith('/chat/completions') || path.endsWith('/responses')) return 'openai';
  return googlePath.test(path) ? 'google' : undefined;
}

/** Where a request went to, and to whom. */
export interface RawTarget {
  /** The provider's name in the price book. */
  readonly provider: string;
  /** Google names the model there. @default '' */
  readonly path?: string;
}

/**
 * Reads a body. Undefined if it names no model: such a request cannot be estimated.
 * @throws LedgerError `invalid_input` for a maximum of the output that is no count
 */
export function estimatedRequestOf(body: unknown, { provider, path = '' }: RawTarget): EstimatedRequest | undefined {
  const fields = fieldsOf(body);
  const model = googlePath.exec(path)?.[1] ?? fields?.model;
  if (fields === undefined || typeof model !== 'string') return undefined;
  const maxOutputTokens = outputOf(fields);
  const serviceTier = serviceTierIn(fields);
  const beside = optionsOf(fields);
  return {
    model: `${provider}:${model}`,
    alternatives: namesIn(fields.models).map((name) => `${provider}:${name}`), // of OpenRouter
    prompt: [messageOf(fields)],
    tools: toolsOf(fields),
    settings: {
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(Object.keys(beside).length === 0 ? {} : { providerOptions: { raw: beside } }),
    },
    ...(serviceTier === undefined ? {} : { serviceTier }),
  };
}

/** What the body says of how it is served, by the names that the AI SDK has for it. */
function optionsOf(body: Fields): Record<string, JSONValue> {
  const { prediction, fallbacks, context_management: contextManagement } = body;
  return {
    ...(fallbacks === undefined ? {} : { fallbacks: fallbacks as JSONValue }),
    ...(prediction === undefined ? {} : { prediction: prediction as JSONValue }),
    ...(contextManagement === undefined ? {} : { contextManagement: contextManagement as JSONValue }),
  };
}

function namesIn(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [];
}

const outputMaxima = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'maxOutputTokens'] as const;
const answerCounts = ['n', 'best_of', 'candidateCount'] as const;

/** The largest of the maxima that are given, for each of the answers. */
function outputOf(body: Fields): number | undefined {
  const fields = { ...fieldsOf(body.generationConfig), ...body };
  const given = outputMaxima.map((name) => countOf(fields, name)).filter((most) => most !== undefined);
  const answers = Math.max(1, ...answerCounts.map((name) => countOf(fields, name) ?? 1));
  if (given.length > 0) return Math.max(...given) * answers;
  if (answers === 1) return undefined;
  throw new LedgerError(
    'invalid_input',
    `${answers} answers of no stated length cannot be estimated; set max_tokens too.`,
  );
}

/** A server may read what is no number as one, so it is not passed over. */
function countOf(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (isCount(value)) return value;
  throw new LedgerError(
    'invalid_input',
    `${name} is ${JSON.stringify(value)}, no integer from 0, so the request cannot be estimated and was not sent.`,
  );
}

/** The answer that a request continues: its context is kept at the provider. */
export function continuedAnswer(body: unknown): string | undefined {
  return textOf(fieldsOf(body)?.previous_response_id);
}

/** The conversation that a request goes on with: all that was said in it is kept at the provider. */
export function conversationOf(body: unknown): string | undefined {
  const conversation = fieldsOf(body)?.conversation;
  return textOf(fieldsOf(conversation)?.id ?? conversation);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** One message with all that the body carries as its text, but for the bytes of images and files, which stand beside it. */
function messageOf(body: Fields): PromptMessage {
  const media = mediaOf(body);
  const members = new Map<unknown, string>();
  for (const { bytes } of media) if (bytes !== undefined) members.set(bytes.holder, bytes.member);
  let keepsOneHour = false;
  const text = JSON.stringify(body, function (this: unknown, key, value: unknown) {
    if (key === 'cache_control' && fieldsOf(value)?.ttl === '1h') keepsOneHour = true;
    return members.get(this) === key ? '' : value;
  });
  const providerOptions = keepsOneHour ? { providerOptions: { raw: { cacheControl: { ttl: '1h' } } } } : {};
  return { role: 'user', content: [{ type: 'text', text }, ...media.map(filePartOf)], ...providerOptions };
}

function filePartOf({ mediaType, bytes }: RawMedia): { type: 'file'; mediaType: string; data: string | URL } {
  const data = bytes === undefined ? new URL('at:provider') : String(bytes.holder[bytes.member]);
  return { type: 'file', mediaType, data };
}
