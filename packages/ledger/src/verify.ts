/** Proves an account against its journal, in one consistent read: `db.read((ctx) => verifyAccount(ctx, id))`. */
import { all, type Context, type Row, type Transaction } from '@stint/storage';
import { type Entry, entryColumns, entryHash, entryLine, entryOf, firstHead, type StoredEntry } from './entries.js';
import { canonicalJson } from './entries.js';
import { ownValue } from './names.js';
import { addTotals, noTotals, type PackedTotals, packTotals, unpackTotals } from './totals.js';
import { type Account, leafOf, readAccount, unknownAccount } from './tree.js';
import type { Totals } from './types.js';

const pageLength = 500;

const selectSubtree = `SELECT p.account FROM ledger_paths p JOIN ledger_accounts a ON a.id = p.account
  WHERE p.ancestor = ? ORDER BY a.depth, a.id`;
const selectEntries = `SELECT ${entryColumns} FROM ledger_entries WHERE account = ? AND seq > ? ORDER BY seq LIMIT ${pageLength}`;
/** Reads the requests of the whole tree: a proof, not for the hot path. What each adds is what `contributionOf` says. */
const sumRequests = `SELECT account, kind, COUNT(*) AS requests, CAST(SUM(charged_tokens) AS BIGINT) AS tokens,
  CAST(SUM(COALESCE(charged_cost, 0)) AS BIGINT) AS "costMicros",
  CAST(SUM(CASE WHEN status = 'reserved' THEN charged_tokens ELSE 0 END) AS BIGINT) AS "heldTokens",
  CAST(SUM(CASE WHEN status = 'reserved' THEN COALESCE(charged_cost, 0) ELSE 0 END) AS BIGINT) AS "heldCostMicros",
  SUM(CASE WHEN status = 'reserved' THEN 1 ELSE 0 END) AS open,
  SUM(CASE WHEN status = 'unknown' AND complete = 0 THEN 1 ELSE 0 END) AS unknown,
  CAST(SUM(CASE WHEN status = 'unknown' AND complete = 0 THEN charged_tokens ELSE 0 END) AS BIGINT) AS "unknownTokens",
  CAST(SUM(CASE WHEN status = 'unknown' AND complete = 0 THEN COALESCE(charged_cost, 0) ELSE 0 END) AS BIGINT) AS "unknownCostMicros",
  SUM(CASE WHEN status = 'unknown' AND complete = 1 THEN 1 ELSE 0 END) AS unmeasured,
  SUM(CASE WHEN unpriced = 1 AND status <> 'released' THEN 1 ELSE 0 END) AS unpriced
  FROM ledger_requests WHERE account IN (SELECT account FROM ledger_paths WHERE ancestor = ?) GROUP BY account, kind`;

/** The first thing that does not fit. */
export interface Misfit {
  readonly account: string;
  /** The line; null if the account's row or its requests do not fit its lines. */
  readonly seq: number | null;
  readonly problem: string;
}

export type Verification =
  | { readonly ok: true; readonly accounts: number; readonly entries: number }
  | { readonly ok: false; readonly misfit: Misfit };

type Sums = Record<string, Totals>;

/**
 * Checks the chains of an account and of all beneath it: every hash, head and count, that each account's sums are those of its subtree's
 * lines, and that its requests' charges are too. Names the first misfit.
 * @throws LedgerError `account_unknown`
 */
export function* verifyAccount(_ctx: Context, account: string): Transaction<Verification> {
  const accounts = yield* readSubtree(account);
  const proof = new SumProof();
  let entries = 0;
  for (const each of accounts) {
    const misfit = yield* verifyChain(each, proof);
    if (misfit !== undefined) return { ok: false, misfit };
    entries += each.entryCount;
  }
  const misfit = proof.firstMisfit(accounts) ?? (yield* verifyRequests(account, accounts, proof));
  return misfit === undefined ? { ok: true, accounts: accounts.length, entries } : { ok: false, misfit };
}

/** The account and all beneath it, as their rows are; parents first. */
export function* readSubtree(account: string): Transaction<readonly Account[]> {
  const rows = yield* all<{ account: string }>(selectSubtree, [account]);
  if (rows.length === 0) throw unknownAccount(account);
  const accounts: Account[] = [];
  for (const row of rows) {
    const chain = yield* readAccount(row.account);
    if (chain !== undefined) accounts.push(leafOf(chain));
  }
  return accounts;
}

/** A page of an account's lines after `seq`, oldest first; empty at the end. */
export function* readEntries(account: string, afterSeq: number): Transaction<readonly StoredEntry[]> {
  return (yield* all<Row>(selectEntries, [account, afterSeq])).map(entryOf);
}

function* verifyChain(account: Account, proof: SumProof): Transaction<Misfit | undefined> {
  let head = firstHead;
  let seq = 0;
  for (;;) {
    const page = yield* readEntries(account.id, seq);
    for (const { hash, ...entry } of page) {
      const misfit = misfitOfLine(entry, { hash, head, seq: seq + 1 });
      if (misfit !== undefined) return misfit;
      proof.add(entry);
      head = hash;
      seq = entry.seq;
    }
    if (page.length < pageLength) break;
  }
  const isWhole = head === account.head && seq === account.entryCount;
  const problem = `The account's row says ${account.entryCount} lines and another head; its lines end at ${seq}.`;
  return isWhole ? undefined : { account: account.id, seq: seq + 1, problem };
}

function misfitOfLine(entry: Entry, expected: { hash: string; head: string; seq: number }): Misfit | undefined {
  const { account, seq } = entry;
  if (seq !== expected.seq)
    return { account, seq: expected.seq, problem: `Line ${expected.seq} is missing; ${seq} follows.` };
  if (entryHash(expected.head, entryLine(entry)) === expected.hash) return undefined;
  return { account, seq, problem: `The hash of line ${seq} does not fit the line and the hash before it.` };
}

/** Sums of lines, by account and kind. */
class SumProof {
  readonly #byAccount = new Map<string, Sums>();

  add({ account, kind, delta }: Entry): void {
    if (kind !== undefined && delta !== undefined) this.#addTo(account, kind, unpackTotals(delta));
  }

  ownSums(account: string): Sums {
    return this.#byAccount.get(account) ?? {};
  }

  /** Adds children to their parents, then compares with the rows. @param accounts parents first */
  firstMisfit(accounts: readonly Account[]): Misfit | undefined {
    const subtree = new Map(accounts.map(({ id }) => [id, { ...this.ownSums(id) }]));
    for (const { id, parent } of [...accounts].reverse()) {
      const above = parent === null ? undefined : subtree.get(parent);
      if (above !== undefined) addSums(above, subtree.get(id) ?? {});
    }
    const wrong = accounts.find(({ id, kinds }) => !isSameSums(kinds, subtree.get(id) ?? {}));
    return wrong === undefined
      ? undefined
      : { account: wrong.id, seq: null, problem: "The account's sums are not those of its subtree's lines." };
  }

  #addTo(account: string, kind: string, delta: Totals): void {
    const sums = this.#byAccount.get(account) ?? {};
    this.#byAccount.set(account, sums);
    addSums(sums, { [kind]: delta });
  }
}

function addSums(into: Sums, from: Readonly<Sums>): void {
  for (const [kind, totals] of Object.entries(from)) into[kind] = addTotals(ownValue(into, kind) ?? noTotals, totals);
}

function isSameSums(left: Readonly<Sums>, right: Readonly<Sums>): boolean {
  return packedSums(left) === packedSums(right);
}

function packedSums(sums: Readonly<Sums>): string {
  const packed: Record<string, PackedTotals> = {};
  for (const [kind, totals] of Object.entries(sums)) packed[kind] = packTotals(totals);
  return canonicalJson(packed);
}

type RequestSums = Totals & { readonly account: string; readonly kind: string };

/** Compares the lines with the requests themselves, both ways: none is charged otherwise, and none is missing. */
function* verifyRequests(
  account: string,
  accounts: readonly Account[],
  proof: SumProof,
): Transaction<Misfit | undefined> {
  const requests = new Map<string, Sums>();
  for (const { account: id, kind, ...totals } of yield* all<RequestSums>(sumRequests, [account]))
    requests.set(id, { ...requests.get(id), [kind]: totals });
  const wrong = accounts.find(({ id }) => !isSameSums(requests.get(id) ?? {}, proof.ownSums(id)));
  return wrong === undefined
    ? undefined
    : { account: wrong.id, seq: null, problem: "The account's requests are charged otherwise than its lines say." };
}
