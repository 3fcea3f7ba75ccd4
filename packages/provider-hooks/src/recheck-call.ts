import { currentCall } from './hooked-call.js';

/**
 * For a provider's own callback in the middle of a request (it is about to run a step by itself, to wait, to go on after a
 * pause): asks the `recheck` hook and the caller's signal whether the request may go on. Nothing is paid anew. Throws a
 * `ProviderError` if it may not; then the request is ended as such. Outside of a hooked call it does nothing.
 */
export async function recheckCall(): Promise<void> {
  await currentCall.getStore()?.recheck();
}
