import type { Usage } from '@stint/provider-hooks';
import { createIdSource, isStoreError } from '@stint/storage';
import { setTimeout as sleep } from 'node:timers/promises';
import { LedgerError } from './errors.js';
import type { Estimate, EstimatedRequest } from './estimate.js';
import type { Ledger } from './ledger.js';
import type { ReleaseProof } from './settle.js';
import type { RefusalReason } from './types.js';

/** On which account requests are admitted, and how they are counted there. */
export interface GuardOptions {
  readonly account: string;
  /** @default 'request' */
  readonly kind?: string;
  /** Counted against `maxRunRequests`. */
  readonly run?: string;
  readonly driver?: string;
  /** Waits as long for room when only holds in flight, a window or a backoff are in the way. @default 0: refuse at once */
  readonly waitMs?: number;
}

/** One request on its way: estimated, and held once `hold` came back. */
export interface GuardedRequest {
  readonly id: string;
  readonly model: string;
  readonly estimate: Estimate;
  /** True from the moment the hold is committed. */
  held: boolean;
  /** True once nobody waits for `hold` any longer: a hold that comes after that is given back. */
  givenUp?: boolean;
}

const retryDelaysMs = [20, 100, 500];

/** What `@stint/ledger/ai-sdk` and `@stint/ledger/fetch` do around a request. */
export class Guard {
  readonly #ledger: Ledger;
  readonly #options: GuardOptions;
  readonly #newId = createIdSource();

  constructor(ledger: Ledger, options: GuardOptions) {
    this.#ledger = ledger;
    this.#options = options;
  }

  /** @throws LedgerError `ledger_unavailable` if the request cannot be estimated: it is not to be sent then */
  prepare(request: EstimatedRequest): GuardedRequest {
    try {
      return { id: this.#newId(), model: request.model, estimate: this.#ledger.estimateRequest(request), held: false };
    } catch (error) {
      throw new LedgerError(
        'ledger_unavailable',
        `The request to ${request.model} could not be estimated, so it was not sent.`,
        { cause: error },
      );
    }
  }

  /** @throws LedgerError `refused` with the reason in `details.reason` */
  async hold(request: GuardedRequest, retryOf?: string): Promise<void> {
    const { account, kind = 'request', run, driver, waitMs = 0 } = this.#options;
    const { tokens, costMicros, priceVersion } = request.estimate;
    const input = {
      id: request.id,
      account,
      kind,
      model: request.model,
      estimate: { tokens, costMicros },
      ...(run === undefined ? {} : { run }),
      ...(driver === undefined ? {} : { driver }),
      ...(retryOf === undefined ? {} : { retryOf }),
      ...(priceVersion === undefined ? {} : { priceVersion }),
    };
    const result = await this.#ledger.reserveWhenRoom(input, { timeoutMs: waitMs });
    if (!result.allowed) throw refusedError(result.reason);
    if (wasGivenUp(request)) {
      await keepTrying(() => this.#ledger.releaseRequest(request.id, 'not_sent'));
      throw new LedgerError(
        'ledger_unavailable',
        `The request to ${request.model} was given up before it was admitted; it was not sent.`,
      );
    }
    request.held = true;
  }

  /** A complete answer came. Usage of null stays charged at the hold, as unmeasured. */
  async settle(request: GuardedRequest, usage: Usage | null, model?: string): Promise<void> {
    await keepTrying(() =>
      this.#ledger.settleRequest(request.id, { usage, complete: true, ...(model === undefined ? {} : { model }) }),
    );
    if (usage !== null) this.#ledger.observeUsage(request.model, request.estimate, usage);
  }

  /** No complete answer came: released on proof, else unknown. A request without a hold has nothing to settle. */
  async fail(request: GuardedRequest, proof: ReleaseProof | null, usage: Usage | null): Promise<void> {
    if (!request.held) {
      request.givenUp = true;
      return;
    }
    if (proof === null || usage !== null)
      await keepTrying(() => this.#ledger.settleRequest(request.id, { usage, complete: false }));
    else await keepTrying(() => this.#ledger.releaseRequest(request.id, proof));
  }
}

/** A function, since it becomes true while `hold` waits. */
function wasGivenUp(request: GuardedRequest): boolean {
  return request.givenUp === true;
}

/** A settlement that the store could not take is tried again: the same figures book once. */
async function keepTrying(settle: () => Promise<unknown>): Promise<void> {
  for (const delayMs of [...retryDelaysMs, null]) {
    try {
      await settle();
      return;
    } catch (error) {
      if (!isStoreError(error) || !error.retryable || delayMs === null) throw error;
      await sleep(delayMs);
    }
  }
}

function refusedError(reason: RefusalReason): LedgerError {
  const code = reason.code === 'ledger_unavailable' ? 'ledger_unavailable' : 'refused';
  const retryable = reason.heldByOthers === true || reason.retryAfter !== undefined || code === 'ledger_unavailable';
  return new LedgerError(code, `Not sent: ${reason.message}`, { retryable, details: { reason } });
}

/** The reason of a refusal, from the error that the model or `fetch` threw, or from one of its causes; undefined if it was something else. */
export function refusalReasonOf(error: unknown): RefusalReason | undefined {
  let value = error;
  for (let depth = 0; depth < 8 && typeof value === 'object' && value !== null; depth += 1) {
    const reason = (value as { details?: { reason?: RefusalReason } }).details?.reason;
    if (reason !== undefined) return reason;
    value = (value as { cause?: unknown }).cause;
  }
  return undefined;
}
