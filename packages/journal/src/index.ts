export { createJournal, type Journal } from './journal.js';
export { isJournalError, JournalError, type JournalErrorCode } from './errors.js';
export { appendEntries, readHistory } from './history.js';
export {
  endOperation,
  listOperations,
  liveOperations,
  readOperation,
  readOperations,
  recordLateResult,
  resolveOperation,
  setOperationProcess,
  startOperation,
  type OperationEnd,
  type OperationInput,
  type OperationKey,
} from './operations.js';
export {
  deadProcessGroups,
  findDeadOperations,
  findDeadTurns,
  recoverOperation,
  recoverOperations,
  recoverTurn,
  recoverTurns,
  unresolved,
  type Unresolved,
} from './recovery.js';
export { countByOwner, type OwnerCounts } from './owner-counts.js';
export { resolveByProvider, type FoundAnswer, type ProviderResolution } from './resolve-by-provider.js';
export { resumeState, type JournaledState } from './resume-state.js';
export { journalMigrations } from './schema.js';
export { listTurns, readTurn } from './turn-rows.js';
export {
  applyTurn,
  insertDeniedTurn,
  insertTurn,
  noteResponseId,
  recordCancelled,
  recordRefused,
  recordResponse,
  recordUnknown,
  rejectTurn,
  resolveTurn,
  type TurnFailure,
  type TurnInput,
  type TurnSettlement,
} from './turns.js';
export type {
  EntryRange,
  OperationProcess,
  OperationRecord,
  OperationStatus,
  Resolution,
  StoredEntry,
  StoredResponse,
  TurnError,
  TurnOwner,
  TurnRecord,
  TurnStatus,
} from './types.js';
