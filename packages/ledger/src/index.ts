export { createAccount, type CreateAccountInput } from './accounts.js';
export {
  type ChangeResult,
  closeAccount,
  extendAccount,
  type ExtendInput,
  type LimitAdditions,
  type LoweredLimits,
  lowerAccount,
  type LowerInput,
  resumeAccount,
  type ResumeInput,
  type ResumeResult,
} from './administration.js';
export { type AdmissionFacts, type AskedRequest, decideAdmission, type Decision } from './admission.js';
export {
  addAttempts,
  type AttemptChange,
  closeSubject,
  deferAttempt,
  readAttempts,
  restartAttempts,
  type SubjectView,
} from './attempts.js';
export { answeredModel, costBy, costOfUsage, type CostOptions } from './cost.js';
export type { Entry, EntryType, StoredEntry } from './entries.js';
export { isLedgerError, LedgerError, type LedgerErrorCode, type LedgerErrorOptions } from './errors.js';
export { type Estimate, type EstimatedRequest, type EstimateOptions, estimateRequest } from './estimate.js';
export { createEstimator, type EstimateReport, estimateReport, type Estimator } from './estimator.js';
export { type FailureResult, recordFailure, recordSuccess } from './failures.js';
export { createLedger, Ledger, type LedgerOptions, type WaitOptions } from './ledger.js';
export { type LimitSource, type NumericLimit, numericLimits, parseLimits } from './limits.js';
export type { PartRules } from './file-tokens.js';
export {
  type ModelPrice,
  nearestModel,
  overridePrices,
  parsePriceBook,
  type PriceBook,
  priceOf,
  type PriceSource,
  type Rates,
} from './price-book.js';
export { defaultPriceBook } from './price-data.js';
export { type ReconcileInput, reconcileRequest } from './reconcile.js';
export { findOrphanedRequests, recoverRequest, recoverRequests } from './recover.js';
export { replayAccount } from './replay.js';
export {
  exportEntries,
  type ListOptions,
  listRequests,
  readCharges,
  type RequestFlag,
  runTotals,
  type RunTotals,
} from './reports.js';
export { type LedgerRequest, readRequest } from './requests.js';
export { type ReserveInput, reserveRequest, type ReserveResult } from './reserve.js';
export { ledgerMigrations } from './schema.js';
export {
  type CostOfRequest,
  markRequestUnknown,
  type NotSettled,
  type ReleaseProof,
  releaseRequest,
  type Settled,
  type SettleInput,
  settleRequest,
  type SettleResult,
} from './settle.js';
export { type AccountSnapshot, snapshotAccount } from './snapshot.js';
export { findStop, type StandingStop } from './find-stop.js';
export type { StopNotice } from './stop-watch.js';
export { stopAccount, type StopInput, type StopResult } from './stop.js';
export type { AttemptInput } from './subjects.js';
export { type TextTokenOptions, textTokens } from './text-tokens.js';
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
export { type Misfit, type Verification, verifyAccount } from './verify.js';
export { wakeWaiters } from './waiters.js';
