import { all, type Context, type Row, type Transaction } from '@stint/storage';
import type { StoredEntry } from './entries.js';
import { LedgerError } from './errors.js';
import { isCount } from './integers.js';
import { type LedgerRequest, requestColumns, requestOf } from './requests.js';
import { readEntries } from './verify.js';

/** How many ids one statement asks for; places that are left over ask for the last of them again, so that SQL texts are few. */
const sizes = [10, 100, 1_000] as const;
const mostIds = 1_000;

/** Sums over the requests of one run. */
export interface RunTotals {
  readonly requests: number;
  readonly tokens: number;
  readonly costMicros: number;
}

/** The sums of each of the given runs in an account and all beneath it, by an index over their requests; one without requests is left out. */
export function* runTotals(
  _ctx: Context,
  account: string,
  runs: readonly string[],
): Transaction<ReadonlyMap<string, RunTotals>> {
  const totals = new Map<string, RunTotals>();
  for (const part of partsOf(runs)) {
    const rows = yield* all<RunTotals & { run: string }>(
      `SELECT run, COUNT(*) AS requests, CAST(SUM(charged_tokens) AS BIGINT) AS tokens,
        CAST(SUM(COALESCE(charged_cost, 0)) AS BIGINT) AS "costMicros"
        FROM ledger_requests WHERE run IN (${placeholders(part)}) AND run IS NOT NULL
        AND account IN (SELECT account FROM ledger_paths WHERE ancestor = ?) GROUP BY run`,
      [...part, account],
    );
    for (const { run, requests, tokens, costMicros } of rows) totals.set(run, { requests, tokens, costMicros });
  }
  return totals;
}

/** What each of the given requests is charged. */
export function* readCharges(
  _ctx: Context,
  ids: readonly string[],
): Transaction<ReadonlyMap<string, { readonly tokens: number; readonly costMicros: number | null }>> {
  const charges = new Map<string, { tokens: number; costMicros: number | null }>();
  for (const part of partsOf(ids)) {
    const rows = yield* all<{ id: string; tokens: number; cost: number | null }>(
      `SELECT id, charged_tokens AS tokens, charged_cost AS cost FROM ledger_requests WHERE id IN (${placeholders(part)})`,
      part,
    );
    for (const { id, tokens, cost } of rows) charges.set(id, { tokens, costMicros: cost });
  }
  return charges;
}

/** Requests that a person may want to look at. */
export type RequestFlag = 'open' | 'unknown' | 'unmeasured' | 'overshoot' | 'discrepancy';

const conditionOf: Readonly<Record<Exclude<RequestFlag, 'open'>, string>> = {
  unknown: "status = 'unknown' AND complete = 0",
  unmeasured: "status = 'unknown' AND complete = 1",
  overshoot: 'overshoot = 1',
  discrepancy: 'discrepancy = 1',
};

export interface ListOptions {
  readonly flag: RequestFlag;
  /** The last id of the page before. */
  readonly after?: string;
  /** @default 100, at most 1000 */
  readonly limit?: number;
}

const selectOpen = `SELECT ${requestColumns} FROM ledger_requests
  WHERE status = 'reserved' AND account IN (SELECT account FROM ledger_paths WHERE ancestor = ?)`;

/** The flagged requests of an account and of all beneath it, by id. */
export function* listRequests(
  _ctx: Context,
  account: string,
  options: ListOptions,
): Transaction<readonly LedgerRequest[]> {
  if (options.flag === 'open') return yield* listOpen(account, options);
  const rows = yield* all<Row>(
    `SELECT ${requestColumns} FROM ledger_requests WHERE ${conditionOf[options.flag]} AND id > ?
      AND account IN (SELECT account FROM ledger_paths WHERE ancestor = ?) ORDER BY id LIMIT ?`,
    [options.after ?? '', account, pageLength(options)],
  );
  return rows.map(requestOf);
}

/** Open reservations are few: all are read, by their own index, since a walk along the ids would read the whole history to find them. */
function* listOpen(account: string, options: ListOptions): Transaction<readonly LedgerRequest[]> {
  const open = (yield* all<Row>(selectOpen, [account])).map(requestOf);
  return open
    .filter(({ id }) => id > (options.after ?? ''))
    .sort((left, right) => (left.id < right.id ? -1 : 1))
    .slice(0, pageLength(options));
}

function pageLength({ limit = 100 }: ListOptions): number {
  if (isCount(limit) && limit > 0) return Math.min(limit, 1000);
  throw new LedgerError('invalid_input', `limit is ${limit}; it must be an integer from 1.`);
}

/** A page of an account's own journal lines, oldest first, for an export; empty at the end. */
export function* exportEntries(_ctx: Context, account: string, afterSeq = 0): Transaction<readonly StoredEntry[]> {
  return yield* readEntries(account, afterSeq);
}

function partsOf(ids: readonly string[]): readonly string[][] {
  const unique = [...new Set(ids)];
  const parts: string[][] = [];
  for (let start = 0; start < unique.length; start += mostIds)
    parts.push(filledUp(unique.slice(start, start + mostIds)));
  return parts;
}

function filledUp(ids: readonly string[]): string[] {
  const size = sizes.find((each) => each >= ids.length) ?? mostIds;
  return [...ids, ...Array<string>(size - ids.length).fill(ids.at(-1) ?? '')];
}

function placeholders(ids: readonly string[]): string {
  return ids.map(() => '?').join(', ');
}
