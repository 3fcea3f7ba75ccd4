/**
 * An account and its ancestors, locked root to leaf for one transaction. All writes of account rows go through here.
 *
 * Invariants:
 * 1. Rows are read by the statement that locks them; nothing is decided from an older copy.
 * 2. Every operation appends one entry to the chain of the account it happened in and moves `dataRevision` of that account and of each
 *    ancestor by one, so that the root's `dataRevision` orders all operations of a tree without a gap.
 * 3. A request's contribution is added to its account and to every ancestor in the same transaction, or to none.
 */
import { all, type Context, type Row, run, type Transaction } from '@stint/storage';
import { type Entry, type EntryFields, writeEntry } from './entries.js';
import { LedgerError } from './errors.js';
import { parseJson, storedLimits } from './stored-json.js';
import { ownValue } from './names.js';
import { addTotals, noTotals, type PackedTotals, packTotals, unpackTotals } from './totals.js';
import type {
  AccountStatus,
  AccountView,
  DriverFailures,
  Limits,
  StopReason,
  TokenAccounting,
  Totals,
  WindowTotals,
} from './types.js';
import { bookInWindows } from './windows.js';

const accountColumns = `a.id, a.parent, a.depth, a.status, a.limits, a.accounting, a.stop_reason, a.revision, a.data_revision, a.state,
  a.head, a.entry_count`;

// A path is kept in its order, so that nothing is sorted.
const readChain = `SELECT ${accountColumns} FROM ledger_paths p JOIN ledger_accounts a ON a.id = p.ancestor
  WHERE p.account = ? ORDER BY p.depth`;
const lockChain = `${readChain} FOR NO KEY UPDATE OF a`;
const lockChainOfRequest = `SELECT ${accountColumns}
  FROM ledger_requests r JOIN ledger_paths p ON p.account = r.account JOIN ledger_accounts a ON a.id = p.ancestor
  WHERE r.id = ? ORDER BY p.depth FOR NO KEY UPDATE OF a`;
const updateAll = `UPDATE ledger_accounts SET state = ?, data_revision = ?, head = ?, entry_count = ?,
  status = ?, limits = ?, stop_reason = ?, revision = ? WHERE id = ?`;

const mostKinds = 256;

/** One account row of a locked chain. Fields change through the functions of this file only. */
export interface Account extends AccountView {
  readonly parent: string | null;
  readonly depth: number;
  readonly accounting: TokenAccounting;
  status: AccountStatus;
  limits: Limits;
  stopReason: StopReason | null;
  revision: number;
  dataRevision: number;
  head: string;
  entryCount: number;
  readonly kinds: Record<string, Totals>;
  readonly windows: Record<string, WindowTotals>;
  readonly drivers: Record<string, DriverFailures>;
  changed: 'no' | 'data' | 'all';
}

/** Root first, never empty. */
export type Chain = readonly [Account, ...Account[]];

/** Locks the account and its ancestors; undefined if there is no such account. */
export function* lockAccount(id: string): Transaction<Chain | undefined> {
  return chainOf(yield* all(lockChain, [id]));
}

/** Locks the account of a request and its ancestors; undefined if there is no such request. A request never changes its account. */
export function* lockAccountOfRequest(requestId: string): Transaction<Chain | undefined> {
  return chainOf(yield* all(lockChainOfRequest, [requestId]));
}

/** Reads the chain without locks, for a consistent snapshot. */
export function* readAccount(id: string): Transaction<Chain | undefined> {
  return chainOf(yield* all(readChain, [id]));
}

/** @throws LedgerError `account_unknown` */
export function* lockKnownAccount(id: string): Transaction<Chain> {
  const chain = yield* lockAccount(id);
  if (chain === undefined) throw unknownAccount(id);
  return chain;
}

export function unknownAccount(id: string): LedgerError {
  return new LedgerError('account_unknown', `There is no account '${id}'. Create it first.`, {
    details: { account: id },
  });
}

export function rootOf(chain: Chain): Account {
  return chain[0];
}

/** The account that the chain was locked for. */
export function leafOf(chain: Chain): Account {
  return chain[chain.length - 1] as Account;
}

/** The part of the chain from the root to `id`. */
export function chainTo(chain: Chain, id: string): Chain {
  const index = chain.findIndex((account) => account.id === id);
  return chain.slice(0, index + 1) as unknown as Chain;
}

/** Adds to the sums of the chain's every account, and to the window buckets at `bookedAt`. */
export function addToChain(chain: Chain, kind: string, delta: Totals, bookedAt: number): void {
  for (const account of chain) {
    account.kinds[kind] = addTotals(ownValue(account.kinds, kind) ?? newKind(account), delta);
    if (account.limits.windows !== undefined) bookInWindows(account, delta, bookedAt);
  }
}

/** Sums of kinds stand in the account's row, so that kinds are words of a program, not one for each user or day. */
function newKind({ id, kinds }: Account): Totals {
  if (Object.keys(kinds).length < mostKinds) return noTotals;
  throw new LedgerError(
    'invalid_input',
    `Account ${id} has requests of ${mostKinds} kinds already; use fewer words for kinds.`,
  );
}

/** Appends one entry to the chain's last account. */
export function* appendEntry(ctx: Context, chain: Chain, fields: EntryFields): Transaction<void> {
  for (const account of chain) {
    account.dataRevision += 1;
    if (account.changed === 'no') account.changed = 'data';
  }
  const leaf = leafOf(chain);
  leaf.entryCount += 1;
  const entry: Entry = {
    account: leaf.id,
    actor: fields.actor,
    at: ctx.now,
    delta: fields.delta === undefined ? undefined : packTotals(fields.delta),
    details: fields.details,
    kind: fields.kind,
    request: fields.request,
    revision: rootOf(chain).dataRevision,
    seq: leaf.entryCount,
    type: fields.type,
  };
  leaf.head = yield* writeEntry(entry, leaf.head);
}

/** Marks the row for a write of status, limits, stop reason and revision too. */
export function markAdministered(account: Account): void {
  account.revision += 1;
  account.changed = 'all';
}

/** Writes the rows of the chain that changed: the sums of all of them in one statement. */
export function* saveChain(chain: Chain): Transaction<void> {
  const moved: Account[] = [];
  for (const account of chain) {
    if (account.changed === 'data') moved.push(account);
    else if (account.changed === 'all') yield* run(updateAll, everythingOf(account));
    account.changed = 'no';
  }
  if (moved.length > 0) yield* run(updateDataOf(moved.length), dataOf(moved));
}

const updatesOfData = new Map<number, string>();

/** The statement for so many accounts; only the last one's chain of entries can have grown. */
function updateDataOf(count: number): string {
  const kept = updatesOfData.get(count);
  if (kept !== undefined) return kept;
  const cases = (value: string): string => `CASE id ${`WHEN ? THEN ${value} `.repeat(count)}END`;
  const statement = `UPDATE ledger_accounts SET state = ${cases('?')}, data_revision = ${cases('CAST(? AS BIGINT)')},
    head = CASE id WHEN ? THEN ? ELSE head END, entry_count = CASE id WHEN ? THEN CAST(? AS BIGINT) ELSE entry_count END
    WHERE id IN (${Array.from({ length: count }, () => '?').join(', ')})`;
  updatesOfData.set(count, statement);
  return statement;
}

function dataOf(accounts: readonly Account[]): (string | number)[] {
  const params: (string | number)[] = [];
  for (const account of accounts) params.push(account.id, packState(account));
  for (const account of accounts) params.push(account.id, account.dataRevision);
  const last = accounts[accounts.length - 1] as Account;
  params.push(last.id, last.head, last.id, last.entryCount);
  for (const { id } of accounts) params.push(id);
  return params;
}

function everythingOf(account: Account): (string | number | null)[] {
  const stop = account.stopReason === null ? null : JSON.stringify(account.stopReason);
  return [
    packState(account),
    account.dataRevision,
    account.head,
    account.entryCount,
    account.status,
    JSON.stringify(account.limits),
    stop,
    account.revision,
    account.id,
  ];
}

function chainOf(rows: readonly Row[]): Chain | undefined {
  return rows.length === 0 ? undefined : (rows.map(accountOf) as unknown as Chain);
}

function accountOf(row: Row): Account {
  const state = parseJson<PackedState>(row.state as string);
  return {
    id: row.id as string,
    parent: row.parent as string | null,
    depth: row.depth as number,
    status: row.status as AccountStatus,
    limits: storedLimits(row.limits as string),
    accounting: row.accounting as TokenAccounting,
    stopReason: row.stop_reason === null ? null : parseJson<StopReason>(row.stop_reason as string),
    revision: row.revision as number,
    dataRevision: row.data_revision as number,
    head: row.head as string,
    entryCount: row.entry_count as number,
    kinds: mapValues(state.kinds, unpackTotals),
    windows: mapValues(state.windows, ([startsAt = 0, requests = 0, tokens = 0, costMicros = 0]) => ({
      startsAt,
      requests,
      tokens,
      costMicros,
    })),
    drivers: mapValues(state.drivers, ([failures = 0, retryAfter = 0]) => ({ failures, retryAfter })),
    changed: 'no',
  };
}

/** `state` as the row keeps it; absent parts are empty. */
interface PackedState {
  readonly kinds?: Readonly<Record<string, PackedTotals>>;
  readonly windows?: Readonly<Record<string, readonly number[]>>;
  readonly drivers?: Readonly<Record<string, readonly number[]>>;
}

/** The state of an account without requests. */
export const emptyState = '{}';

function packState(account: Account): string {
  const { windows, drivers } = account;
  const packed: Record<string, unknown> = { kinds: mapValues(account.kinds, packTotals) };
  if (hasKeys(windows)) packed.windows = mapValues(windows, (w) => [w.startsAt, w.requests, w.tokens, w.costMicros]);
  if (hasKeys(drivers)) packed.drivers = mapValues(drivers, (d) => [d.failures, d.retryAfter]);
  return JSON.stringify(packed);
}

function hasKeys(record: object): boolean {
  for (const _ in record) return true;
  return false;
}

function mapValues<T, R>(record: Readonly<Record<string, T>> | undefined, change: (value: T) => R): Record<string, R> {
  const mapped: Record<string, R> = {};
  for (const key in record) mapped[key] = change(record[key] as T);
  return mapped;
}
