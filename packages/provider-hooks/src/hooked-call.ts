import { AsyncLocalStorage } from 'node:async_hooks';
import { Answer, type StreamPart } from './answer.js';
import { bodyOfError, isMissingReason, limitError, statusError } from './call-errors.js';
import { isProviderError, ProviderError } from './errors.js';
import { isCompleteReason } from './finish-reason.js';
import type { HookRunner } from './hook-runner.js';
import type { HookOptions } from './model.js';
import { normalError } from './normal-error.js';
import { retryAfterMs } from './retry-after.js';
import { factsOfError, isRefusingStatus, isUnsent } from './transport-facts.js';
import type { FailFacts, FinishReason, FrozenRequest, TurnHandle, TurnResponse } from './types.js';
import { type LimitName, Watchdog } from './watchdog.js';
import type { WireWatch } from './wire-watch.js';

/**
 * One call of a hooked model, and the request or requests in it.
 *
 * States of a request: prepared -> started -> ended; `ended` also straight from `prepared`.
 * 1. `start` runs only on a prepared request, bytes leave only after it returned.
 * 2. Exactly one of `finish` and `fail` is called per handle, by `#end` alone.
 * 3. After an abort or a limit nothing more is handed on, whatever the provider still sends.
 * 4. A second fetch within the call ends the first request by its HTTP facts and is a request of its own.
 */
export class HookedCall<H extends TurnHandle> {
  readonly #hooks: HookRunner<H>;
  readonly #signal: AbortSignal | undefined;
  #controller: AbortController | null = null;
  readonly #options: HookOptions;
  #watchdog: Watchdog;
  readonly #onAbort = (): void => this.#stop(this.#abortError());
  #request: FrozenRequest;
  #handle: H | null = null;
  #state: 'new' | 'prepared' | 'started' | 'ended' = 'new';
  /** Set once the call is over before its time: aborted, or a limit ran out. */
  #stopped: ProviderError | null = null;
  /** How the request failed, once it has; settles when the hooks were told. */
  #ending: Promise<ProviderError> | null = null;
  /** The `finish` hook at work, once the answer was complete: the request can fail no more. */
  #finishing: Promise<void> | null = null;
  #cancel: (() => void) | null = null;
  #transport = newTransport();
  #isOurFetch = false;
  /** The present request has left through our fetch. */
  #fetched = false;
  /** What passed on the wire, of a stream that came through the hooked fetch. */
  wire: WireWatch | null = null;
  answer: Answer;

  constructor(hooks: HookRunner<H>, request: FrozenRequest, signal: AbortSignal | undefined, options: HookOptions) {
    this.#hooks = hooks;
    this.#request = request;
    this.#signal = signal;
    this.#options = options;
    this.answer = new Answer(request.provider, request.modelId);
    this.#watchdog = this.#watch();
  }

  /** Aborts with the caller's signal, and when a limit runs out. For the provider. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#stopped && !this.#controller.signal.aborted) this.#controller.abort(this.#reasonOf(this.#stopped));
    return this.#controller.signal;
  }

  get isStopped(): boolean {
    return this.#stopped !== null;
  }

  get wasStarted(): boolean {
    return this.#state === 'started' || this.#state === 'ended';
  }

  get turnId(): string | null {
    return this.#handle?.id ?? null;
  }

  get watchdog(): Watchdog {
    return this.#watchdog;
  }

  /** Runs `prepare`. Throws what it throws; then there is no handle, and nothing to end. */
  async prepare(): Promise<void> {
    try {
      this.#handle = await this.#hooks.prepare(this.#request);
      this.#state = 'prepared';
    } catch (error) {
      this.#end();
      if (isProviderError(error)) this.#ending = Promise.resolve(error);
      throw error;
    }
    if (this.#stopped) await this.#checkStopped();
  }

  /** Runs `start`; after it bytes may leave. A denial ends the request unsent, and throws. */
  async start(): Promise<void> {
    if (this.#stopped) await this.#checkStopped();
    try {
      if (this.#handle) await this.#hooks.start(this.#handle);
      this.#state = 'started';
    } catch (error) {
      throw await this.fail(error);
    }
    this.#watchdog.waiting();
    if (this.#stopped) await this.#checkStopped();
    this.#transport.sent = true;
  }

  /** Asks whether a started request may still go on: the caller, the limits, and the `recheck` hook. Throws if not. */
  async recheck(): Promise<void> {
    await this.#checkStopped();
    try {
      if (this.#handle && this.#state === 'started') await this.#hooks.recheck(this.#handle);
    } catch (error) {
      if (isProviderError(error)) this.#stop(error);
    }
    await this.#checkStopped();
  }

  /** Tells the hooks by which id the provider keeps this answer. */
  async identify(responseId: unknown): Promise<void> {
    if (typeof responseId === 'string' && responseId !== '' && this.#handle)
      await this.#hooks.identified(this.#handle, responseId);
  }

  /** True if the hooks want to know by which id the provider keeps the answer. */
  get wantsResponseId(): boolean {
    return this.#hooks.wantsResponseId;
  }

  /** The fetch of a provider, as part of this call. One that was started at its invocation is sent by its first fetch. */
  async fetch(base: typeof fetch, input: string | URL | Request, init: RequestInit | undefined): Promise<Response> {
    this.#isOurFetch = true;
    if (this.#state === 'ended') throw await this.#lateFetch();
    if (this.#state === 'started' && !this.#fetched) await this.recheck();
    else {
      if (this.#state !== 'prepared') await this.#startAnother();
      await this.start();
    }
    this.#fetched = true;
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    if (this.#handle) headers.set('x-client-request-id', this.#handle.id);
    try {
      // A redirect would be followed behind our back, as a request that nobody reserved.
      const response = await base(input, { ...init, headers, redirect: 'error' });
      this.#transport.status = response.status;
      this.#transport.headers = response.headers;
      return response;
    } catch (error) {
      this.#transport.error = error;
      throw error;
    }
  }

  /** Waits for the provider's answer to begin, but not longer than until the call is stopped. */
  untilStopped<T>(work: PromiseLike<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#cancel = () => reject(this.#stopped as Error);
      if (this.#stopped) this.#cancel();
      work.then(
        (value) => {
          this.#cancel = null;
          resolve(value);
        },
        (error: unknown) => {
          this.#cancel = null;
          reject(error as Error);
        },
      );
    });
  }

  /** What to call when the call is stopped while a stream is read. */
  onStop(cancel: () => void): void {
    this.#cancel = cancel;
    if (this.#stopped) cancel();
  }

  /** The answer has ended. Calls `finish` if it is complete; else calls `fail`, and throws. */
  async complete(): Promise<TurnResponse> {
    if (this.#ending) throw await this.#ending;
    const reason = this.#completeReason();
    if (reason === null) throw await this.fail(this.#incompleteError());
    this.#takeWireUsage();
    const response = this.answer.response(reason);
    this.#end();
    if (this.#handle) this.#finishing = this.#hooks.finish(this.#handle, response);
    try {
      await this.#finishing;
    } catch (error) {
      throw this.#withFacts(error, this.#facts(null));
    }
    return response;
  }

  /** What a hook throws at the end of a request, with what was sent and what it brought: it is paid for all the same. */
  #withFacts(error: unknown, facts: FailFacts): unknown {
    return isProviderError(error) ? error.with({ facts, ...(this.#handle ? { turnId: this.#handle.id } : {}) }) : error;
  }

  /** Ends the request by what went wrong, if nothing else did before; answers the error to throw once the `fail` hook has returned. */
  fail(cause: unknown): Promise<ProviderError> {
    this.#ending ??= this.#finishing ? this.#failLate(cause, this.#finishing) : this.#failOnce(cause);
    return this.#ending;
  }

  /** The answer was complete before: `finish` ends the request, and what went wrong since is no failure of it. */
  async #failLate(cause: unknown, finishing: Promise<void>): Promise<ProviderError> {
    await finishing;
    return this.#toError(cause, this.#facts(null));
  }

  async #failOnce(cause: unknown): Promise<ProviderError> {
    const facts = this.#facts(cause);
    const known = this.#stopped ?? this.#toError(cause, facts);
    const error = known.with({ facts, ...(this.#handle ? { turnId: this.#handle.id } : {}) });
    this.#end();
    try {
      if (this.#handle) await this.#hooks.fail(this.#handle, error, facts);
    } catch (failed) {
      throw this.#withFacts(failed, facts);
    }
    return error;
  }

  /** A model that is marked as going through our fetch answered without doing so: booked, as unknown, and refused. */
  async missBoundary(): Promise<ProviderError> {
    this.#stop(
      new ProviderError(
        'boundary_missed',
        `${this.#request.model} answered, but its request did not go through the hooked fetch. Pass that fetch to the provider, or hook the model itself.`,
      ),
    );
    if (this.#state === 'prepared' && this.#handle) {
      this.#state = 'started';
      await this.#hooks.start(this.#handle).catch(() => undefined); // even denied, it has happened
    }
    this.#transport.sent = true;
    return this.fail(this.#stopped);
  }

  /** True if the error carries an HTTP status although no request of ours left. */
  didBypass(error: unknown): boolean {
    return !this.wasStarted && !isProviderError(error) && factsOfError(error).status !== null;
  }

  /** The call is over: nobody would end what a further fetch began, such as a poll or a retry in the background. */
  async #lateFetch(): Promise<ProviderError> {
    if (this.#ending) return await this.#ending;
    return new ProviderError(
      'unhooked_request',
      `${this.#request.model} made a request after its answer was complete; nothing was sent. Each request belongs to a call.`,
    );
  }

  /** The first request ends by its facts; the next one is watched, reserved and checked as if it were alone. */
  async #startAnother(): Promise<void> {
    const before = this.#handle?.id;
    const error = await this.fail(this.#transport.error ?? statusError(this.#request.model, this.#transport.status));
    if (this.#stopped) throw error;
    this.#handle = null;
    this.#state = 'new';
    this.#ending = null;
    this.#transport = newTransport();
    this.#fetched = false;
    this.wire = null;
    this.answer = new Answer(this.#request.provider, this.#request.modelId);
    this.#request = Object.freeze({ ...this.#request, ...(before === undefined ? {} : { retryOf: before }) });
    this.#watchdog = this.#watch();
    await this.prepare();
  }

  /** Follows the caller's signal and the limits, for one request. */
  #watch(): Watchdog {
    const request = this.#request;
    const { idleLimitMs = 60_000, wholeLimitMs = 300_000, totalLimitMs = 1_800_000 } = this.#options;
    const onLimit = (limit: LimitName, ms: number): void => this.#stop(limitError(request, limit, ms));
    const watchdog = new Watchdog(request.stream ? idleLimitMs : wholeLimitMs, totalLimitMs, onLimit);
    this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (this.#signal?.aborted) this.#onAbort();
    return watchdog;
  }

  async #checkStopped(): Promise<void> {
    if (this.#stopped) throw await this.fail(this.#stopped);
  }

  #stop(error: ProviderError): void {
    if (this.#stopped || this.#state === 'ended') return;
    this.#stopped = error;
    this.#controller?.abort(this.#reasonOf(error));
    this.#cancel?.();
  }

  #reasonOf(error: ProviderError): unknown {
    return error.code === 'aborted' ? this.#signal?.reason : error;
  }

  #abortError(): ProviderError {
    const reason: unknown = this.#signal?.reason;
    return new ProviderError('aborted', `${this.#request.model} was aborted by its caller.`, { cause: reason });
  }

  #end(): void {
    this.#state = 'ended';
    this.#close();
  }

  #close(): void {
    this.#watchdog.stop();
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  /** The reason of a complete answer; null if it is not complete. */
  #completeReason(): FinishReason | null {
    const { answer } = this;
    if (answer.isComplete) return answer.finishReason;
    // An OpenAI-style stream that was closed by its done marker, and told no reason.
    const toldNoReason = answer.finishReason !== null && !isCompleteReason(answer.finishReason) && answer.hasContent;
    if (!this.wire?.sawDone || !toldNoReason || !answer.errors.every(isMissingReason)) return null;
    return answer.hasToolCall ? 'tool-calls' : 'stop';
  }

  /** Usage that was told on the wire and got lost on its way through the provider's parser. */
  #takeWireUsage(): void {
    if (this.answer.usage !== null) return;
    for (const report of this.wire?.usageReports() ?? []) this.answer.addRaw(report);
  }

  #incompleteError(): unknown {
    const [first] = this.answer.errors;
    return (
      first ??
      new Error(`the stream ended without its closing event (finish reason: ${this.answer.finishReason ?? 'none'})`)
    );
  }

  #toError(cause: unknown, facts: FailFacts): ProviderError {
    const told = factsOfError(cause).status;
    return normalError(cause, this.#request.model, told !== null && told >= 400 ? told : facts.status);
  }

  #facts(cause: unknown): FailFacts {
    const told = factsOfError(cause);
    this.answer.addRaw(bodyOfError(cause));
    this.#takeWireUsage();
    const status = this.#transport.status ?? (this.#isOurFetch ? null : told.status);
    const sent = this.#transport.sent && !(status === null && isUnsent(this.#transport.error ?? cause));
    const usage = this.answer.usage;
    const refusedByProvider = sent && isRefusingStatus(status) && usage === null && !this.answer.hasContent;
    return {
      sent,
      status,
      refusedByProvider,
      proof: sent ? (refusedByProvider ? 'refused' : null) : 'not_sent',
      usage,
      retryAfterMs: retryAfterMs(this.#transport.headers ?? told.headers, Date.now()),
      partialText: this.answer.text,
    };
  }

  /** The fetch of this call is ours: what no response head told is not known. */
  markFetch(): void {
    this.#isOurFetch = true;
  }

  /** Takes one part of the stream. */
  add(part: StreamPart): void {
    this.answer.add(part);
  }
}

interface Transport {
  sent: boolean;
  status: number | null;
  headers: Headers | null;
  error: unknown;
}

function newTransport(): Transport {
  return { sent: false, status: null, headers: null, error: undefined };
}

/** The call that a provider's fetch belongs to. */
export const currentCall = new AsyncLocalStorage<HookedCall<TurnHandle>>();
