/** Runs an account's journal again, line by line in the order in which it happened, and asks at every admission whether it was right. */
import type { Context, Transaction } from '@stint/storage';
import { decideAdmission } from './admission.js';
import { canonicalJson, type Entry, type StoredEntry } from './entries.js';
import { addTotals, noTotals, unpackTotals } from './totals.js';
import type { Account } from './tree.js';
import type { AccountStatus, AccountView, Limits, Totals } from './types.js';
import { type Misfit, readEntries, readSubtree, type Verification } from './verify.js';

/**
 * Checks promise by promise what `verifyAccount` checks as a sum: that no admission at any prefix of the journal was one which
 * `decideAdmission` would have refused, and that limits and status of the rows are what the lines led to. Windows, runs and attempts, whose
 * facts are not in the lines, are left out.
 * @throws LedgerError `account_unknown`
 */
export function* replayAccount(_ctx: Context, account: string): Transaction<Verification> {
  const accounts = yield* readSubtree(account);
  const replay = new Replay(accounts);
  const lines = new MergedLines(accounts);
  let entries = 0;
  for (let line = yield* lines.next(); line !== undefined; line = yield* lines.next()) {
    const misfit = replay.apply(line);
    if (misfit !== undefined) return { ok: false, misfit };
    entries += 1;
  }
  const misfit = replay.compare(accounts);
  return misfit === undefined ? { ok: true, accounts: accounts.length, entries } : { ok: false, misfit };
}

interface Cursor {
  readonly account: string;
  page: readonly StoredEntry[];
  index: number;
  after: number;
  ended: boolean;
}

/** The lines of several chains in the order of the root's revision, a page of each in memory. */
class MergedLines {
  readonly #cursors: readonly Cursor[];

  constructor(accounts: readonly Account[]) {
    this.#cursors = accounts.map(({ id }) => ({ account: id, page: [], index: 0, after: 0, ended: false }));
  }

  *next(): Transaction<StoredEntry | undefined> {
    let first: Cursor | undefined;
    for (const cursor of this.#cursors) {
      if (cursor.index >= cursor.page.length && !cursor.ended) yield* this.#load(cursor);
      const line = cursor.page[cursor.index];
      const best = first?.page[first.index];
      if (line !== undefined && (best === undefined || line.revision < best.revision)) first = cursor;
    }
    if (first === undefined) return undefined;
    first.index += 1;
    return first.page[first.index - 1];
  }

  *#load(cursor: Cursor): Transaction<void> {
    cursor.page = yield* readEntries(cursor.account, cursor.after);
    cursor.index = 0;
    cursor.after = cursor.page.at(-1)?.seq ?? cursor.after;
    cursor.ended = cursor.page.length === 0;
  }
}

interface Replayed {
  readonly parent: string | null;
  status: AccountStatus;
  limits: Limits;
  kinds: Record<string, Totals>;
}

class Replay {
  readonly #accounts = new Map<string, Replayed>();
  readonly #isWholeTree: boolean;
  #revision = 0;

  constructor(accounts: readonly Account[]) {
    this.#isWholeTree = accounts[0]?.parent === null;
    for (const { id, parent } of accounts) this.#accounts.set(id, { parent, status: 'open', limits: {}, kinds: {} });
  }

  apply(line: Entry): Misfit | undefined {
    const misfit = this.#orderMisfit(line) ?? (line.type === 'reserved' ? this.#admissionMisfit(line) : undefined);
    this.#revision = line.revision;
    const account = this.#accounts.get(line.account);
    if (account === undefined || misfit !== undefined) return misfit;
    applyToAccount(account, line);
    if (line.delta === undefined || line.kind === undefined) return undefined;
    for (const each of this.#chainOf(line.account)) {
      each.kinds[line.kind] = addTotals(each.kinds[line.kind] ?? noTotals, unpackTotals(line.delta));
    }
    return undefined;
  }

  compare(accounts: readonly Account[]): Misfit | undefined {
    const wrong = accounts.find((row) => {
      const replayed = this.#accounts.get(row.id);
      return replayed?.status !== row.status || canonicalJson(replayed.limits) !== canonicalJson(row.limits);
    });
    return wrong === undefined
      ? undefined
      : { account: wrong.id, seq: null, problem: "The account's status or limits are not what its lines led to." };
  }

  #orderMisfit({ account, seq, revision }: Entry): Misfit | undefined {
    const expected = this.#revision + 1;
    if (this.#isWholeTree ? revision === expected : revision >= expected) return undefined;
    return { account, seq, problem: `The line has the tree's revision ${revision} where ${expected} was due.` };
  }

  #admissionMisfit(line: Entry): Misfit | undefined {
    const held = unpackTotals(line.delta ?? []);
    const views = this.#chainOf(line.account).map(viewOf).reverse();
    const estimate = { tokens: held.tokens, costMicros: held.unpriced > 0 ? null : held.costMicros };
    const facts = { now: line.at, runRequests: null, attempt: null };
    const decision = decideAdmission(views, { kind: line.kind ?? '', estimate }, facts);
    if (decision.admitted) return undefined;
    return {
      account: line.account,
      seq: line.seq,
      problem: `Request ${line.request} was admitted, but: ${decision.reason.message}`,
    };
  }

  /** The account and its ancestors within the subtree, leaf first. */
  #chainOf(id: string): readonly (Replayed & { readonly id: string })[] {
    const chain: (Replayed & { id: string })[] = [];
    for (let next: string | null = id; next !== null; ) {
      const account = this.#accounts.get(next);
      if (account === undefined) break;
      chain.push(Object.assign(account, { id: next }));
      next = account.parent;
    }
    return chain;
  }
}

function applyToAccount(account: Replayed, line: Entry): void {
  const details = (line.details ?? {}) as { readonly limits?: Limits; readonly stands?: boolean };
  if (line.type === 'created' || line.type === 'extended' || line.type === 'lowered')
    account.limits = details.limits ?? {};
  if (line.type === 'stopped' && details.stands === true) account.status = 'stopped';
  if (line.type === 'resumed') account.status = 'open';
  if (line.type === 'closed') account.status = 'closed';
}

/** What admission sees: windows, whose buckets are not in the lines, are left out. */
function viewOf({ id, status, limits, kinds }: Replayed & { readonly id: string }): AccountView {
  const { windows: _windows, ...checked } = limits;
  return { id, status, limits: checked, kinds, windows: {}, drivers: {}, stopReason: null };
}
