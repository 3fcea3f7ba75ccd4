import { type Context, notify, type Transaction } from '@stint/storage';
import {
  type Account,
  appendEntry,
  type Chain,
  chainTo,
  leafOf,
  lockKnownAccount,
  markAdministered,
  saveChain,
} from './tree.js';
import { LedgerError } from './errors.js';
import { checkWord } from './names.js';
import type { Actor, StopReason } from './types.js';

/** Told after the commit of each stop; listeners look at their accounts. */
export const stopChannel = 'ledger-stop';

export interface StopInput {
  /** A word for the reason, as `paused` or `cancelled`. */
  readonly code: string;
  readonly details?: unknown;
  readonly actor?: Actor;
  /** Whether requests in flight are to be aborted. @default true if the actor is a person, else false */
  readonly aborts?: boolean;
}

export interface StopResult {
  /** True if this call stopped the account; false if it was stopped or closed before. */
  readonly stopped: boolean;
  /** The reason that stands. */
  readonly reason: StopReason | null;
  readonly revision: number;
}

/**
 * Stops an account and with it everything beneath: new requests are denied. The first reason stands, later ones are kept in the journal;
 * a later stop that aborts makes the standing one abort too.
 * @throws LedgerError `account_unknown`, `invalid_input`
 */
export function* stopAccount(ctx: Context, account: string, input: StopInput): Transaction<StopResult> {
  checkWord('code', input.code);
  const chain = yield* lockKnownAccount(account);
  const stopped = yield* stopChain(ctx, chain, {
    code: input.code,
    account,
    at: ctx.now,
    aborts: input.aborts ?? input.actor?.kind === 'person',
    ...(input.actor === undefined ? {} : { actor: input.actor }),
    ...(input.details === undefined ? {} : { details: asJson(input.details) }),
  });
  yield* saveChain(chain);
  const leaf = leafOf(chain);
  return { stopped, reason: leaf.stopReason, revision: leaf.revision };
}

/** The details as JSON keeps them, so that the row and the journal say the same. */
function asJson(details: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(details) ?? 'null');
  } catch (error) {
    throw new LedgerError(
      'invalid_input',
      'details cannot be written as JSON; give texts, numbers, lists and objects.',
      {
        cause: error,
      },
    );
  }
}

/** Stops the last account of a locked chain. The one place where an account becomes `stopped`. */
export function* stopChain(ctx: Context, chain: Chain, reason: StopReason): Transaction<boolean> {
  const account = leafOf(chain);
  const isFirst = account.status === 'open';
  if (isFirst) {
    account.status = 'stopped';
    account.stopReason = reason;
    markAdministered(account);
  } else if (
    account.status === 'stopped' &&
    account.stopReason !== null &&
    reason.aborts &&
    !account.stopReason.aborts
  ) {
    account.stopReason = { ...account.stopReason, aborts: true };
    markAdministered(account);
  }
  const { actor, ...details } = reason;
  yield* appendEntry(ctx, chain, {
    type: 'stopped',
    details: { ...details, stands: isFirst },
    ...(actor === undefined ? {} : { actor }),
  });
  yield* notify(stopChannel);
  return isFirst;
}

/** Stops one account of a locked chain by its id. */
export function* stopWithin(ctx: Context, chain: Chain, account: Account, reason: StopReason): Transaction<boolean> {
  return yield* stopChain(ctx, chainTo(chain, account.id), reason);
}
