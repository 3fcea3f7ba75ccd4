import { type Context, type Database, isStoreError, type Transaction } from '@stint/storage';
import { type CreateAccountInput, createAccount } from './accounts.js';
import {
  type ChangeResult,
  closeAccount,
  type ExtendInput,
  extendAccount,
  type LowerInput,
  lowerAccount,
  type ResumeInput,
  type ResumeResult,
  resumeAccount,
} from './administration.js';
import {
  type AttemptChange,
  addAttempts,
  closeSubject,
  deferAttempt,
  readAttempts,
  restartAttempts,
  type SubjectView,
} from './attempts.js';
import { type FailureResult, recordFailure, recordSuccess } from './failures.js';
import { type ReconcileInput, reconcileRequest } from './reconcile.js';
import type { StoredEntry } from './entries.js';
import { exportEntries, type ListOptions, listRequests } from './reports.js';
import { replayAccount } from './replay.js';
import { type Verification, verifyAccount } from './verify.js';
import type { Usage } from '@stint/provider-hooks';
import { costBy } from './cost.js';
import type { Estimate, EstimatedRequest, EstimateOptions } from './estimate.js';
import { createEstimator, type EstimateReport, type Estimator, estimateReport } from './estimator.js';
import type { PriceBook } from './price-book.js';
import { defaultPriceBook } from './price-data.js';
import { recoverRequests } from './recover.js';
import { type LedgerRequest, readRequest } from './requests.js';
import { type ReserveInput, type ReserveResult, reserveRequest } from './reserve.js';
import { ledgerMigrations } from './schema.js';
import {
  markRequestUnknown,
  type ReleaseProof,
  releaseRequest,
  type SettleInput,
  type SettleResult,
  settleRequest,
} from './settle.js';
import { type AccountSnapshot, snapshotAccount } from './snapshot.js';
import { type StopInput, type StopResult, stopAccount } from './stop.js';
import { type StopNotice, StopWatch } from './stop-watch.js';
import type { Actor, RefusalReason } from './types.js';
import { roomsMade, waitForRoom, wakeWaiters } from './waiters.js';

const pollMs = 250;
const defaultRoomTimeoutMs = 60_000;

export interface LedgerOptions extends EstimateOptions {
  /** Told of errors in the background: a stop subscription that could not read the store. @default process.emitWarning */
  readonly onError?: (error: unknown) => void;
}

export interface WaitOptions {
  /** How long to wait for room. @default 60000 */
  readonly timeoutMs?: number;
  /** Ends the wait; the last refusal is answered. */
  readonly signal?: AbortSignal;
}

/** The ledger on one database: each method is the body of the same name in a transaction of its own. */
export class Ledger {
  readonly #db: Database;
  readonly #stops: StopWatch;
  readonly #estimator: Estimator;
  readonly #prices: PriceBook;

  constructor(db: Database, options: LedgerOptions = {}) {
    this.#db = db;
    this.#prices = options.prices ?? defaultPriceBook;
    this.#estimator = createEstimator({ ...options, prices: this.#prices });
    this.#stops = new StopWatch(db, options.onError ?? warn);
  }

  /** Brings the ledger's tables up to date. Call once before anything else. */
  async migrate(): Promise<void> {
    await this.#db.migrate(ledgerMigrations);
  }

  async createAccount(input: CreateAccountInput): Promise<boolean> {
    return await this.#write((ctx) => createAccount(ctx, input));
  }

  /** Admits or refuses. A store that cannot answer refuses with `ledger_unavailable`: nothing is ever sent without a hold. */
  async reserveRequest(input: ReserveInput): Promise<ReserveResult> {
    try {
      return await this.#write((ctx) => reserveRequest(ctx, input));
    } catch (error) {
      if (!isStoreError(error)) throw error;
      return { allowed: false, reason: unavailable(input.account, error) };
    }
  }

  /** Like `reserveRequest`, but waits while only holds in flight, a window or a backoff are in the way. */
  async reserveWhenRoom(input: ReserveInput, options: WaitOptions = {}): Promise<ReserveResult> {
    const deadline = performance.now() + (options.timeoutMs ?? defaultRoomTimeoutMs);
    for (;;) {
      const since = roomsMade(this.#db);
      const result = await this.reserveRequest(input);
      const leftMs = deadline - performance.now();
      if (result.allowed || !mayPass(result.reason) || leftMs <= 0 || options.signal?.aborted === true) return result;
      await waitForRoom(this.#db, { since, atMostMs: Math.min(pollMs, leftMs), signal: options.signal });
    }
  }

  /** The tokens and the cost that a request may take at most, with the prices of this ledger. @throws LedgerError `invalid_estimate` */
  estimateRequest(request: EstimatedRequest): Estimate {
    return this.#estimator.estimate(request);
  }

  /** Tells what an estimated request really took: later estimates for that model may be raised by it. */
  observeUsage(model: string, estimate: Estimate, usage: Usage): void {
    this.#estimator.observe(model, estimate, usage);
  }

  /** Settles; without `costMicros` the usage is priced by `model`, the one that answered (else the one asked for). */
  async settleRequest(id: string, input: SettleInput & { readonly model?: string }): Promise<SettleResult> {
    const { costMicros = costBy(this.#prices, input.model), ...rest } = input;
    return await this.#writeAndWake((ctx) => settleRequest(ctx, id, { ...rest, costMicros }));
  }

  async releaseRequest(id: string, proof: ReleaseProof): Promise<boolean> {
    return await this.#writeAndWake((ctx) => releaseRequest(ctx, id, proof));
  }

  /** The request's outcome is not known: its hold stays charged, or more if the usage so far says more. */
  async markRequestUnknown(id: string, usage: SettleInput['usage'] = null): Promise<SettleResult> {
    return await this.#writeAndWake((ctx) => markRequestUnknown(ctx, id, usage, costBy(this.#prices)));
  }

  /** Without `costMicros` the usage is priced by the model that was asked for. */
  async reconcileRequest(id: string, found: ReconcileInput, actor: Actor): Promise<SettleResult> {
    const figures = found === 'not_billed' ? found : { ...found, costMicros: found.costMicros ?? costBy(this.#prices) };
    return await this.#writeAndWake((ctx) => reconcileRequest(ctx, id, figures, actor));
  }

  /** Marks the reservations of dead processes unknown. Answers how many. */
  async recoverRequests(): Promise<number> {
    const recovered = await recoverRequests(this.#db);
    if (recovered > 0) wakeWaiters(this.#db);
    return recovered;
  }

  async readRequest(id: string): Promise<LedgerRequest | undefined> {
    return await this.#db.read(() => readRequest(id));
  }

  async snapshotAccount(account: string): Promise<AccountSnapshot> {
    return await this.#db.read((ctx) => snapshotAccount(ctx, account));
  }

  async stopAccount(account: string, input: StopInput): Promise<StopResult> {
    return await this.#write((ctx) => stopAccount(ctx, account, input));
  }

  async extendAccount(account: string, input: ExtendInput): Promise<ChangeResult> {
    return await this.#writeAndWake((ctx) => extendAccount(ctx, account, input));
  }

  async lowerAccount(account: string, input: LowerInput): Promise<ChangeResult> {
    return await this.#write((ctx) => lowerAccount(ctx, account, input));
  }

  async resumeAccount(account: string, input: ResumeInput): Promise<ResumeResult> {
    return await this.#writeAndWake((ctx) => resumeAccount(ctx, account, input));
  }

  async closeAccount(account: string, actor?: Actor): Promise<boolean> {
    return await this.#write((ctx) => closeAccount(ctx, account, actor));
  }

  async recordFailure(account: string, driver: string): Promise<FailureResult> {
    return await this.#write((ctx) => recordFailure(ctx, account, driver));
  }

  async recordSuccess(account: string, driver: string): Promise<boolean> {
    return await this.#write((ctx) => recordSuccess(ctx, account, driver));
  }

  async deferAttempt(account: string, input: { readonly subject: string; readonly run: string }): Promise<number> {
    return await this.#write((ctx) => deferAttempt(ctx, account, input));
  }

  async restartAttempts(account: string, input: AttemptChange): Promise<void> {
    await this.#write((ctx) => restartAttempts(ctx, account, input));
  }

  async addAttempts(account: string, input: AttemptChange & { readonly additions: number }): Promise<void> {
    await this.#write((ctx) => addAttempts(ctx, account, input));
  }

  async readAttempts(account: string, subject: string): Promise<SubjectView> {
    return await this.#db.read((ctx) => readAttempts(ctx, account, subject));
  }

  async closeSubject(account: string, subject: string): Promise<boolean> {
    return await this.#write((ctx) => closeSubject(ctx, account, subject));
  }

  /** Checks hashes, sums and requests of the account and of all beneath it, in one consistent read. */
  async verifyAccount(account: string): Promise<Verification> {
    return await this.#db.read((ctx) => verifyAccount(ctx, account));
  }

  /** Runs the journal again and checks every admission at its place. */
  async replayAccount(account: string): Promise<Verification> {
    return await this.#db.read((ctx) => replayAccount(ctx, account));
  }

  async listRequests(account: string, options: ListOptions): Promise<readonly LedgerRequest[]> {
    return await this.#db.read((ctx) => listRequests(ctx, account, options));
  }

  /** A page of the account's own journal lines after `afterSeq`, oldest first; empty at the end. */
  async exportEntries(account: string, afterSeq = 0): Promise<readonly StoredEntry[]> {
    return await this.#db.read((ctx) => exportEntries(ctx, account, afterSeq));
  }

  /** How good the estimates were, by model. Reads the whole history of the account. */
  async estimateReport(account: string): Promise<readonly EstimateReport[]> {
    return await this.#db.read((ctx) => estimateReport(ctx, account));
  }

  /** Tells the listener of each stop of the account or of an ancestor, the present one too. Answers the way to end it. */
  onStop(account: string, listener: (notice: StopNotice) => void): () => void {
    return this.#stops.watch(account, listener);
  }

  async #write<T>(body: (ctx: Context) => Transaction<T>): Promise<T> {
    return await this.#db.write(body);
  }

  async #writeAndWake<T>(body: (ctx: Context) => Transaction<T>): Promise<T> {
    const result = await this.#db.write(body);
    wakeWaiters(this.#db);
    return result;
  }
}

/** Puts a ledger on an open database. Nothing is read or written until a method is called. */
export function createLedger(db: Database, options: LedgerOptions = {}): Ledger {
  return new Ledger(db, options);
}

const passingCodes = ['backing_off', 'concurrency_exhausted', 'window_exhausted'];

function mayPass(reason: RefusalReason): boolean {
  return reason.heldByOthers === true || (passingCodes.includes(reason.code) && reason.limit !== 0);
}

function unavailable(account: string, error: Error): RefusalReason {
  return {
    code: 'ledger_unavailable',
    account,
    message: `The ledger's store could not answer (${error.message}); nothing was admitted. This says nothing about the budget.`,
  };
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
