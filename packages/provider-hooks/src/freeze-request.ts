import { createHash } from 'node:crypto';
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
  #hashes: readonly string[] = [];
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
    const prompt = Object.freeze(parts.prompt.map(deepFreeze));
    const tools = deepFreeze(parts.tools);
    const settings = deepFreeze(parts.settings);
    return Object.freeze({
      model: `${this.#provider}:${this.#modelId}`,
      provider: this.#provider,
      modelId: this.#modelId,
      prompt,
      tools,
      settings,
      hash: this.#hash(prompt, `${parts.stream} ${this.#besideJson(settings, tools)}`),
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
      this.#beside = { settings, tools, json: jsonOf([this.#provider, this.#modelId, settings, tools]) };
    }
    return this.#beside.json;
  }

  #hash(prompt: readonly PromptMessage[], rest: string): string {
    const hashes = this.#hashes.slice(0, this.#commonLength(prompt));
    for (let index = hashes.length; index < prompt.length; index += 1) {
      hashes.push(sha256(`${hashes[index - 1] ?? ''}\n${jsonOf(prompt[index])}`));
    }
    this.#messages = prompt;
    this.#hashes = hashes;
    return sha256(`${hashes.at(-1) ?? ''}\n${rest}`);
  }

  #commonLength(prompt: readonly PromptMessage[]): number {
    const end = Math.min(prompt.length, this.#messages.length);
    let length = 0;
    while (length < end && prompt[length] === this.#messages[length]) length += 1;
    return length;
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** JSON with bytes as base64, so that a file's content is part of the hash. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_key, field: unknown) =>
    field instanceof Uint8Array ? { base64: Buffer.from(field).toString('base64') } : field,
  );
}
