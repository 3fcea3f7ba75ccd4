/**
 * What the projection reads. These shapes are satisfied by the records of @stint/work-items, the snapshot of @stint/ledger and the rows of
 * @stint/journal; they are named here so that this package needs none of the three.
 */

export interface AttentionRecord {
  readonly code: string;
  readonly message: string;
  readonly command: string;
  /** What is to be answered or resolved; null if nothing has an id. */
  readonly ref: string | null;
}

export interface ItemRecord {
  readonly id: string;
  readonly status: string;
  readonly attention: AttentionRecord | null;
  readonly title: string;
  readonly goal: string;
  readonly acceptanceCriteria: readonly { readonly id: string; readonly text: string }[];
  readonly deliveryTarget: string | null;
  readonly workDir: string | null;
  readonly model: string | null;
  readonly revision: number;
  readonly planRevision: number;
  readonly resultsRevision: number;
  readonly coordinatorRevision: number;
  readonly finalResult: FinalResultRecord | null;
  readonly completedAt: number | null;
  readonly lastEventSeq: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface FinalResultRecord {
  readonly summary: string;
  readonly criteria: readonly {
    readonly id: string;
    readonly text: string;
    readonly evidenceRunIds: readonly string[];
  }[];
  readonly outputs: readonly { readonly kind: string; readonly value: string }[];
  readonly responses: readonly { readonly runId: string; readonly text: string }[];
  readonly residualRisks: readonly string[];
}

export interface OutcomeRecord {
  readonly summary: string;
  readonly evidence: readonly { readonly kind: string; readonly value: string }[];
  readonly checks: readonly { readonly criterionId: string; readonly status: string; readonly evidence: string }[];
  readonly outputs: readonly { readonly kind: string; readonly value: string }[];
  readonly residualRisks: readonly string[];
}

export interface ActionRecord {
  readonly id: string;
  readonly slug: string;
  readonly kind: string;
  readonly status: string;
  readonly attention: AttentionRecord | null;
  readonly objective: string;
  readonly approach: string;
  readonly expectedResult: string;
  /** Slugs of the same item. */
  readonly dependencies: readonly string[];
  readonly workspaceMode: string;
  readonly checkpoint: boolean;
  readonly generation: number;
  readonly specHash: string;
  readonly attempts: number;
  readonly outcome: OutcomeRecord | null;
  readonly outcomeRunId: string | null;
  readonly closingReason: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface RunRecord {
  readonly id: string;
  readonly actionId: string;
  readonly status: string;
  readonly reason: { readonly code: string; readonly message: string } | null;
  readonly attempt: number;
  readonly generation: number;
  readonly outcome: OutcomeRecord | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
}

export interface MessageRecord {
  readonly id: string;
  readonly seq: number;
  readonly role: string;
  readonly text: string;
  readonly clientMessageId: string | null;
  readonly createdAt: number;
}

export interface QuestionRecord {
  readonly id: string;
  /** null: the Coordinator asks. */
  readonly actionId: string | null;
  readonly runId: string | null;
  readonly text: string;
  readonly askedAt: number;
}

export interface ActionInputRecord {
  readonly actionId: string;
  readonly text: string;
}

/** One item with its parts, as `readItemRecords` of @stint/work-items answers. */
export interface ItemRecords {
  readonly item: ItemRecord;
  readonly actions: readonly ActionRecord[];
  /** Oldest first: at least the newest of each Action and those that the final result names as evidence. */
  readonly runs: readonly RunRecord[];
  /** The newest ones, oldest first. */
  readonly messages: readonly MessageRecord[];
  /** All there are, those not read included. */
  readonly messageCount: number;
  readonly openQuestions: readonly QuestionRecord[];
  readonly openInputs: readonly ActionInputRecord[];
  readonly openMailbox: readonly unknown[];
  readonly thinkingTurn: { readonly startedAt: number } | null;
}

export interface TotalsRecord {
  readonly requests: number;
  /** Charged, holds included. */
  readonly tokens: number;
  readonly costMicros: number;
  readonly heldTokens: number;
  readonly heldCostMicros: number;
  /** Open reservations. */
  readonly open: number;
  /** Requests whose outcome nobody knows. */
  readonly unknown: number;
  readonly unknownTokens?: number;
  readonly unknownCostMicros?: number;
  /** Requests whose cost is not a measured one. */
  readonly unpriced: number;
}

export interface StopReasonRecord {
  readonly code: string;
  readonly account: string;
  readonly at: number;
  readonly limit?: number;
  readonly estimate?: { readonly tokens: number; readonly costMicros: number | null };
}

/** One account at one instant, as `snapshotAccount` of @stint/ledger answers. */
export interface AccountRecord {
  readonly account: string;
  readonly status: string;
  readonly revision: number;
  readonly version: readonly [number, number];
  readonly limits: {
    readonly maxRequests?: number | null;
    readonly maxTokens?: number | null;
    readonly maxCostMicros?: number | null;
    readonly maxRunRequests?: number | null;
    readonly maxAttempts?: number | null;
    readonly maxConsecutiveFailures?: number | null;
  };
  readonly usage: TotalsRecord;
  readonly breakdown: Readonly<Record<string, TotalsRecord>>;
  readonly remaining: {
    readonly requests: number | null;
    readonly tokens: number | null;
    readonly costMicros: number | null;
  };
  readonly subjects: readonly {
    readonly subject: string;
    readonly attempts: number;
    readonly maximum: number | null;
  }[];
  readonly stopReason: StopReasonRecord | null;
  /** The nearest ancestor that is stopped or closed. */
  readonly blockedBy: {
    readonly account: string;
    readonly status: string;
    readonly stopReason: StopReasonRecord | null;
  } | null;
  readonly failures: Readonly<Record<string, { readonly failures: number }>>;
  readonly retryAfter: number | null;
  readonly inFlight: number;
}

export interface UsageRecord {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  readonly totalTokens: number;
}

export interface OwnerRecord {
  readonly kind: string;
  readonly id: string;
}

/** One provider turn, as @stint/journal stores it. */
export interface TurnRecord {
  readonly id: string;
  readonly owner: OwnerRecord;
  readonly turnNumber: number;
  readonly status: string;
  readonly model: string;
  readonly retryOf: string | null;
  readonly response: {
    readonly text: string;
    readonly finishReason: string;
    readonly usage: UsageRecord | null;
  } | null;
  /** Usage told for a turn without complete answer. */
  readonly usage: UsageRecord | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly partialText: string | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

/** What the ledger charged for one turn: the hold while it runs or is unknown, the actual after. */
export interface ChargeRecord {
  readonly tokens: number;
  readonly costMicros: number | null;
}

/** One side-effecting tool call, as @stint/journal stores it. */
export interface OperationRecord {
  readonly id: string;
  readonly turnId: string;
  readonly owner: OwnerRecord;
  readonly callIndex: number;
  readonly tool: string;
  readonly status: string;
  readonly lateResult: string | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

/** One tool call of a turn with what it was given and what it gave; `input` may be any value. */
export interface ToolCallRecord {
  readonly toolCallId: string;
  readonly callIndex: number;
  readonly tool: string;
  readonly status: 'running' | 'completed' | 'failed' | 'unknown';
  readonly input: unknown;
  readonly result: string | null;
}

/** What one Run took: requests and tokens by the ledger, loops and calls by the journal. */
export interface RunCounts {
  readonly requests: number;
  readonly tokens: number;
  readonly loops: number;
  readonly toolCalls: number;
  readonly failedToolCalls: number;
}

/** What all Runs of one Action took together. */
export interface ActionCounts extends RunCounts {
  readonly runs: number;
}

export interface EventRecord {
  readonly itemId: string;
  readonly seq: number;
  readonly type: string;
  readonly actionId: string | null;
  readonly runId: string | null;
  readonly text: string;
  readonly at: number;
}

/** Everything one item's DTO is made from, read in one snapshot. */
export interface WorkItemSources {
  readonly storeId: string;
  readonly records: ItemRecords;
  /** Status and attention as readers see them, a budget stop included. @default those of the item */
  readonly derived?: { readonly status: string; readonly attention: AttentionRecord | null };
  readonly account: AccountRecord;
  /** By the ids of the Runs in `records`; a Run without an entry took nothing. */
  readonly runCounts: ReadonlyMap<string, RunCounts>;
  /** By Action id, over all its Runs, read or not; an Action without an entry had none. */
  readonly actionCounts: ReadonlyMap<string, ActionCounts>;
  /** Turns and operations whose outcome nobody knows. */
  readonly unknownTurns: readonly TurnRecord[];
  readonly unknownOperations: readonly OperationRecord[];
}

/** One Run with what the journal holds of it. */
export interface RunSources {
  readonly run: RunRecord;
  /** Oldest first. */
  readonly turns: readonly TurnRecord[];
  readonly operations: readonly OperationRecord[];
  readonly counts?: RunCounts;
  /** By turn id. */
  readonly charges?: ReadonlyMap<string, ChargeRecord>;
}

/** One Action with its Runs, newest first. */
export interface ActionSources {
  readonly itemId: string;
  readonly action: ActionRecord;
  readonly runs: readonly RunSources[];
  /** Runs that were not read. */
  readonly unreadRunCount: number;
  readonly question: QuestionRecord | null;
  readonly pendingInputs: readonly ActionInputRecord[];
  readonly subject?: AccountRecord['subjects'][number];
}

/** One provider turn with its tool calls. */
export interface TurnSources {
  readonly turn: TurnRecord;
  readonly toolCalls: readonly ToolCallRecord[];
  readonly charge?: ChargeRecord;
}
