import type { StreamPart } from './answer.js';
import { isProviderError } from './errors.js';
import type { HookedCall } from './hooked-call.js';
import type { TurnHandle, TurnResponse } from './types.js';

/** Parts that are no sound from the model: they do not end its silence, and they are not part of its answer. */
const silentParts: ReadonlySet<string> = new Set(['raw', 'stream-start', 'response-metadata', 'ping']);

/** Reads a model's stream to its end, for exactly one consumer. The finish part is held back until the `finish` hook returned. */
export class AnswerReader<H extends TurnHandle> {
  readonly #call: HookedCall<H>;
  readonly #reader: ReadableStreamDefaultReader<StreamPart>;
  #finish: StreamPart | null = null;
  #isIdentified = false;
  /** The response, once the stream was read to its end. */
  response: TurnResponse | null = null;

  constructor(call: HookedCall<H>, stream: ReadableStream<StreamPart>) {
    this.#call = call;
    this.#reader = stream.getReader();
    call.onStop(() => void this.#cancelReader());
  }

  get turnId(): string | null {
    return this.#call.turnId;
  }

  /** The next part; null at the end of a complete answer. Throws a `ProviderError`, which the `fail` hook was told. */
  next(): Promise<StreamPart | null> {
    return this.read((part) => part);
  }

  /**
   * What `pick` makes of the next part that it wants (it answers null to the others); at the end of a complete answer of its
   * finish part, else null. One function for all layers above: a stream passes here part by part.
   */
  async read<T>(pick: (part: StreamPart) => T | null): Promise<T | null> {
    if (this.response !== null) return null;
    const call = this.#call;
    call.watchdog.waiting();
    for (;;) {
      let read: Awaited<ReturnType<ReadableStreamDefaultReader<StreamPart>['read']>>;
      try {
        read = await this.#reader.read();
      } catch (error) {
        throw await call.fail(error);
      }
      if (call.isStopped) throw await call.fail(null);
      if (read.done) {
        const last = await this.#complete();
        return last && pick(last);
      }
      const part = read.value;
      call.add(part);
      if (part.type === 'response-metadata' && call.wantsResponseId) await this.#identify(part['id']);
      if (part.type === 'finish') this.#finish = part;
      else if (part.type !== 'error') {
        if (!silentParts.has(part.type)) call.watchdog.heard();
        const picked = pick(part);
        if (picked !== null) return picked;
        call.watchdog.waiting();
      }
    }
  }

  async #identify(id: unknown): Promise<void> {
    if (this.#isIdentified || id === undefined) return;
    this.#isIdentified = true;
    await this.#call.identify(id);
  }

  /** Ends the call early: the consumer does not want the rest. */
  async cancel(reason: unknown): Promise<void> {
    if (this.response !== null) return;
    await this.#cancelReader();
    await this.#call.fail(reason); // of an answer that is complete this only waits for its `finish` hook
  }

  /** Answers the finish part once, as the last one. */
  async #complete(): Promise<StreamPart | null> {
    this.response = await this.#call.complete();
    return this.#finish === null ? null : withReason(this.#finish, this.response);
  }

  async #cancelReader(): Promise<void> {
    await this.#reader.cancel().catch(() => undefined); // the stream may have broken before; that was told already
  }
}

/** An answer that was accepted without a told reason gets the one it was accepted with. */
function withReason(finish: StreamPart, response: TurnResponse): StreamPart {
  const told = finish['finishReason'];
  if (typeof told === 'object' && told !== null) {
    return { ...finish, finishReason: { ...told, unified: response.finishReason } };
  }
  return { ...finish, finishReason: response.finishReason };
}

/** The reader as a stream of native parts. Raw parts are handed on only if the caller asked for them. */
export function toNativeStream<H extends TurnHandle>(
  reader: AnswerReader<H>,
  wantsRaw: boolean,
  signal: AbortSignal | undefined,
): ReadableStream<StreamPart> {
  return new ReadableStream<StreamPart>({
    async pull(controller) {
      try {
        for (;;) {
          const part = await reader.next();
          if (part === null) return controller.close();
          if (part.type === 'raw' && !wantsRaw) continue;
          return controller.enqueue(part);
        }
      } catch (error) {
        controller.error(toNativeError(error, signal));
      }
    },
    cancel: (reason) => reader.cancel(reason ?? new Error('the consumer cancelled the stream')),
  });
}

/**
 * What the AI SDK's own functions expect: an abort rejects with the signal's reason, and an error of the provider's
 * is the SDK's, by which they decide on a retry. All others stay as they are.
 */
export function toNativeError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (!isProviderError(error)) return error;
  if (error.code === 'aborted' && signal?.aborted) return signal.reason;
  const isCallError = (error.cause as { name?: unknown } | undefined)?.name === 'AI_APICallError';
  return isCallError ? error.cause : error;
}
