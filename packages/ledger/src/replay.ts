/** Runs an account's journal again, line by line in the order in which it happened, and asks at every admission whether it was right. */
import { all, type Context, type Row, type Transaction } from '@stint/storage';
import { admissionFacts, decideAdmission } from './admission.js';
import { canonicalJson, type StoredEntry } from './entries.js';
import { MergedLines } from './merged-lines.js';
import { ReplayedAccount } from './replayed-account.js';
import type { ReservedDetails } from './reserve.js';
import { attemptOf } from './subjects.js';
import { contributionOf, packTotals, unpackTotals } from './totals.js';
import type { Account } from './tree.js';
import type { Totals } from './types.js';
import { type Misfit, readSubtree, type Verification } from './verify.js';

const selectSubjects = `SELECT subject, attempts, own_maximum, additions, generation, last_run, deferrals, retry_after, closed
  FROM ledger_subjects WHERE account = ?`;

/**
 * Proves at every prefix of the journal what `verifyAccount` proves of its sums: that no line admitted a request which `decideAdmission`
 * would have refused by any of its checks (stops, backoffs, runs, attempts, requests, tokens, cost, protection, concurrency, windows), that
 * only people changed limits, resumed and gave attempts, and that the rows of accounts and subjects are what the lines led to. Reads the
 * whole journal and keeps one number for each request under a window. Beneath a root, limits above the account are not looked at.
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
  const misfit = replay.compareAccounts(accounts) ?? (yield* replay.compareSubjects());
  return misfit === undefined ? { ok: true, accounts: accounts.length, entries } : { ok: false, misfit };
}

class Replay {
  /** Each account's chain: root, or the account asked for, first. */
  readonly #chains = new Map<string, readonly ReplayedAccount[]>();
  readonly #isWholeTree: boolean;
  readonly #runRequests = new Map<string, number>();
  /** Where requests count in windows, for those whose chain has any. */
  readonly #bookedAt = new Map<string, number>();
  #revision = 0;

  /** @param accounts parents first */
  constructor(accounts: readonly Account[]) {
    this.#isWholeTree = accounts[0]?.parent === null;
    for (const { id, parent } of accounts) {
      const above = parent === null ? [] : (this.#chains.get(parent) ?? []);
      this.#chains.set(id, [...above, new ReplayedAccount(id)]);
    }
  }

  apply(line: StoredEntry): Misfit | undefined {
    const chain = this.#chains.get(line.account);
    const account = chain?.at(-1);
    if (chain === undefined || account === undefined) return misfitAt(line, 'No such account is in the tree.');
    const problem = this.#orderProblem(line) ?? this.#play(line, chain, account);
    this.#revision = line.revision;
    return problem === undefined ? undefined : misfitAt(line, problem);
  }

  #orderProblem({ revision }: StoredEntry): string | undefined {
    const expected = this.#revision + 1;
    if (this.#isWholeTree ? revision === expected : revision >= expected) return undefined;
    return `The line has the tree's revision ${revision} where ${expected} was due.`;
  }

  #play(line: StoredEntry, chain: readonly ReplayedAccount[], account: ReplayedAccount): string | undefined {
    if (line.type === 'reserved') return this.#admit(line, chain, account);
    const problem = account.apply(line);
    if (problem !== undefined || line.delta === undefined) return problem;
    const delta = unpackTotals(line.delta);
    if (delta.requests !== 0) return 'It is no admission and yet counts a request.';
    return bookIn(chain, line, { delta, bookedAt: this.#bookedAt.get(line.request ?? '') ?? line.at });
  }

  #admit(line: StoredEntry, chain: readonly ReplayedAccount[], account: ReplayedAccount): string | undefined {
    const delta = unpackTotals(line.delta ?? []);
    const details = (line.details ?? {}) as ReservedDetails;
    const estimate = { tokens: delta.tokens, costMicros: delta.unpriced > 0 ? null : delta.costMicros };
    if (!isHold(delta, estimate)) return 'Its sums are not those of one hold.';
    const attempt = details.attempt;
    const facts = admissionFacts(chain, line.at, {
      runRequests: this.#countRun(details.run),
      attempt: attempt === undefined ? null : attemptOf(chain, account.subject(attempt.subject), attempt),
    });
    const bookedAt = details.bookedAt ?? line.at;
    const decision = decideAdmission(
      chain,
      { kind: line.kind ?? '', estimate, ...(details.driver === undefined ? {} : { driver: details.driver }) },
      { ...facts, bookedAt },
    );
    if (!decision.admitted) return `Request ${line.request} was admitted, but: ${decision.reason.message}`;
    account.begin(details, chain);
    if (chain.some(({ limits }) => limits.windows !== undefined)) this.#bookedAt.set(line.request ?? '', bookedAt);
    return bookIn(chain, line, { delta, bookedAt });
  }

  /** The requests that the run has made so far; counts this one. */
  #countRun(run: string | undefined): number | null {
    if (run === undefined) return null;
    const made = this.#runRequests.get(run) ?? 0;
    this.#runRequests.set(run, made + 1);
    return made;
  }

  compareAccounts(accounts: readonly Account[]): Misfit | undefined {
    for (const row of accounts) {
      const part = this.#chains.get(row.id)?.at(-1)?.differenceFrom(row);
      if (part === undefined) continue;
      return { account: row.id, seq: null, problem: `The account's ${part} are not what its lines led to.` };
    }
    return undefined;
  }

  *compareSubjects(): Transaction<Misfit | undefined> {
    for (const [id, chain] of this.#chains) {
      const stored = bySubject(yield* all<Row & { readonly subject: string }>(selectSubjects, [id]));
      const subjects = bySubject([...(chain.at(-1)?.subjects.values() ?? [])]);
      const replayed = subjects.map((subject) => ({ ...subject, closed: subject.closed ? 1 : 0 }));
      if (canonicalJson(stored) === canonicalJson(replayed)) continue;
      return {
        account: id,
        seq: null,
        problem: "The attempts at the account's subjects are not what its lines led to.",
      };
    }
    return undefined;
  }
}

/** In the order of code units, whatever the store's collation is. */
function bySubject<T extends { readonly subject: string }>(rows: readonly T[]): readonly T[] {
  return [...rows].sort((left, right) => (left.subject < right.subject ? -1 : 1));
}

interface Booking {
  readonly delta: Totals;
  readonly bookedAt: number;
}

function bookIn(
  chain: readonly ReplayedAccount[],
  { kind = '' }: StoredEntry,
  { delta, bookedAt }: Booking,
): string | undefined {
  let problem: string | undefined;
  for (const each of chain) problem = each.book(kind, delta, bookedAt) ?? problem;
  return problem;
}

/** True for the sums of one open reservation. */
function isHold(delta: Totals, { tokens, costMicros }: { tokens: number; costMicros: number | null }): boolean {
  const hold = contributionOf({
    status: 'reserved',
    chargedTokens: tokens,
    chargedCostMicros: costMicros,
    complete: false,
    unpriced: costMicros === null,
  });
  return canonicalJson(packTotals(hold)) === canonicalJson(packTotals(delta));
}

function misfitAt({ account, seq }: StoredEntry, problem: string): Misfit {
  return { account, seq, problem };
}
