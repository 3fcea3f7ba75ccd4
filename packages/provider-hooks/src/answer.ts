import { finishReasonOf, isCompleteReason } from './finish-reason.js';
import { callsInContent, withShownCalls } from './provider-tool-calls.js';
import { mergeRawUsage, rawUsageObject, usageOfRaw } from './raw-usage.js';
import type { ContentPart, FinishReason, TurnResponse, Usage } from './types.js';
import { usageOfResult } from './usage.js';

type Metadata = Record<string, Record<string, unknown>>;
type Open = { type: 'text' | 'reasoning'; text: string; providerMetadata?: Metadata };

/** A part of an AI SDK stream, of any specification. */
export interface StreamPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

/**
 * Gathers one answer out of stream parts, or out of a whole result: content in order, usage, why it ended, and what
 * went wrong on the way. Reports of usage are cumulative: a later one replaces an earlier one.
 */
export class Answer {
  readonly #model: string;
  readonly #provider: string;
  readonly #content: (ContentPart | Open)[] = [];
  /** Blocks of a stream that have begun; a whole answer has none. */
  #open: Map<string, Open> | null = null;
  #last: { readonly id: unknown; readonly block: Open } | null = null;
  #answeredModel: string | undefined;
  #rawUsage: Readonly<Record<string, unknown>> | undefined;
  #usage: Usage | null = null;
  #providerMetadata: Readonly<Record<string, unknown>> | undefined;
  /** Set by a finish part. */
  finishReason: FinishReason | null = null;
  /** What error parts brought. */
  readonly errors: unknown[] = [];

  constructor(provider: string, model: string) {
    this.#provider = provider;
    this.#model = model;
  }

  get usage(): Usage | null {
    const shown = callsInContent(this.#content as readonly object[] as readonly StreamPart[], this.#providerMetadata);
    return withShownCalls(this.#usage ?? usageOfRaw(this.#rawUsage), shown);
  }

  get text(): string {
    let text = '';
    for (const part of this.#content) if (part.type === 'text') text += part.text;
    return text;
  }

  get hasContent(): boolean {
    return this.#content.length > 0;
  }

  get hasToolCall(): boolean {
    return this.#content.some((part) => part.type === 'tool-call');
  }

  /** True if nothing is left to doubt: a finish part with a reason, and no error part. */
  get isComplete(): boolean {
    return this.finishReason !== null && isCompleteReason(this.finishReason) && this.errors.length === 0;
  }

  /** Takes a whole result of `doGenerate`. */
  addResult(result: Readonly<Record<string, unknown>>): void {
    const { content, response } = result;
    if (Array.isArray(content)) this.#content.push(...(content as ContentPart[]));
    this.#takeModel(response);
    this.#takeFinish(result);
  }

  /** Takes the usage out of a body that came with an error. */
  addRaw(body: unknown): void {
    const usage = rawUsageObject(body);
    if (usage !== undefined) this.#rawUsage = mergeRawUsage(this.#rawUsage, usage);
  }

  add(part: StreamPart): void {
    switch (part.type) {
      case 'raw':
        return this.addRaw(part['rawValue']);
      case 'text-start':
      case 'reasoning-start':
        this.#openBlock(part, part.type === 'text-start' ? 'text' : 'reasoning');
        return;
      case 'text-delta':
      case 'reasoning-delta':
        return this.#addDelta(part, part.type === 'text-delta' ? 'text' : 'reasoning');
      case 'text-end':
      case 'reasoning-end':
        return this.#closeBlock(part);
      case 'response-metadata':
        return this.#takeModel(part);
      case 'error':
        this.errors.push(part['error']);
        return;
      case 'finish':
        return this.#takeFinish(part);
      default:
        if (isContentType(part.type)) this.#content.push(part as unknown as ContentPart);
    }
  }

  /** The answer in normal form. */
  response(finishReason: FinishReason): TurnResponse {
    return {
      content: this.#content.filter((part) => !isEmptyBlock(part)) as ContentPart[],
      text: this.text,
      finishReason,
      usage: this.usage,
      model: this.#answeredModel ?? this.#model,
      ...(this.#providerMetadata ? { providerMetadata: this.#providerMetadata } : {}),
    };
  }

  #openBlock(part: StreamPart, type: Open['type']): Open {
    const block: Open = { type, text: '' };
    mergeMetadata(block, part);
    this.#open ??= new Map();
    this.#open.set(`${type}:${String(part['id'])}`, block);
    this.#content.push(block);
    return block;
  }

  #addDelta(part: StreamPart, type: Open['type']): void {
    const block = this.#blockOf(part['id'], type) ?? this.#openBlock(part, type);
    if (typeof part['delta'] === 'string') block.text += part['delta'];
    if (part['providerMetadata'] !== undefined) mergeMetadata(block, part);
  }

  /** Deltas of one block come in a row: the last one is looked at first. */
  #blockOf(id: unknown, type: Open['type']): Open | undefined {
    if (this.#last?.id === id && this.#last?.block.type === type) return this.#last.block;
    const block = this.#open?.get(`${type}:${String(id)}`);
    this.#last = block ? { id, block } : null;
    return block;
  }

  #closeBlock(part: StreamPart): void {
    const key = `${part.type === 'text-end' ? 'text' : 'reasoning'}:${String(part['id'])}`;
    const block = this.#open?.get(key);
    if (block) mergeMetadata(block, part);
    this.#open?.delete(key);
    this.#last = null;
  }

  #takeModel(metadata: unknown): void {
    const { modelId } = (metadata ?? {}) as { modelId?: unknown };
    if (typeof modelId === 'string' && modelId !== '') this.#answeredModel = modelId;
  }

  #takeFinish(part: Readonly<Record<string, unknown>>): void {
    const { finishReason, usage, providerMetadata } = part;
    this.finishReason = finishReasonOf(finishReason);
    this.#usage = usageOfResult(usage, this.#provider, providerMetadata);
    if (typeof providerMetadata === 'object' && providerMetadata !== null) {
      this.#providerMetadata = providerMetadata as Readonly<Record<string, unknown>>;
    }
  }
}

/** A reasoning signature arrives with the end, or with an empty delta; the last word about a key counts. */
function mergeMetadata(block: Open, part: StreamPart): void {
  const metadata = part['providerMetadata'] as Metadata | undefined;
  if (metadata === undefined) return;
  const merged: Metadata = { ...block.providerMetadata };
  for (const [provider, fields] of Object.entries(metadata)) merged[provider] = { ...merged[provider], ...fields };
  block.providerMetadata = merged;
}

const contentTypes: ReadonlySet<string> = new Set([
  'tool-call',
  'tool-result',
  'file',
  'source',
  'tool-approval-request',
]);

/** True for parts that are content as they stand. */
export function isContentType(type: string): boolean {
  return contentTypes.has(type);
}

function isEmptyBlock(part: ContentPart | Open): boolean {
  return (part.type === 'text' || part.type === 'reasoning') && part.text === '' && part.providerMetadata === undefined;
}
