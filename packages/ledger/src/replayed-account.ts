/** An account as its lines alone say it is. */
import { backoffMs } from './backoff.js';
import { canonicalJson, type Entry } from './entries.js';
import { ownValue } from './names.js';
import type { ReservedDetails } from './reserve.js';
import { attemptOf, deferredSubject, newSubject, restartedSubject, type SubjectRow } from './subjects.js';
import { addTotals, noTotals, packTotals } from './totals.js';
import type { Account } from './tree.js';
import type {
  AccountStatus,
  AccountView,
  Actor,
  DriverFailures,
  Limits,
  StopReason,
  Totals,
  WindowTotals,
} from './types.js';
import { bookInWindows } from './windows.js';

/** `closed` as the row of a subject keeps it. */
export interface ReplayedSubject extends SubjectRow {
  readonly closed: boolean;
}

/** Changes that only these actors may have made. */
const allowedActors: Readonly<Record<string, readonly Actor['kind'][]>> = {
  extended: ['person'],
  lowered: ['person'],
  resumed: ['person'],
};

interface Details {
  readonly limits?: Limits;
  readonly stands?: boolean;
  readonly driver?: string;
  readonly failures?: number;
  readonly subject?: string;
  readonly deferrals?: number;
  readonly generation?: number;
  readonly additions?: number;
  readonly closed?: boolean;
}

export class ReplayedAccount implements AccountView {
  readonly id: string;
  status: AccountStatus = 'open';
  limits: Limits = {};
  stopReason: StopReason | null = null;
  revision = 1;
  readonly kinds: Record<string, Totals> = {};
  readonly windows: Record<string, WindowTotals> = {};
  readonly drivers: Record<string, DriverFailures> = {};
  readonly subjects = new Map<string, ReplayedSubject>();

  constructor(id: string) {
    this.id = id;
  }

  subject(name: string): ReplayedSubject {
    return this.subjects.get(name) ?? { ...newSubject(name), closed: false };
  }

  /** Books a change of the sums. @returns what is wrong with it */
  book(kind: string, delta: Totals, bookedAt: number): string | undefined {
    const sums = addTotals(ownValue(this.kinds, kind) ?? noTotals, delta);
    this.kinds[kind] = sums;
    bookInWindows(this, delta, bookedAt);
    const below = Object.entries(sums).find(([, sum]) => sum < 0);
    return below === undefined ? undefined : `It brings ${below[0]} of kind ${kind} in account ${this.id} below 0.`;
  }

  /** What the line of an admission does beside the sums. @param chain limits of the account and its ancestors */
  begin({ attempt }: ReservedDetails, chain: readonly AccountView[]): void {
    if (attempt === undefined) return;
    const { begun } = attemptOf(chain, this.subject(attempt.subject), attempt);
    if (begun !== null) this.subjects.set(attempt.subject, { ...begun, closed: false });
  }

  /** Any other line. @returns what is wrong with it */
  apply(line: Entry): string | undefined {
    const details = (line.details ?? {}) as Details;
    const allowed = ownValue(allowedActors, line.type) ?? (isPersonsAttempt(details) ? ['person'] : undefined);
    if (allowed !== undefined && !allowed.includes(line.actor?.kind ?? 'system'))
      return `It is a change that only a person may make, made by ${line.actor?.kind ?? 'nobody'}.`;
    return this.#change(line, details);
  }

  #change(line: Entry, details: Details): string | undefined {
    switch (line.type) {
      case 'created':
        this.limits = details.limits ?? {};
        return undefined;
      case 'extended':
      case 'lowered':
        this.limits = details.limits ?? {};
        this.revision += 1;
        return undefined;
      case 'stopped':
        return this.#stop(line, details);
      case 'resumed':
        return this.#resume();
      case 'closed':
        this.status = 'closed';
        this.revision += 1;
        return undefined;
      case 'failed':
        return this.#fail(line, details);
      case 'succeeded':
        delete this.drivers[details.driver ?? ''];
        return undefined;
      case 'attempts':
        this.#changeSubject(line, details);
        return undefined;
      default:
        return undefined;
    }
  }

  #stop(line: Entry, { stands, ...facts }: Details): string | undefined {
    const reason = { ...facts, ...(line.actor === undefined ? {} : { actor: line.actor }) } as unknown as StopReason;
    if (stands !== (this.status === 'open'))
      return `It says that the stop ${stands === true ? 'stands' : 'is a later one'}.`;
    if (stands === true) {
      this.status = 'stopped';
      this.stopReason = reason;
      this.revision += 1;
    } else if (this.status === 'stopped' && this.stopReason !== null && reason.aborts && !this.stopReason.aborts) {
      this.stopReason = { ...this.stopReason, aborts: true };
      this.revision += 1;
    }
    return undefined;
  }

  #resume(): string | undefined {
    if (this.status !== 'stopped') return `The account was ${this.status}, so there was nothing to resume.`;
    this.status = 'open';
    this.stopReason = null;
    this.revision += 1;
    for (const [driver, { failures }] of Object.entries(this.drivers))
      this.drivers[driver] = { failures, retryAfter: 0 };
    return undefined;
  }

  #fail({ at }: Entry, { driver = '', failures = 0 }: Details): string | undefined {
    const expected = (ownValue(this.drivers, driver)?.failures ?? 0) + 1;
    this.drivers[driver] = { failures, retryAfter: at + backoffMs(failures) };
    return failures === expected ? undefined : `It is failure ${failures} of ${driver} where ${expected} was due.`;
  }

  #changeSubject({ at }: Entry, { subject = '', deferrals, generation, additions, closed }: Details): void {
    const before = this.subject(subject);
    let after: SubjectRow = before;
    if (deferrals !== undefined) after = deferredSubject(before, at);
    else if (generation !== undefined) after = restartedSubject(before);
    else if (additions !== undefined) after = { ...before, additions: before.additions + additions };
    this.subjects.set(subject, { ...after, closed: closed === true });
  }

  /** What the account's row has otherwise than the lines say; undefined if nothing. */
  differenceFrom(row: Account): string | undefined {
    const parts: readonly (readonly [string, unknown, unknown])[] = [
      ['status', row.status, this.status],
      ['limits', row.limits, this.limits],
      ['stop reason', row.stopReason, this.stopReason],
      ['revision', row.revision, this.revision],
      ['windows', row.windows, this.windows],
      ['failures', row.drivers, this.drivers],
      ['sums', packedKinds(row.kinds), packedKinds(this.kinds)],
    ];
    return parts.find(([, stored, replayed]) => canonicalJson(stored) !== canonicalJson(replayed))?.[0];
  }
}

function isPersonsAttempt({ generation, additions }: Details): boolean {
  return generation !== undefined || additions !== undefined;
}

function packedKinds(kinds: Readonly<Record<string, Totals>>): Record<string, readonly number[]> {
  return Object.fromEntries(Object.entries(kinds).map(([kind, totals]) => [kind, packTotals(totals)]));
}
