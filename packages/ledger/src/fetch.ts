import type { Usage } from '@stint/provider-hooks';
import { LedgerError } from './errors.js';
import { Guard, type GuardedRequest, type GuardOptions } from './guard.js';
import type { Ledger } from './ledger.js';
import { RawAnswerReader } from './raw-answer.js';
import { continuedAnswer, conversationOf, dialectOf, estimatedRequestOf } from './raw-request.js';
import type { ReleaseProof } from './settle.js';
import { StoredContexts } from './stored-contexts.js';

export { type GuardOptions, refusalReasonOf } from './guard.js';

export interface CappedFetchOptions extends GuardOptions {
  /** What sends the requests. @default globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch;
  /** The provider's name in the price book. @default 'anthropic' for `/messages`, 'openai' for `/chat/completions` and `/responses`, 'google' for `:generateContent` */
  readonly provider?: string;
  /** Lets other requests that are not GET through without a hold (uploads, for example). @default none: they are refused */
  readonly allowOther?: (url: URL) => boolean;
}

/** Statuses with which a provider says that it did no paid work. */
const refusingStatuses = [400, 401, 403, 404, 413, 422, 429, 529];
/** Errors that prove that no connection was made. */
const unsentCodes = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

/**
 * A `fetch` for clients of OpenAI-, Anthropic- and Google-shaped APIs: each request to a model is admitted by the ledger before it leaves and settled
 * from its answer, streams included. No byte of the answer is changed. Turn the client's own retries off, or each is a request of its own.
 * A request that continues an answer by its id is held with what that answer took, if it came through this same fetch;
 * one that goes on with a conversation, with what its last answer took.
 * For usage in OpenAI's chat streams ask with `stream_options: { include_usage: true }`; without it the hold stays charged as unmeasured.
 * @throws (from the fetch) LedgerError `refused`, `ledger_unavailable`, `invalid_input`; then nothing was sent
 */
export function cappedFetch(ledger: Ledger, options: CappedFetchOptions): typeof globalThis.fetch {
  const guard = new Guard(ledger, options);
  const send = options.fetch ?? globalThis.fetch;
  const contexts = new StoredContexts();
  return async (input, init) => {
    const outgoing = new Request(input, init);
    const url = new URL(outgoing.url);
    const dialect = dialectOf(url.pathname);
    if (outgoing.method === 'GET' || (dialect === undefined && options.allowOther?.(url) === true))
      return send(outgoing);
    if (dialect === undefined) throw unknownRequest(url);
    const body = parse(await outgoing.clone().text());
    const conversation = conversationOf(body);
    const storedContextTokens = contexts.tokensOf(continuedAnswer(body) ?? conversation);
    const request = guard.prepare({
      ...readRequest(body, options.provider ?? dialect, url),
      ...(storedContextTokens === undefined ? {} : { storedContextTokens }),
    });
    outgoing.signal.throwIfAborted();
    await guard.hold(request);
    return new Exchange({ guard, request, contexts, conversation }).send(send, outgoing);
  };
}

function readRequest(body: unknown, provider: string, url: URL): NonNullable<ReturnType<typeof estimatedRequestOf>> {
  const request = estimatedRequestOf(body, { provider, path: url.pathname });
  if (request === undefined)
    throw new LedgerError(
      'invalid_input',
      `The request to ${url.pathname} names no model, so it cannot be estimated and was not sent.`,
    );
  return request;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new LedgerError('invalid_input', 'The request body is no JSON, so it cannot be estimated and was not sent.', {
      cause: error,
    });
  }
}

function unknownRequest(url: URL): LedgerError {
  return new LedgerError(
    'invalid_input',
    `${url.pathname} is no request to a model that can be estimated; it was not sent. Let it through with the option allowOther if it costs nothing.`,
  );
}

interface ExchangeParts {
  readonly guard: Guard;
  readonly request: GuardedRequest;
  readonly contexts: StoredContexts;
  readonly conversation: string | undefined;
}

/** One held request and its answer. Settled exactly once, whatever the caller does with the body. */
class Exchange {
  readonly #guard: Guard;
  readonly #request: GuardedRequest;
  readonly #contexts: StoredContexts;
  readonly #conversation: string | undefined;
  readonly #reader = new RawAnswerReader();
  #isSettled = false;

  constructor({ guard, request, contexts, conversation }: ExchangeParts) {
    this.#conversation = conversation;
    this.#guard = guard;
    this.#request = request;
    this.#contexts = contexts;
  }

  async send(send: typeof globalThis.fetch, outgoing: Request): Promise<Response> {
    const response = await this.#sent(send, outgoing);
    if (!response.ok) return this.#refused(response);
    const isStream = (response.headers.get('content-type') ?? '').includes('text/event-stream');
    return isStream && response.body !== null ? this.#watched(response, response.body) : this.#whole(response);
  }

  async #sent(send: typeof globalThis.fetch, outgoing: Request): Promise<Response> {
    try {
      return await send(outgoing, { redirect: 'error' });
    } catch (error) {
      await this.#failed(isUnsent(error) ? 'not_sent' : null, null);
      throw error;
    }
  }

  /** An error answer: proof of no paid work for some statuses, unless it tells usage. */
  async #refused(response: Response): Promise<Response> {
    const bytes = await this.#allOf(response);
    this.#reader.readBody(new TextDecoder().decode(bytes));
    const { usage } = this.#reader.end();
    await this.#failed(refusingStatuses.includes(response.status) ? 'refused' : null, usage);
    return copyOf(response, bytes);
  }

  async #whole(response: Response): Promise<Response> {
    const bytes = await this.#allOf(response);
    this.#reader.readBody(new TextDecoder().decode(bytes));
    await this.#ended();
    return copyOf(response, bytes);
  }

  async #allOf(response: Response): Promise<Uint8Array<ArrayBuffer>> {
    try {
      return new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      await this.#failed(null, null);
      throw error;
    }
  }

  /** The same stream, with a look at its bytes; it ends for the caller after the settlement is committed. */
  #watched(response: Response, body: ReadableStream<Uint8Array>): Response {
    const source = body.getReader();
    const watched = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const next = await source.read().catch(async (error: unknown) => {
          await this.#ended();
          throw error;
        });
        if (!next.done) {
          this.#reader.read(next.value);
          controller.enqueue(next.value);
          return;
        }
        await this.#ended();
        controller.close();
      },
      cancel: async (reason) => {
        await this.#ended();
        await source.cancel(reason);
      },
    });
    return copyOf(response, watched);
  }

  /** A stream that ended without its stop event is not complete. */
  async #ended(): Promise<void> {
    const { complete, usage, model, id } = this.#reader.end();
    for (const kept of [id, this.#conversation])
      if (kept !== undefined && usage !== null) this.#contexts.keep(kept, usage.totalTokens);
    if (!complete) return this.#failed(null, usage);
    if (this.#isSettled) return;
    this.#isSettled = true;
    await this.#guard.settle(this.#request, usage, model);
  }

  async #failed(proof: ReleaseProof | null, usage: Usage | null): Promise<void> {
    if (this.#isSettled) return;
    this.#isSettled = true;
    await this.#guard.fail(this.#request, proof, usage);
  }
}

function copyOf(response: Response, body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>): Response {
  const { status, statusText, headers, url } = response;
  const isEmpty = body instanceof Uint8Array && body.byteLength === 0;
  const copy = new Response(isEmpty ? null : body, { status, statusText, headers });
  return Object.defineProperty(copy, 'url', { value: url });
}

function isUnsent(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 8) return false;
  const { code, syscall, cause, errors } = error as {
    code?: unknown;
    syscall?: unknown;
    cause?: unknown;
    errors?: unknown;
  };
  if (Array.isArray(errors) && errors.length > 0) return errors.every((part) => isUnsent(part, depth + 1));
  if (typeof code === 'string' && unsentCodes.includes(code)) return true;
  return (code === 'ETIMEDOUT' && syscall === 'connect') || isUnsent(cause, depth + 1);
}
