/** What a raw OpenAI- or Anthropic-shaped request asks for, as far as an estimate needs it. */
import { type PromptMessage, serviceTierOf, type ToolDefinition } from '@stint/provider-hooks';
import { LedgerError } from './errors.js';
import type { EstimatedRequest } from './estimate.js';
import { isCount } from './integers.js';

type Fields = Readonly<Record<string, unknown>>;

export type Dialect = 'anthropic' | 'openai';

/** The dialect of an address; undefined for one that is no request to a model. */
export function dialectOf(path: string): Dialect | undefined {
  if (path.endsWith('/messages')) return 'anthropic';
  if (path.endsWith('/chat/completions') || path.endsWith('/responses')) return 'openai';
  return undefined;
}

/**
 * Reads a body. Undefined if it names no model: such a request cannot be estimated.
 * @throws LedgerError `invalid_input` for a maximum of the output that is no count
 */
export function estimatedRequestOf(body: unknown, provider: string): EstimatedRequest | undefined {
  const fields = fieldsOf(body);
  if (typeof fields?.model !== 'string') return undefined;
  const maxOutputTokens = outputOf(fields);
  const serviceTier = serviceTierOf(fields.service_tier);
  return {
    model: `${provider}:${fields.model}`,
    prompt: [messageOf([fields.system, fields.instructions, fields.messages, fields.input, functionsOf(fields)])],
    tools: providerTools(fields.tools),
    settings: maxOutputTokens === undefined ? {} : { maxOutputTokens },
    ...(serviceTier === undefined ? {} : { serviceTier }),
  };
}

const outputMaxima = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const;

/** The largest of the maxima that are given, for each of the answers. */
function outputOf(fields: Fields): number | undefined {
  const given = outputMaxima.map((name) => countOf(fields, name)).filter((most) => most !== undefined);
  const answers = Math.max(1, countOf(fields, 'n') ?? 1);
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
  const id = fieldsOf(body)?.previous_response_id;
  return typeof id === 'string' ? id : undefined;
}

/** One message with all that the request carries: its text, and its images and files beside, which are not counted by their bytes. */
function messageOf(carried: readonly unknown[]): PromptMessage {
  const files: { type: 'file'; mediaType: string; data: string }[] = [];
  const text = JSON.stringify(carried, (_key, value: unknown) => {
    const mediaType = mediaTypeOf(value);
    if (mediaType === undefined) return value;
    files.push({ type: 'file', mediaType, data: dataOf(value) });
    return undefined;
  });
  return { role: 'user', content: [{ type: 'text', text }, ...files] };
}

const imageTypes = ['image', 'image_url', 'input_image'];
const fileTypes = ['document', 'file', 'input_file', 'input_audio'];

function mediaTypeOf(value: unknown): string | undefined {
  const type = fieldsOf(value)?.type;
  if (typeof type !== 'string') return undefined;
  if (imageTypes.includes(type)) return 'image/any';
  return fileTypes.includes(type) ? 'application/any' : undefined;
}

/** The longest text inside a file part: its data, if it carries any. */
function dataOf(part: unknown): string {
  let longest = '';
  JSON.stringify(part, (_key, value: unknown) => {
    if (typeof value === 'string' && value.length > longest.length) longest = value;
    return value;
  });
  return longest;
}

/** Tools that the caller runs: their descriptions are part of the prompt. */
function functionsOf({ tools }: Fields): readonly unknown[] {
  return Array.isArray(tools) ? tools.filter((tool) => !isProviderTool(tool)) : [];
}

function providerTools(tools: unknown): readonly ToolDefinition[] {
  if (!Array.isArray(tools)) return [];
  return tools.filter(isProviderTool).map((tool) => {
    const { type, name, max_uses } = tool as { type: string; name?: unknown; max_uses?: unknown };
    const id: `${string}.${string}` = `raw.${type}`;
    return {
      type: 'provider',
      id,
      name: typeof name === 'string' ? name : type,
      args: isCount(max_uses) ? { maxUses: max_uses } : {},
    };
  });
}

function isProviderTool(tool: unknown): boolean {
  const fields = fieldsOf(tool);
  const type = fields?.type;
  return typeof type === 'string' && type !== 'function' && type !== 'custom' && fields?.input_schema === undefined;
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}
