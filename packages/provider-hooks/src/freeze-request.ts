import { hash } from 'node:crypto';
import { deepFreeze } from './deep-freeze.js';
import type { CallFacts, CallSettings, FrozenRequest, PromptMessage, ToolDefinition } from './types.js';

export interface RequestParts {
  readonly prompt: readonly PromptMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly settings: CallSettings;
  readonly stream: boolean;
  readonly facts: CallFacts;
}

/**
 * Freezes requests of one model. What is already frozen is taken as it is; anything else is copied, so that nobody can
 * change the request between its hold and its sending. Hashing costs as much as is new since the last request, as long
 * as the messages before it are the same frozen objects.
 */
export class RequestFreezer {
  readonly #provider: string;
  readonly #modelId: string;
  #messages: readonly PromptMessage[] = [];
  /** The hash of each of those messages and all before it. */
  readonly #hashes: string[] = [];
  /** JSON of what is beside the prompt, for the settings and tools that were given last. */
  #beside: {
    readonly settings: CallSettings;
    readonly tools: readonly ToolDefinition[];
    readonly json: string;
  } | null = null;

  constructor(provider: string, modelId: string) {
    this.#provider = provider;
    this.#modelId = modelId;
  }

  freeze(parts: RequestParts): FrozenRequest {
    const { facts } = parts;
    const common = this.#commonLength(parts.prompt);
    const prompt = freezeFrom(common, parts.prompt);
    const tools = deepFreeze(parts.tools);
    const settings = deepFreeze(parts.settings);
    return Object.freeze({
      model: `${this.#provider}:${this.#modelId}`,
      provider: this.#provider,
      modelId: this.#modelId,
      prompt,
      tools,
      settings,
      hash: this.#hash(prompt, common, `${parts.stream} ${this.#besideJson(settings, tools)}`),
      stream: parts.stream,
      turnNumber: facts.turnNumber ?? 0,
      inputIds: facts.inputIds ?? [],
      entries: facts.entries ?? [],
      purpose: facts.purpose ?? 'turn',
      ...(facts.retryOf === undefined ? {} : { retryOf: facts.retryOf }),
      ...(facts.budget === undefined ? {} : { budget: Object.freeze({ ...facts.budget }) }),
    });
  }

  #besideJson(settings: CallSettings, tools: readonly ToolDefinition[]): string {
    if (this.#beside?.settings !== settings || this.#beside.tools !== tools) {
      this.#beside = { settings, tools, json: JSON.stringify([this.#provider, this.#modelId, settings, tools]) };
    }
    return this.#beside.json;
  }

  /** The first `common` messages are those of the last request, and so are their hashes. */
  #hash(prompt: readonly PromptMessage[], common: number, rest: string): string {
    const hashes = this.#hashes;
    hashes.length = common;
    for (let index = hashes.length; index < prompt.length; index += 1) {
      hashes.push(sha256(`${hashes[index - 1] ?? ''}\n${jsonOf(prompt[index])}`));
    }
    this.#messages = prompt;
    return sha256(`${hashes.at(-1) ?? ''}\n${rest}`);
  }

  #commonLength(prompt: readonly PromptMessage[]): number {
    const end = Math.min(prompt.length, this.#messages.length);
    let length = 0;
    while (length < end && prompt[length] === this.#messages[length]) length += 1;
    return length;
  }
}

/** The same messages, frozen; the first `common` of them are so already. */
function freezeFrom(common: number, messages: readonly PromptMessage[]): readonly PromptMessage[] {
  let frozen: PromptMessage[] | null = Object.isFrozen(messages) ? null : messages.slice();
  for (let index = common; index < messages.length; index += 1) {
    const message = messages[index] as PromptMessage;
    if (Object.isFrozen(message)) continue;
    frozen ??= messages.slice();
    frozen[index] = deepFreeze(message);
  }
  return frozen === null ? messages : Object.freeze(frozen);
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

/** JSON with bytes as base64, so that a file's content is part of the hash. Only files have bytes; all else takes the short way. */
function jsonOf(message: PromptMessage | undefined): string {
  if (typeof message?.content === 'string' || !message?.content.some(({ type }) => type === 'file'))
    return JSON.stringify(message);
  return JSON.stringify(message, (_key, field: unknown) =>
    field instanceof Uint8Array ? { base64: Buffer.from(field).toString('base64') } : field,
  );
}
