import { createOpenAI, type OpenAIProviderSettings } from '@ai-sdk/openai';
import { Answer } from './answer.js';
import { normalError } from './normal-error.js';
import type { PastAnswer, PastAnswers } from './past-answer.js';
import { factsOfError } from './transport-facts.js';

/**
 * Past answers of OpenAI's Responses API, which keeps them unless a request says `store: false`
 * (`GET /v1/responses/{id}`). Key, address and headers are those of the provider with the same settings; an answer is read
 * by the provider's own parser, so that it is the same as if it had come in time.
 */
export function openaiPastAnswers(settings: OpenAIProviderSettings = {}): PastAnswers {
  return async ({ responseId, modelId }, signal) => {
    const asked = new Asked(settings.fetch ?? globalThis.fetch, responseId);
    const model = createOpenAI({ ...settings, fetch: asked.fetch }).responses(modelId);
    try {
      const result = await model.doGenerate({ prompt: [], ...(signal ? { abortSignal: signal } : {}) });
      const answer = new Answer(model.provider, modelId);
      answer.addResult(result as unknown as Readonly<Record<string, unknown>>);
      if (!answer.isComplete || answer.finishReason === null) return { state: 'failed', usage: answer.usage };
      return { state: 'answered', response: answer.response(answer.finishReason) };
    } catch (error) {
      if (asked.unfinished !== null) return asked.unfinished;
      const { status } = factsOfError(error);
      if (status === 404) return { state: 'not_kept' };
      throw normalError(error, `${model.provider}:${modelId}`, status);
    }
  };
}

/** Turns the provider's request for a new answer into one for an answer of before. */
class Asked {
  readonly #base: typeof fetch;
  readonly #responseId: string;
  /** How an answer stands that is not there to be read. */
  unfinished: PastAnswer | null = null;

  constructor(base: typeof fetch, responseId: string) {
    this.#base = base;
    this.#responseId = responseId;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const address = input instanceof Request ? input.url : String(input);
    const headers = new Headers(init?.headers);
    headers.delete('content-type');
    const response = await this.#base(`${address}/${encodeURIComponent(this.#responseId)}`, {
      method: 'GET',
      headers,
      redirect: 'error',
      ...(init?.signal ? { signal: init.signal } : {}),
    });
    if (response.ok) this.unfinished = unfinishedOf((await response.clone().json()) as object);
    if (this.unfinished !== null) throw new Error('there is no whole answer to read');
    return response;
  };
}

function unfinishedOf(body: { readonly status?: unknown }): PastAnswer | null {
  switch (body.status) {
    case 'completed':
    case 'incomplete':
      return null;
    case 'queued':
    case 'in_progress':
      return { state: 'running' };
    case 'failed':
    case 'cancelled': {
      const answer = new Answer('openai.responses', '');
      answer.addRaw(body);
      return { state: 'failed', usage: answer.usage };
    }
    default: // a proxy's own words, or a status of another year: nothing is proved by them
      throw new Error('the provider tells no status of the answer that is known; whether there is one stays open');
  }
}
