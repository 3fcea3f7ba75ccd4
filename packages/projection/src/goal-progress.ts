import {
  type Blocker,
  type CriterionProgress,
  deliveryTargetSchema,
  DTO_LIMITS,
  type GoalCounts,
  type GoalProgress,
} from '@stint/contracts';
import { createEvidenceLookup, type EvidenceLookup } from './evidence.js';
import type { ActionRecord, ItemRecord, ItemRecords } from './records.js';
import type { TextGate } from './texts.js';

/** Counts of criteria passed and not; null without criteria. */
export function toGoalCounts(item: ItemRecord, actions: readonly ActionRecord[]): GoalCounts | null {
  const total = item.acceptanceCriteria.length;
  if (total === 0) return null;
  const verdicts = collectVerdicts(item, actions, () => '');
  const completed = item.acceptanceCriteria.filter(({ id }) => statusOf(verdicts.get(id)) === 'passed').length;
  return { completed, total, remaining: total - completed };
}

/** How far the acceptance criteria are met, those not passed first; null without criteria. */
export function toGoalProgress(
  { item, actions, runs }: Pick<ItemRecords, 'item' | 'actions' | 'runs'>,
  gate: TextGate,
): GoalProgress | null {
  const counts = toGoalCounts(item, actions);
  if (counts === null) return null;
  const verdicts = collectVerdicts(item, actions, createEvidenceLookup(actions, runs));
  const all = item.acceptanceCriteria.map(({ id, text }) => toCriterion(id, text, verdicts.get(id) ?? [], gate));
  const isPassed = ({ status }: CriterionProgress): boolean => status === 'passed';
  const unmet = all.filter((criterion) => !isPassed(criterion));
  const passed = all.filter(isPassed);
  const blockers = toBlockers(actions, gate);
  return {
    ...counts,
    contractRevision: item.revision,
    criteria: [...unmet, ...passed],
    omittedCriteriaCount: 0,
    remainingCriteria: unmet.map(({ id }) => id),
    evidenceRunIds: boundIds(passed.flatMap(({ evidenceRunIds }) => evidenceRunIds)),
    blockers: blockers.slice(0, DTO_LIMITS.maxBlockers),
    omittedBlockerCount: Math.max(0, blockers.length - DTO_LIMITS.maxBlockers),
    delivery: toDelivery(item, actions),
  };
}

/** What one Run says of one criterion. */
interface Verdict {
  readonly runId: string;
  readonly passed: boolean;
  readonly evidence: string;
}

/** Results that no longer count: their Action was replaced or given up. */
const VOID_STATUSES: ReadonlySet<string> = new Set(['superseded', 'cancelled']);

/** By criterion id, oldest first. The final result speaks last. */
function collectVerdicts(
  item: ItemRecord,
  actions: readonly ActionRecord[],
  evidenceOf: EvidenceLookup,
): ReadonlyMap<string, readonly Verdict[]> {
  const byCriterion = new Map<string, Verdict[]>();
  const add = (criterionId: string, verdict: Verdict): void => {
    const list = byCriterion.get(criterionId);
    if (list === undefined) byCriterion.set(criterionId, [verdict]);
    else list.push(verdict);
  };
  const counting = actions.filter(({ status, outcome }) => outcome !== null && !VOID_STATUSES.has(status));
  for (const { outcome, outcomeRunId } of counting.toSorted((left, right) => left.updatedAt - right.updatedAt)) {
    for (const { criterionId, status, evidence } of outcome?.checks ?? []) {
      if (status !== 'passed' && status !== 'failed') continue;
      add(criterionId, { runId: outcomeRunId ?? '', passed: status === 'passed', evidence });
    }
  }
  for (const { id, evidenceRunIds } of item.finalResult?.criteria ?? []) {
    const evidence = evidenceOf(id, evidenceRunIds);
    for (const runId of evidenceRunIds) add(id, { runId, passed: true, evidence });
  }
  return byCriterion;
}

function statusOf(verdicts: readonly Verdict[] | undefined): CriterionProgress['status'] {
  const latest = verdicts?.at(-1);
  if (latest === undefined) return 'unmet';
  return latest.passed ? 'passed' : 'failed';
}

function toCriterion(id: string, text: string, verdicts: readonly Verdict[], gate: TextGate): CriterionProgress {
  const status = statusOf(verdicts);
  const agrees = (verdict: Verdict): boolean => verdict.passed === (status === 'passed');
  const idsOf = (list: readonly Verdict[]): string[] => boundIds(list.map(({ runId }) => runId));
  return {
    id,
    text: gate.show(text, CRITERION_BYTES).text,
    status,
    evidenceRunIds: idsOf(verdicts.filter(agrees)),
    conflictingRunIds: idsOf(verdicts.filter((verdict) => !agrees(verdict))),
    evidence: gate.line(verdicts.findLast((verdict) => agrees(verdict) && verdict.evidence !== '')?.evidence ?? ''),
  };
}

const CRITERION_BYTES = 768;

/** Each id once, at most 64, none of them empty. */
function boundIds(ids: readonly string[]): string[] {
  return [...new Set(ids.filter((id) => id !== ''))].slice(0, DTO_LIMITS.maxEvidenceRunIds);
}

/** Waiting Actions first: a person can free those with one answer. */
function toBlockers(actions: readonly ActionRecord[], gate: TextGate): Blocker[] {
  const ofStatus = (status: 'waiting' | 'failed'): Blocker[] =>
    actions
      .filter((action) => action.status === status)
      .map((action) => ({ actionId: action.id, kind: status, reason: gate.line(action.attention?.message ?? '') }));
  return [...ofStatus('waiting'), ...ofStatus('failed')];
}

function toDelivery(item: ItemRecord, actions: readonly ActionRecord[]): GoalProgress['delivery'] {
  const { deliveryTarget } = item;
  const gates = actions.filter(
    ({ kind, status, outcome }) =>
      kind === 'deliver' &&
      status === 'completed' &&
      (deliveryTarget === null || (outcome?.outputs.some((output) => output.kind === deliveryTarget) ?? false)),
  );
  const isPassed = item.status === 'done' || (deliveryTarget !== null && gates.length > 0);
  return {
    target: deliveryTarget === null ? null : deliveryTargetSchema.parse(deliveryTarget),
    status: isPassed ? 'passed' : 'unmet',
    evidenceRunIds: boundIds(gates.map(({ outcomeRunId }) => outcomeRunId ?? '')),
  };
}
