import { all, type Context, type Transaction } from '@stint/storage';
import { parseJson } from './stored-json.js';
import { unknownAccount } from './tree.js';
import type { AccountStatus, StopReason } from './types.js';

const selectPath = `SELECT a.id, a.status, a.stop_reason FROM ledger_paths p JOIN ledger_accounts a ON a.id = p.ancestor
  WHERE p.account = ? ORDER BY p.depth DESC`;

/** An account that lets nothing beneath it spend. */
export interface StandingStop {
  readonly account: string;
  /** `stopped` or `closed`. */
  readonly status: AccountStatus;
  readonly stopReason: StopReason | null;
}

/**
 * What keeps an account from spending: itself, else its nearest ancestor that is stopped or closed; null if none is. One statement, for those
 * who look at many accounts; writes nothing.
 * @throws LedgerError `account_unknown`
 */
export function* findStop(_ctx: Context, account: string): Transaction<StandingStop | null> {
  const path = yield* all<{ id: string; status: AccountStatus; stop_reason: string | null }>(selectPath, [account]);
  if (path.length === 0) throw unknownAccount(account);
  const stopped = path.find(({ status }) => status !== 'open');
  if (stopped === undefined) return null;
  const { id, status, stop_reason: reason } = stopped;
  return { account: id, status, stopReason: reason === null ? null : parseJson<StopReason>(reason) };
}
