const KIB = 1024;
const MIB = 1024 * KIB;

/** Largest JSON of one DTO, in UTF-8 bytes. */
export const MAX_DTO_BYTES = 512 * KIB;
/** Largest JSON of one provider turn's or request's detail, in UTF-8 bytes. */
export const MAX_TURN_DETAIL_BYTES = 256 * KIB;
/** Room a frame needs around the DTO it carries, in UTF-8 bytes. */
export const FRAME_ENVELOPE_BYTES = 4 * KIB;
/** Largest frame from an agent or the bridge, in UTF-8 bytes. */
export const MAX_FRAME_BYTES = MAX_DTO_BYTES + FRAME_ENVELOPE_BYTES;
/** Largest frame a browser may send, in UTF-8 bytes: the largest contract with JSON escapes fits. */
export const MAX_BROWSER_FRAME_BYTES = 256 * KIB;

/** Bounds of a WorkItem's contract. They are enforced where the contract is written, so no reader ever has to cut it to fit. */
export const CONTRACT_LIMITS = Object.freeze({
  /** Acceptance criteria of one WorkItem. */
  maxCriteria: 24,
  /** One acceptance criterion, UTF-8 bytes. */
  maxCriterionBytes: 768,
  /** Title, UTF-8 bytes. */
  maxTitleBytes: 200,
  /** Goal, UTF-8 bytes. */
  maxGoalBytes: 16_000,
  /** Path of the work directory, UTF-8 bytes. */
  maxWorkDirBytes: 4_096,
  /** Model name `provider:name`, UTF-8 bytes. */
  maxModelBytes: 256,
  /** One message of a person, or one answer to a question, UTF-8 bytes. */
  maxMessageBytes: 16_000,
  /** Input to an Action, UTF-8 bytes. */
  maxActionInputBytes: 8_000,
  /** Actions that are not finished. */
  maxUnfinishedActions: 64,
  /** Actions in all, finished ones included. */
  maxActions: 200,
  /** Actions one decision of the Coordinator may add. */
  maxActionsPerDecision: 8,
  /** Attachments of one WorkItem. */
  maxAttachments: 10,
  /** One attachment, bytes. */
  maxAttachmentBytes: 10 * MIB,
  /** All attachments of one WorkItem, bytes. */
  maxAttachmentsBytes: 50 * MIB,
});

/** Bounds of the lists and texts inside DTOs. What is cut is counted beside the list. */
export const DTO_LIMITS = Object.freeze({
  /** Any id, UTF-8 bytes. */
  maxIdBytes: 256,
  /** Evidence run ids of one criterion or of the whole. */
  maxEvidenceRunIds: 64,
  /** Blockers named by the goal progress. */
  maxBlockers: 64,
  /** Open subjects (Actions) with attempts in an execution control. */
  maxOpenSubjects: 64,
  /** Responses in a final result. */
  maxResponses: 24,
  /** One response of a final result, UTF-8 bytes. */
  maxResponseBytes: 8 * KIB,
  /** Residual risks of a final result. */
  maxResidualRisks: 24,
  /** Things a person is asked for, in one item. */
  maxNeeds: 64,
  /** Messages in one page of a conversation. */
  maxMessagesPerPage: 100,
  /** WorkItems in one page of the board. */
  maxItemsPerPage: 100,
  /** Runs in an Action's detail. */
  maxRunsPerAction: 50,
  /** Provider turns, and operations, in a Run's detail. */
  maxTurnsPerRun: 200,
  /** Tool calls in a turn's detail. */
  maxToolCallsPerTurn: 200,
  /** Entries of a directory listing. */
  maxDirectoryEntries: 500,
  /** Events in one answer to `read_events`; more missed than this means read the item again. */
  maxEventsPerPage: 500,
  /** A one-line text: reason, question preview, error message, UTF-8 bytes. */
  maxLineBytes: 2 * KIB,
  /** A long text: brief, summary, result, UTF-8 bytes. */
  maxTextBytes: 64 * KIB,
  /** Long texts after the cut that spares the whole, UTF-8 bytes. */
  cutTextBytes: 4 * KIB,
  /** The tail of an Action's live output that a progress frame carries, UTF-8 bytes. */
  maxLiveTextBytes: 4 * KIB,
});
