/**
 * Attempts at a subject. An attempt begins with its first admitted request and belongs to one run; a run that continues another is the same
 * attempt. Deferred attempts are given back, with a backoff, at most ten in a row.
 */
import { all, type Context, one, run, type Transaction } from '@stint/storage';
import { requirePerson } from './actors.js';
import { LedgerError } from './errors.js';
import { isCount } from './integers.js';
import { checkId } from './names.js';
import {
  type AttemptInput,
  type AttemptState,
  attemptOf,
  deferredSubject,
  effectiveMaximum,
  newSubject,
  restartedSubject,
  type SubjectRow,
} from './subjects.js';
import { appendEntry, type Chain, leafOf, lockKnownAccount, readAccount, saveChain, unknownAccount } from './tree.js';
import type { Actor } from './types.js';

/** One subject and how often it was attempted. */
export interface SubjectView {
  readonly subject: string;
  readonly attempts: number;
  /** null: no limit. */
  readonly maximum: number | null;
  /** How often a person started the count anew. */
  readonly generation: number;
  readonly retryAfter: number;
}

const mostSubjectsShown = 64;

const subjectColumns = 'subject, attempts, own_maximum, additions, generation, last_run, deferrals, retry_after';
const selectSubject = `SELECT ${subjectColumns} FROM ledger_subjects WHERE account = ? AND subject = ?`;
const selectOpenSubjects = `SELECT ${subjectColumns} FROM ledger_subjects
  WHERE account = ? AND closed = 0 ORDER BY changed_at DESC LIMIT ${mostSubjectsShown}`;
const upsertSubject = `INSERT INTO ledger_subjects
  (account, subject, attempts, own_maximum, additions, generation, last_run, deferrals, retry_after, closed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)
  ON CONFLICT (account, subject) DO UPDATE SET attempts = excluded.attempts, own_maximum = excluded.own_maximum,
    additions = excluded.additions, generation = excluded.generation, last_run = excluded.last_run, deferrals = excluded.deferrals,
    retry_after = excluded.retry_after, closed = 0, changed_at = excluded.changed_at`;
const closeSubjectRow = 'UPDATE ledger_subjects SET closed = 1 WHERE account = ? AND subject = ? AND closed = 0';

/** Reads what a reservation of this attempt would do. The chain is locked. */
export function* planAttempt(chain: Chain, input: AttemptInput | undefined): Transaction<AttemptState | null> {
  if (input === undefined) return null;
  checkAttemptInput(input);
  return attemptOf(chain, yield* readSubject(leafOf(chain).id, input.subject), input);
}

/** Writes that the attempt's run is at work. */
export function* beginAttempt(ctx: Context, chain: Chain, attempt: AttemptState | null): Transaction<void> {
  if (attempt !== null && attempt.begun !== null) yield* writeSubject(ctx, leafOf(chain).id, attempt.begun);
}

/**
 * Gives a deferred attempt back, so that it does not count, and enforces a backoff before the next; the eleventh deferral in a row counts.
 * @returns the time before which the subject is refused
 */
export function* deferAttempt(
  ctx: Context,
  account: string,
  input: { readonly subject: string; readonly run: string },
): Transaction<number> {
  const chain = yield* lockKnownAccount(account);
  const row = yield* readSubject(account, input.subject);
  if (row.last_run !== input.run) return row.retry_after;
  const deferred = deferredSubject(row, ctx.now);
  yield* writeSubject(ctx, account, deferred);
  const details = { deferrals: deferred.deferrals, subject: input.subject };
  yield* appendEntry(ctx, chain, { type: 'attempts', details });
  yield* saveChain(chain);
  return deferred.retry_after;
}

export interface AttemptChange {
  readonly subject: string;
  readonly actor: Actor;
}

/** Starts a subject's count anew, for a person's input or retry. @throws LedgerError `person_required` */
export function* restartAttempts(ctx: Context, account: string, input: AttemptChange): Transaction<void> {
  requirePerson(input.actor, 'start attempts anew');
  const chain = yield* lockKnownAccount(account);
  const row = yield* readSubject(account, input.subject);
  const restarted = restartedSubject(row);
  yield* writeSubject(ctx, account, restarted);
  const details = { generation: restarted.generation, subject: input.subject };
  yield* appendEntry(ctx, chain, { type: 'attempts', actor: input.actor, details });
  yield* saveChain(chain);
}

/** Raises a subject's maximum by a person's addition. @throws LedgerError `person_required`, `invalid_input` */
export function* addAttempts(
  ctx: Context,
  account: string,
  input: AttemptChange & { readonly additions: number },
): Transaction<void> {
  requirePerson(input.actor, 'add attempts');
  if (!isCount(input.additions) || input.additions === 0 || input.additions > 1000) {
    throw new LedgerError('invalid_input', `additions is ${input.additions}; it must be an integer from 1 to 1000.`);
  }
  const chain = yield* lockKnownAccount(account);
  const row = yield* readSubject(account, input.subject);
  yield* writeSubject(ctx, account, { ...row, additions: row.additions + input.additions });
  const details = { additions: input.additions, subject: input.subject };
  yield* appendEntry(ctx, chain, { type: 'attempts', actor: input.actor, details });
  yield* saveChain(chain);
}

/** Marks a subject as over: snapshots no longer list it. The count stays. @returns false if it was over, or never attempted */
export function* closeSubject(ctx: Context, account: string, subject: string): Transaction<boolean> {
  const chain = yield* lockKnownAccount(account);
  if ((yield* run(closeSubjectRow, [account, subject])) === 0) return false;
  yield* appendEntry(ctx, chain, { type: 'attempts', details: { closed: true, subject } });
  yield* saveChain(chain);
  return true;
}

/** A subject's count, open or not; one that was never attempted has 0. @throws LedgerError `account_unknown` */
export function* readAttempts(_ctx: Context, account: string, subject: string): Transaction<SubjectView> {
  const chain = yield* readAccount(account);
  if (chain === undefined) throw unknownAccount(account);
  return viewOf(chain, yield* readSubject(account, subject));
}

/** The newest open subjects, at most 64. */
export function* openSubjects(chain: Chain): Transaction<readonly SubjectView[]> {
  const rows = yield* all<SubjectRow>(selectOpenSubjects, [leafOf(chain).id]);
  return rows.map((row) => viewOf(chain, row));
}

function viewOf(chain: Chain, row: SubjectRow): SubjectView {
  return {
    subject: row.subject,
    attempts: row.attempts,
    maximum: effectiveMaximum(chain, row.own_maximum, row.additions),
    generation: row.generation,
    retryAfter: row.retry_after,
  };
}

function* readSubject(account: string, subject: string): Transaction<SubjectRow> {
  const row = yield* one<SubjectRow>(selectSubject, [account, subject]);
  return row ?? newSubject(subject);
}

function* writeSubject(ctx: Context, account: string, row: SubjectRow): Transaction<void> {
  yield* run(upsertSubject, [
    account,
    row.subject,
    row.attempts,
    row.own_maximum,
    row.additions,
    row.generation,
    row.last_run,
    row.deferrals,
    row.retry_after,
    ctx.now,
  ]);
}

function checkAttemptInput(input: AttemptInput): void {
  checkId('attempt.subject', input.subject);
  checkId('attempt.run', input.run);
  if (input.continues !== undefined) checkId('attempt.continues', input.continues);
  if (input.maxAttempts === undefined || isCount(input.maxAttempts)) return;
  throw new LedgerError(
    'invalid_input',
    `attempt.maxAttempts is ${String(input.maxAttempts)}; it must be an integer from 0.`,
  );
}
