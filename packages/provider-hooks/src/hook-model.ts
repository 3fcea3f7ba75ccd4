import type { StreamPart } from './answer.js';
import { currentCallFacts } from './call-facts.js';
import { nativeSettings, type NativeSettings } from './effort.js';
import { RequestFreezer } from './freeze-request.js';
import { isFetchBoundary } from './hook-provider.js';
import { HookRunner } from './hook-runner.js';
import { currentCall, HookedCall } from './hooked-call.js';
import { AnswerReader, toNativeError, toNativeStream } from './answer-reader.js';
import { modelEvents } from './model-events.js';
import type { HookedModel, HookOptions, LanguageModelLike, ModelCall } from './model.js';
import type { CallFacts, FrozenRequest, ProviderHooks, TurnHandle, TurnResponse } from './types.js';

/** Options of a call as the AI SDK gives them, of any specification. */
interface NativeOptions {
  readonly prompt: FrozenRequest['prompt'];
  readonly tools?: FrozenRequest['tools'];
  readonly abortSignal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly includeRawChunks?: boolean;
  readonly [setting: string]: unknown;
}

interface NativeModel {
  doGenerate(options: NativeOptions): PromiseLike<NativeResult>;
  doStream(options: NativeOptions): PromiseLike<NativeStream>;
}

type NativeResult = Readonly<Record<string, unknown>>;
type NativeStream = { readonly stream: ReadableStream<StreamPart> } & Readonly<Record<string, unknown>>;

/** What is sent beside the frozen request: nothing of it changes what the model does. */
type Extras = Pick<NativeOptions, 'headers' | 'includeRawChunks' | 'abortSignal'>;

/**
 * Puts hooks around every request of an AI SDK model of specification v2, v3 or v4. The answer is a model of the same
 * specification, for the AI SDK's own functions (set `maxRetries: 0`, or each retry is a request of its own), with
 * `stream` beside for loops that want the normal form.
 *
 * The boundary is the provider's fetch for models of `hookProvider`, else the invocation.
 */
export function hookModel<M extends LanguageModelLike, H extends TurnHandle>(
  model: M,
  hooks: ProviderHooks<H>,
  options: HookOptions = {},
): M & HookedModel {
  const boundary = new ModelBoundary(model, hooks, options);
  const own: Partial<HookedModel> & Record<string, unknown> = {
    name: `${model.provider}:${model.modelId}`,
    boundary: isFetchBoundary(model) ? 'fetch' : 'invocation',
    doGenerate: (call: NativeOptions) => boundary.doGenerate(call),
    doStream: (call: NativeOptions) => boundary.doStream(call),
    stream: (call: ModelCall) => boundary.stream(call),
  };
  return new Proxy(model, {
    get: (target, name) => (Object.hasOwn(own, name) ? own[name as string] : Reflect.get(target, name, target)),
    has: (target, name) => Object.hasOwn(own, name) || Reflect.has(target, name),
  }) as M & HookedModel;
}

class ModelBoundary<H extends TurnHandle> {
  readonly #model: NativeModel;
  readonly #runner: HookRunner<H>;
  readonly #options: HookOptions;
  readonly #freezer: RequestFreezer;
  readonly #atFetch: boolean;
  readonly #facts: Pick<LanguageModelLike, 'specificationVersion' | 'provider'>;

  constructor(model: LanguageModelLike, hooks: ProviderHooks<H>, options: HookOptions) {
    this.#model = model as unknown as NativeModel;
    this.#runner = new HookRunner(hooks, options);
    this.#options = options;
    this.#freezer = new RequestFreezer(model.provider, model.modelId);
    this.#atFetch = isFetchBoundary(model);
    this.#facts = model;
  }

  /** The model's own answer, given after `finish` returned. Rejects with the signal's reason if that was aborted. */
  async doGenerate(native: NativeOptions): Promise<NativeResult> {
    const { call, request } = this.#begin(native, false);
    try {
      const { result } = await this.#generate(call, request, native);
      return result;
    } catch (error) {
      throw toNativeError(error, native.abortSignal);
    }
  }

  async doStream(native: NativeOptions): Promise<NativeStream> {
    const { call, request } = this.#begin(native, true);
    try {
      const { reader, result } = await this.#open(call, request, native);
      return { ...result, stream: toNativeStream(reader, native.includeRawChunks ?? false, native.abortSignal) };
    } catch (error) {
      throw toNativeError(error, native.abortSignal);
    }
  }

  stream(call: ModelCall): ReturnType<HookedModel['stream']> {
    const {
      prompt,
      tools = [],
      settings = {},
      facts = currentCallFacts() ?? {},
      signal,
      stream: isStream = true,
    } = call;
    const request = this.#freezer.freeze({ prompt, tools, settings, stream: isStream, facts });
    return modelEvents({
      open: async () => {
        const hooked = this.#call(request, signal);
        if (isStream) return { call: hooked, reader: (await this.#open(hooked, request, {})).reader };
        return { call: hooked, response: (await this.#generate(hooked, request, {})).response };
      },
    });
  }

  async #generate(
    call: HookedCall<H>,
    request: FrozenRequest,
    extras: Extras,
  ): Promise<{ readonly result: NativeResult; readonly response: TurnResponse }> {
    await call.prepare();
    const result = await this.#invoke(call, () => this.#model.doGenerate(this.#toNative(request, extras, call)));
    call.answer.addResult(result);
    return { result, response: await call.complete() };
  }

  async #open(
    call: HookedCall<H>,
    request: FrozenRequest,
    extras: Extras,
  ): Promise<{ readonly reader: AnswerReader<H>; readonly result: NativeStream }> {
    await call.prepare();
    const result = await this.#invoke(call, () =>
      this.#model.doStream(this.#toNative(request, this.#withRaw(extras), call)),
    );
    return { reader: new AnswerReader(call, result.stream), result };
  }

  /** Invokes the model within the call; every error is one that the `fail` hook was told. */
  async #invoke<T extends object>(call: HookedCall<H>, invoke: () => PromiseLike<T>): Promise<T> {
    if (!this.#atFetch) await call.start();
    else call.markFetch();
    let result: T;
    try {
      result = await call.untilStopped(
        currentCall.run(call as unknown as HookedCall<TurnHandle>, () => startNow(invoke)),
      );
    } catch (error) {
      throw await (call.didBypass(error) ? call.missBoundary() : call.fail(error));
    }
    if (call.wasStarted) return result;
    await cancelStream(result);
    throw await call.missBoundary();
  }

  #toNative(request: FrozenRequest, extras: Extras, call: HookedCall<H>): NativeOptions {
    return toNative(request, nativeSettings(request.settings, this.#facts), extras, call);
  }

  /** Raw parts hold the usage of a stream that breaks; at our own fetch we see it on the wire, which costs less. */
  #withRaw(extras: Extras): Extras {
    return this.#atFetch ? extras : { ...extras, includeRawChunks: true };
  }

  #begin(native: NativeOptions, isStream: boolean): { call: HookedCall<H>; request: FrozenRequest } {
    const { prompt, tools = [], abortSignal, headers: _headers, includeRawChunks: _raw, ...settings } = native;
    const facts: CallFacts = currentCallFacts() ?? {};
    const request = this.#freezer.freeze({ prompt, tools, settings, stream: isStream, facts });
    return { call: this.#call(request, abortSignal), request };
  }

  #call(request: FrozenRequest, signal: AbortSignal | undefined): HookedCall<H> {
    return new HookedCall(this.#runner, request, signal, this.#options);
  }
}

/** The options that the model is invoked with: the frozen request, and nothing that came after it. */
function toNative(
  request: FrozenRequest,
  settings: NativeSettings,
  extras: Extras,
  call: { readonly signal: AbortSignal },
): NativeOptions {
  return {
    ...settings,
    // Providers may fill the arrays they are given; the messages themselves are frozen.
    prompt: [...request.prompt],
    ...(request.tools.length > 0 ? { tools: [...request.tools] } : {}),
    ...(extras.headers ? { headers: extras.headers } : {}),
    ...(extras.includeRawChunks ? { includeRawChunks: true } : {}),
    // Made when it is looked at: a model that answers from memory looks at none.
    get abortSignal() {
      return call.signal;
    },
  };
}

/** The work as a promise, also where the model throws at once. */
function startNow<T>(invoke: () => PromiseLike<T>): Promise<T> {
  try {
    return Promise.resolve(invoke());
  } catch (error) {
    return Promise.reject(error as Error);
  }
}

async function cancelStream(result: object): Promise<void> {
  const { stream } = result as { stream?: ReadableStream };
  await stream?.cancel().catch(() => undefined); // it is not wanted any more, however it ends
}
