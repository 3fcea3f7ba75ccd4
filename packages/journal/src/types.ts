import type { FinishReason, HistoryEntry, PromptMessage, Usage } from '@stint/provider-hooks';

/** Whose turns and operations these are: a Run, a Coordinator turn or a Session turn. */
export interface TurnOwner {
  readonly kind: 'run' | 'coordinator' | 'session';
  readonly id: string;
}

/**
 * - `dispatching`: the request may have left, nothing is known yet
 * - `responded`: a complete answer is stored; of a Coordinator then `applied`, or `rejected` by the validator
 * - `refused`: the provider did no paid work, or nothing was sent
 * - `unknown`: nobody knows; a late record makes it `responded`, a person `written_off`
 * - `cancelled`: denied at start
 */
export type TurnStatus =
  | 'dispatching'
  | 'responded'
  | 'applied'
  | 'rejected'
  | 'refused'
  | 'unknown'
  | 'written_off'
  | 'cancelled';

/** Seqs of the first and last history entry that a turn carried; null if it carried none. */
export interface EntryRange {
  readonly from: number;
  readonly to: number;
}

/** What went wrong with a turn, JSON-safe. */
export interface TurnError {
  readonly code: string;
  readonly message: string;
}

/** Who decided about an unknown turn or operation, and when. */
export interface Resolution {
  readonly by: string;
  readonly as: string;
  /** Integer ms UTC. */
  readonly at: number;
  readonly note: string | null;
}

/** A stored answer; its content is the turn's history entry. */
export interface StoredResponse {
  readonly message: PromptMessage;
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly usage: Usage | null;
  /** The model that answered. */
  readonly model: string;
}

export interface TurnRecord {
  readonly id: string;
  readonly owner: TurnOwner;
  /** Heartbeat row of the process that sent it. */
  readonly process: string;
  readonly turnNumber: number;
  readonly model: string;
  readonly requestHash: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly purpose: string;
  readonly isStream: boolean;
  readonly entryRange: EntryRange | null;
  readonly inputIds: readonly string[];
  readonly retryOf: string | null;
  readonly status: TurnStatus;
  /** The id under which the provider keeps the answer, if it told one and that was noted. */
  readonly responseId: string | null;
  readonly response: StoredResponse | null;
  /** Usage told for a turn without complete answer. */
  readonly usage: Usage | null;
  readonly error: TurnError | null;
  readonly partialText: string | null;
  /** Of an unknown turn: a person is to decide about it. */
  readonly asksPerson: boolean;
  readonly resolution: Resolution | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

export interface StoredEntry extends HistoryEntry {
  /** Place in the owner's history, from 1; gaps are possible. */
  readonly seq: number;
}

/** `running` -> `applied` | `no_effect` | `unknown`; `unknown` is resolved by a person to `applied` | `no_effect`. */
export type OperationStatus = 'running' | 'applied' | 'no_effect' | 'unknown';

/** The process group of an operation, as the tool that starts it tells. Kept as it is given; `host` is looked at. */
export interface OperationProcess {
  readonly host: string;
  readonly [field: string]: unknown;
}

export interface OperationRecord {
  /** `<turn id>/<call index>`. */
  readonly id: string;
  readonly turnId: string;
  readonly callIndex: number;
  /** Who runs it; of a resumed run another one than the turn's owner. */
  readonly owner: TurnOwner;
  /** Heartbeat row of the process that runs it. */
  readonly process: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly inputHash: string;
  readonly status: OperationStatus;
  readonly processGroup: OperationProcess | null;
  /** What the tool said after the lease was lost; counts for nothing. */
  readonly lateResult: string | null;
  readonly resolution: Resolution | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
}
