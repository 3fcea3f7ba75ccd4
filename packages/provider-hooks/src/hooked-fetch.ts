import { ProviderError } from './errors.js';
import { currentCall, type HookedCall } from './hooked-call.js';
import type { TurnHandle } from './types.js';
import { WireWatch } from './wire-watch.js';

/**
 * A `fetch` that belongs to the call of the hooked model it is used in: it runs `start` before the first byte leaves,
 * sends the handle's id as `x-client-request-id`, and refuses redirects. Outside of such a call it sends nothing.
 */
export function createHookedFetch(base: typeof fetch = globalThis.fetch): typeof fetch {
  return async (input, init) => {
    const call = currentCall.getStore();
    if (call === undefined) {
      throw new ProviderError(
        'unhooked_request',
        'A provider made a request outside of a hooked call; nothing was sent. Use the model that hookModel answered.',
      );
    }
    const response = await call.fetch(base, input, init);
    return isEventStream(response) ? watchWire(response, call) : response;
  };
}

function isEventStream(response: Response): boolean {
  return response.body !== null && (response.headers.get('content-type') ?? '').includes('text/event-stream');
}

/** The same response, with a look at its bytes as they pass. */
function watchWire(response: Response, call: HookedCall<TurnHandle>): Response {
  const watch = new WireWatch();
  call.wire = watch;
  const pass = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      watch.take(chunk);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  const body = (response.body as ReadableStream<Uint8Array>).pipeThrough(pass);
  return new Response(body, { status, statusText, headers });
}
