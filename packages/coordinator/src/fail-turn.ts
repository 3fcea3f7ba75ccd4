import { recordFailure, type RefusalReason } from '@stint/ledger';
import { isProviderError } from '@stint/provider-hooks';
import type { Context, Transaction } from '@stint/storage';
import { checkCoordinatorFence, type CoordinatorFence, failCoordinatorTurn, type TurnFailure } from '@stint/work-items';
import { accountOf } from './account.js';
import { driverOf } from './apply-decision.js';
import { causedByStore, storeRetryMs } from './error-causes.js';
import { meaningOf } from './refusals.js';
import { settleDangling } from './settle-dangling.js';
import { denialOf } from './turn-hooks.js';

/** Why nothing came of a Coordinator turn. */
export interface TurnTrouble {
  readonly error: unknown;
  /** True if the work was stopped from outside: by `stop()`, a pause, or because the store failed. */
  readonly stopped: boolean;
}

/**
 * Ends a turn without a decision: says when its entry is taken up again, or asks the person. Counts the failure where
 * the provider is to blame. Does nothing once the claim is lost.
 */
export function* failTurn(ctx: Context, fence: CoordinatorFence, trouble: TurnTrouble): Transaction<void> {
  if (!(yield* checkCoordinatorFence(ctx, fence))) return;
  yield* settleDangling(ctx, { kind: 'coordinator', id: fence.turnId });
  yield* failCoordinatorTurn(ctx, fence, yield* failureOf(ctx, fence.itemId, trouble));
}

function* failureOf(ctx: Context, itemId: string, { error, stopped }: TurnTrouble): Transaction<TurnFailure> {
  const denial = denialOf(error);
  if (denial !== null) return deniedFailure(ctx, denial);
  if (stopped)
    return { code: 'stopped', message: 'The work was stopped while the Coordinator was thinking.', retryAt: ctx.now };
  if (causedByStore(error)) return { code: 'store_failed', message: storeMessage, retryAt: ctx.now + storeRetryMs };
  if (isPermanent(error)) return { code: 'provider', message: permanentMessage, retryAt: null };
  if (!isProviderError(error)) return { code: 'coordinator_failed', message: unexpectedMessage, retryAt: null };
  const askedMs = error.facts?.retryAfterMs ?? 0;
  if (askedMs > longestWaitMs) return askedToWait(ctx.now + askedMs);
  const { retryAfter } = yield* recordFailure(ctx, accountOf(itemId), driverOf(itemId));
  return { code: 'provider', message: providerMessage(error.code), retryAt: Math.max(retryAfter, ctx.now + askedMs) };
}

/** A wait that the provider asks for is no failure of it: it is kept, and said, and does not count. */
function askedToWait(retryAt: number): TurnFailure {
  const message = `The provider asks to wait until ${new Date(retryAt).toISOString()}; the work goes on then.`;
  return { code: 'provider_wait', message, retryAt };
}

/** Longest wait that is taken for a passing fault, ms. Source: the engine puts a Run off beyond the same wait. */
const longestWaitMs = 60_000;

/** In fixed words: what the provider itself said may hold anything. */
const providerMessage = (code: string): string => `The provider gave no usable answer (${code.replaceAll('_', ' ')}).`;

/** While the account is stopped, claims pass the item over: the entry may be pending at once. */
function deniedFailure(ctx: Context, reason: RefusalReason): TurnFailure {
  const { message, retryAfter } = reason;
  const meaning = meaningOf(reason);
  if (meaning === 'stopped') return { code: 'budget', message, retryAt: ctx.now };
  if (meaning === 'passing') return { code: 'budget', message, retryAt: retryAfter ?? ctx.now + 250 };
  return { code: 'resource_limit', message, retryAt: null };
}

const storeMessage = 'The store could not be written; the Coordinator thinks again when it can be.';

const permanentMessage = 'The model of this item cannot be used: check its name, its key and the size of its context.';

const unexpectedMessage = 'The Coordinator could not be run; the log of the process that serves this item says why.';

const permanentCodes: ReadonlySet<string> = new Set([
  'unauthorized',
  'not_found',
  'bad_request',
  'too_large',
  'context_exceeded',
  'provider_not_configured',
]);

function isPermanent(error: unknown): boolean {
  if (isProviderError(error)) return permanentCodes.has(error.code);
  return typeof error === 'object' && error !== null && 'code' in error && permanentCodes.has(String(error.code));
}
