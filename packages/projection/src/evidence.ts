import type { ActionRecord, OutcomeRecord, RunRecord } from './records.js';

/** @returns what the newest of these Runs gave as evidence that the criterion passed; else what any Run gave; '' if none did. */
export type EvidenceLookup = (criterionId: string, runIds: readonly string[]) => string;

interface Given {
  readonly runId: string;
  readonly text: string;
}

/** Collects the evidence of all passed checks once, oldest first. */
export function createEvidenceLookup(actions: readonly ActionRecord[], runs: readonly RunRecord[]): EvidenceLookup {
  const given = new Map<string, Given[]>();
  const collect = (runId: string, outcome: OutcomeRecord | null): void => {
    for (const { criterionId, status, evidence } of outcome?.checks ?? []) {
      if (status !== 'passed' || evidence.trim() === '') continue;
      const list = given.get(criterionId);
      if (list === undefined) given.set(criterionId, [{ runId, text: evidence }]);
      else list.push({ runId, text: evidence });
    }
  };
  for (const { outcome, outcomeRunId } of actions) collect(outcomeRunId ?? '', outcome);
  for (const { id, outcome } of runs) collect(id, outcome);
  return (criterionId, runIds) => {
    const list = given.get(criterionId) ?? [];
    return (list.findLast(({ runId }) => runIds.includes(runId)) ?? list.at(-1))?.text ?? '';
  };
}
