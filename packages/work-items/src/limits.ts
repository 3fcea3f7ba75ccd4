import { CONTRACT_LIMITS, DTO_LIMITS } from '@stint/contracts';

/**
 * Bounds of the records, checked when they are written, so that no later step (a prompt, a validator, a page) has to
 * cut what another one demands in full. Sizes are UTF-8 bytes.
 */
export const workItemLimits = Object.freeze({
  titleBytes: CONTRACT_LIMITS.maxTitleBytes,
  goalBytes: CONTRACT_LIMITS.maxGoalBytes,
  workDirBytes: CONTRACT_LIMITS.maxWorkDirBytes,
  modelBytes: CONTRACT_LIMITS.maxModelBytes,
  criteriaCount: CONTRACT_LIMITS.maxCriteria,
  criterionBytes: CONTRACT_LIMITS.maxCriterionBytes,
  attachmentCount: CONTRACT_LIMITS.maxAttachments,
  attachmentBytes: CONTRACT_LIMITS.maxAttachmentBytes,
  attachmentTotalBytes: CONTRACT_LIMITS.maxAttachmentsBytes,
  unfinishedActionCount: CONTRACT_LIMITS.maxUnfinishedActions,
  actionCount: CONTRACT_LIMITS.maxActions,
  addedActionsPerDecision: CONTRACT_LIMITS.maxActionsPerDecision,
  messageBytes: CONTRACT_LIMITS.maxMessageBytes,
  inputBytes: CONTRACT_LIMITS.maxActionInputBytes,
  idBytes: DTO_LIMITS.maxIdBytes,
  lineBytes: DTO_LIMITS.maxLineBytes,
  responseCount: DTO_LIMITS.maxResponses,
  responseBytes: DTO_LIMITS.maxResponseBytes,
  residualRiskCount: DTO_LIMITS.maxResidualRisks,
  evidenceCount: 64,
  outputBytes: 32 * 1024,
  summaryBytes: 8 * 1024,
  slugLength: 48,
  briefBytes: 4 * 1024,
  dependencyCount: 64,
  questionBytes: 4 * 1024,
});

/** Attempts an Action gets before it is exhausted. */
export const defaultMaxAttempts = 3;

/** Actions one process runs at a time. */
export const defaultMaxConcurrentActions = 3;

/** The range of `maxConcurrentActions`. */
export const maxConcurrentActionsRange = Object.freeze({ minimum: 1, maximum: 12 });
