export { type AccountSnapshot, snapshotAccount } from './snapshot.js';
export { type CreateAccountInput, createAccount } from './accounts.js';
export {
  type ChangeResult,
  closeAccount,
  type ExtendInput,
  extendAccount,
  type LimitAdditions,
  type LowerInput,
  lowerAccount,
  type ResumeInput,
  type ResumeResult,
  resumeAccount,
} from './administration.js';
export { type AdmissionFacts, type AskedRequest, type Decision, decideAdmission } from './admission.js';
export {
  type AttemptChange,
  type AttemptInput,
  addAttempts,
  closeSubject,
  deferAttempt,
  readAttempts,
  restartAttempts,
  type SubjectView,
} from './attempts.js';
export { isLedgerError, LedgerError, type LedgerErrorCode, type LedgerErrorOptions } from './errors.js';
export { type FailureResult, recordFailure, recordSuccess } from './failures.js';
export { type LimitSource, type NumericLimit, numericLimits, parseLimits } from './limits.js';
export { type ReconcileInput, reconcileRequest } from './reconcile.js';
export { findOrphanedRequests, recoverRequest, recoverRequests } from './recover.js';
export { type LedgerRequest, readRequest } from './requests.js';
export { type ReserveInput, type ReserveResult, reserveRequest } from './reserve.js';
export { ledgerMigrations } from './schema.js';
export {
  markRequestUnknown,
  type NotSettled,
  type ReleaseProof,
  releaseRequest,
  type Settled,
  type SettleInput,
  type SettleResult,
  settleRequest,
} from './settle.js';
export { type StopInput, type StopResult, stopAccount } from './stop.js';
export type {
  AccountStatus,
  AccountView,
  Actor,
  AskedAmount,
  DriverFailures,
  Limits,
  Protection,
  RefusalCode,
  RefusalReason,
  RequestStatus,
  StopReason,
  TokenAccounting,
  Totals,
  WindowLimit,
  WindowPeriod,
  WindowTotals,
} from './types.js';
export { createLedger, Ledger, type LedgerOptions, type WaitOptions } from './ledger.js';
export { type StopNotice } from './stop-watch.js';
export { wakeWaiters } from './waiters.js';
export {
  exportEntries,
  type ListOptions,
  listRequests,
  type RequestFlag,
  type RunTotals,
  readCharges,
  runTotals,
} from './reports.js';
export { replayAccount } from './replay.js';
export { type Misfit, type Verification, verifyAccount } from './verify.js';
export type { Entry, EntryType, StoredEntry } from './entries.js';
export { type CostOfRequest } from './settle.js';
export { answeredModel, type CostOptions, costBy, costOfUsage } from './cost.js';
export { type Estimate, type EstimatedRequest, type EstimateOptions, estimateRequest } from './estimate.js';
export { createEstimator, type EstimateReport, type Estimator, estimateReport } from './estimator.js';
export type { PartRules } from './message-tokens.js';
export {
  type ModelPrice,
  nearestModel,
  overridePrices,
  type PriceBook,
  type PriceSource,
  parsePriceBook,
  priceOf,
  type Rates,
} from './price-book.js';
export { defaultPriceBook } from './price-data.js';
export { type TextTokenOptions, textTokens } from './text-tokens.js';
