/**
 * Bounds of a work item, checked when the record is written, so that no later step (a prompt, a validator, a page)
 * has to cut what another step demands in full. Sizes are UTF-8 bytes.
 */
export const workItemLimits = Object.freeze({
  titleBytes: 200,
  goalBytes: 16_000,
  criteriaCount: 24,
  criterionBytes: 768,
  attachmentCount: 10,
  attachmentBytes: 10 * 1024 * 1024,
  attachmentTotalBytes: 50 * 1024 * 1024,
  unfinishedActionCount: 64,
  actionCount: 200,
  addedActionsPerDecision: 8,
  slugLength: 48,
  briefTextBytes: 4_096,
  dependencyCount: 32,
  messageBytes: 16_000,
  inputBytes: 8_000,
  questionBytes: 4_096,
  clientMessageIdBytes: 128,
  reasonBytes: 2_048,
  summaryBytes: 8_192,
  evidenceCount: 64,
  evidenceBytes: 8_192,
  outputCount: 24,
  outputBytes: 32_768,
  residualRiskCount: 24,
  residualRiskBytes: 1_024,
});

/** Attempts an Action gets before it is exhausted, unless the item says otherwise. */
export const defaultMaxAttempts = 3;

/** Actions one process runs at a time. */
export const defaultMaxConcurrentActions = 3;

/** The range `maxConcurrentActions` may take. */
export const maxConcurrentActionsRange = Object.freeze({ minimum: 1, maximum: 12 });
