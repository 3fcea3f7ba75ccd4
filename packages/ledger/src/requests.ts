import type { Usage } from '@stint/provider-hooks';
import { one, type Row, run, type Transaction } from '@stint/storage';
import { contributionOf } from './totals.js';
import { packUsage, unpackUsage } from './usage.js';
import type { AskedAmount, RequestStatus, Totals } from './types.js';

/** One provider request: its reservation and its settlement. */
export interface LedgerRequest {
  readonly id: string;
  readonly account: string;
  readonly kind: string;
  readonly run: string | null;
  readonly driver: string | null;
  readonly subject: string | null;
  readonly retryOf: string | null;
  readonly model: string;
  readonly priceVersion: string | null;
  readonly estimate: AskedAmount;
  readonly chargedTokens: number;
  /** null: no price was known and no money cap bound. */
  readonly chargedCostMicros: number | null;
  readonly status: RequestStatus;
  /** The provider's stop event was seen. */
  readonly complete: boolean;
  /** The charged cost is not a measured one. */
  readonly unpriced: boolean;
  /** Charged above its hold. */
  readonly overshoot: boolean;
  /** Usage arrived although the request had been released by proof. */
  readonly discrepancy: boolean;
  readonly usage: Usage | null;
  /** Why it was released: `not_sent`, `refused` or `not_billed`. */
  readonly proof: string | null;
  /** Heartbeat row of the process that reserved it. */
  readonly owner: string;
  readonly reservedAt: number;
  readonly settledAt: number | null;
}

export const requestColumns = `id, account, kind, run, driver, subject, retry_of, model, price_version, estimate_tokens, estimate_cost,
  charged_tokens, charged_cost, status, complete, unpriced, overshoot, discrepancy, usage, proof, owner, reserved_at, settled_at`;

const selectRequest = `SELECT ${requestColumns} FROM ledger_requests WHERE id = ?`;
const lockRequestById = `${selectRequest} FOR NO KEY UPDATE`;
const updateRequest = `UPDATE ledger_requests SET charged_tokens = ?, charged_cost = ?, status = ?, complete = ?, unpriced = ?,
  overshoot = ?, discrepancy = ?, usage = ?, proof = ?, settled_at = ? WHERE id = ?`;

/** Reads one request, without a lock. */
export function* readRequest(id: string): Transaction<LedgerRequest | undefined> {
  const row = yield* one(selectRequest, [id]);
  return row === undefined ? undefined : requestOf(row);
}

/** Reads and locks one request; its account's chain is locked before. */
export function* lockRequest(id: string): Transaction<LedgerRequest | undefined> {
  const row = yield* one(lockRequestById, [id]);
  return row === undefined ? undefined : requestOf(row);
}

/** Writes the settlement part of a request and answers by how much its account's sums move. */
export function* saveRequest(before: LedgerRequest, after: LedgerRequest): Transaction<Pair> {
  yield* run(updateRequest, [
    after.chargedTokens,
    after.chargedCostMicros,
    after.status,
    after.complete ? 1 : 0,
    after.unpriced ? 1 : 0,
    after.overshoot ? 1 : 0,
    after.discrepancy ? 1 : 0,
    packUsage(after.usage),
    after.proof,
    after.settledAt,
    after.id,
  ]);
  return { before: contributionOf(before), after: contributionOf(after) };
}

/** What a request contributed to its account before and after a change. */
export interface Pair {
  readonly before: Totals;
  readonly after: Totals;
}

export function requestOf(row: Row): LedgerRequest {
  return {
    id: row.id as string,
    account: row.account as string,
    kind: row.kind as string,
    run: row.run as string | null,
    driver: row.driver as string | null,
    subject: row.subject as string | null,
    retryOf: row.retry_of as string | null,
    model: row.model as string,
    priceVersion: row.price_version as string | null,
    estimate: { tokens: row.estimate_tokens as number, costMicros: row.estimate_cost as number | null },
    chargedTokens: row.charged_tokens as number,
    chargedCostMicros: row.charged_cost as number | null,
    status: row.status as RequestStatus,
    complete: row.complete === 1,
    unpriced: row.unpriced === 1,
    overshoot: row.overshoot === 1,
    discrepancy: row.discrepancy === 1,
    usage: unpackUsage(row.usage as string | null),
    proof: row.proof as string | null,
    owner: row.owner as string,
    reservedAt: row.reserved_at as number,
    settledAt: row.settled_at as number | null,
  };
}
