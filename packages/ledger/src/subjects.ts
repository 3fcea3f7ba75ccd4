/** What happens to a subject's count of attempts. Pure: live and in a replay the same facts give the same row. */
import { backoffMs } from './backoff.js';
import type { Limits } from './types.js';

export interface AttemptInput {
  /** What is attempted, as an Action's id. */
  readonly subject: string;
  /** The run that attempts it. */
  readonly run: string;
  /** A maximum below the account's limit. @default the limit */
  readonly maxAttempts?: number;
  /** The run that this one continues (after waiting): the same attempt then. */
  readonly continues?: string;
}

/** One subject's count as its row keeps it. */
export interface SubjectRow {
  readonly subject: string;
  readonly attempts: number;
  readonly own_maximum: number | null;
  readonly additions: number;
  readonly generation: number;
  readonly last_run: string | null;
  readonly deferrals: number;
  readonly retry_after: number;
}

/** A subject as reserve plans with it. */
export interface AttemptState {
  readonly input: AttemptInput;
  /** False if the run's attempt has begun already. */
  readonly begins: boolean;
  /** The attempt's number, if this begins one. */
  readonly number: number;
  readonly maximum: number | null;
  readonly retryAfter: number;
  /** The row once the request is admitted; null if it stays as it is. */
  readonly begun: SubjectRow | null;
}

const mostDeferralsInARow = 10;

/** A subject that was never attempted. */
export function newSubject(subject: string): SubjectRow {
  return {
    subject,
    attempts: 0,
    own_maximum: null,
    additions: 0,
    generation: 0,
    last_run: null,
    deferrals: 0,
    retry_after: 0,
  };
}

/** What an admission under these limits, leaf or root first, would do to the subject. */
export function attemptOf(
  chain: Iterable<{ readonly limits: Limits }>,
  row: SubjectRow,
  input: AttemptInput,
): AttemptState {
  const isSameRun = row.last_run === input.run;
  const continues = input.continues !== undefined && row.last_run === input.continues;
  const begins = !isSameRun && !continues;
  const ownMaximum = input.maxAttempts ?? row.own_maximum;
  const { subject, run, maxAttempts, continues: continued } = input;
  return {
    input: {
      subject,
      run,
      ...(maxAttempts === undefined ? {} : { maxAttempts }),
      ...(continued === undefined ? {} : { continues: continued }),
    },
    begins,
    number: row.attempts + 1,
    maximum: effectiveMaximum(chain, ownMaximum, row.additions),
    retryAfter: row.retry_after,
    begun: isSameRun
      ? null
      : {
          ...row,
          attempts: row.attempts + (begins ? 1 : 0),
          own_maximum: ownMaximum,
          last_run: input.run,
          deferrals: row.last_run === null ? row.deferrals : 0,
        },
  };
}

/** The lowest limit of the chain and the own maximum, plus what people added. */
export function effectiveMaximum(
  chain: Iterable<{ readonly limits: Limits }>,
  own: number | null,
  additions: number,
): number | null {
  let lowest = own;
  for (const { limits } of chain) {
    const limit = limits.maxAttempts ?? null;
    if (limit !== null && (lowest === null || limit < lowest)) lowest = limit;
  }
  return lowest === null ? null : lowest + additions;
}

/** The attempt was put off: it does not count, at most ten times in a row, and the next waits. */
export function deferredSubject(row: SubjectRow, now: number): SubjectRow {
  const deferrals = row.deferrals + 1;
  const isGivenBack = deferrals <= mostDeferralsInARow;
  return {
    ...row,
    attempts: Math.max(0, row.attempts - (isGivenBack ? 1 : 0)),
    last_run: null,
    deferrals,
    retry_after: now + backoffMs(deferrals),
  };
}

/** A person started the count anew. */
export function restartedSubject(row: SubjectRow): SubjectRow {
  return { ...newSubject(row.subject), own_maximum: row.own_maximum, generation: row.generation + 1 };
}
