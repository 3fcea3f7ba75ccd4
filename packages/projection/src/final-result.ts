import { CONTRACT_LIMITS, DTO_LIMITS, type FinalResult } from '@stint/contracts';
import type { EvidenceLookup } from './evidence.js';
import type { FinalResultRecord } from './records.js';
import type { TextGate } from './texts.js';

export interface FinalResultParts {
  readonly completedAt: number;
  readonly evidenceOf: EvidenceLookup;
  readonly gate: TextGate;
}

/** What the WorkItem ended with: responses 24 x 8 KiB, residual risks 24; entries past the bounds are counted. */
export function toFinalResult(result: FinalResultRecord, parts: FinalResultParts): FinalResult {
  const { completedAt, evidenceOf, gate } = parts;
  const { criteria, outputs, responses, residualRisks } = result;
  return {
    summary: gate.text(result.summary),
    criteria: gate.list(criteria, CONTRACT_LIMITS.maxCriteria, ({ id, text, evidenceRunIds }) => ({
      id,
      text: gate.show(text, CONTRACT_LIMITS.maxCriterionBytes).text,
      status: 'passed' as const,
      evidenceRunIds: evidenceRunIds.slice(0, DTO_LIMITS.maxEvidenceRunIds),
      evidence: gate.line(evidenceOf(id, evidenceRunIds)),
    })),
    outputs: gate.list(outputs, DTO_LIMITS.maxResponses, ({ kind, value }) => ({ kind, value: gate.text(value) })),
    responses: gate.list(responses, DTO_LIMITS.maxResponses, ({ runId, text }) => ({
      runId,
      text: gate.show(text, DTO_LIMITS.maxResponseBytes).text,
    })),
    residualRisks: gate.list(residualRisks, DTO_LIMITS.maxResidualRisks, (risk) => gate.line(risk)),
    omittedCount:
      Math.max(0, outputs.length - DTO_LIMITS.maxResponses) +
      Math.max(0, responses.length - DTO_LIMITS.maxResponses) +
      Math.max(0, residualRisks.length - DTO_LIMITS.maxResidualRisks),
    completedAt,
  };
}
