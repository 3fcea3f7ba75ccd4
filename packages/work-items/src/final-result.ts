import { workItemLimits as limits } from './limits.js';
import type { Outcome } from './outcome.js';
import type { DeliveryTarget, FinalResult, Run, WorkItem } from './records.js';
import { byteLength, cutText } from './text.js';

/** A reason why a result does not complete the item. */
export interface CompletionViolation {
  readonly rule:
    | 'unfinished_action'
    | 'pending_message'
    | 'pending_input'
    | 'delivery_target_missing'
    | 'output_missing'
    | 'criterion_missing'
    | 'criterion_unknown'
    | 'evidence_missing'
    | 'evidence_unknown'
    | 'text_bounds';
  readonly action: string | null;
  readonly message: string;
}

/** What the Coordinator says when it completes. */
export interface CompletionInput {
  readonly summary: string;
  readonly criteria: readonly { readonly id: string; readonly evidenceRunIds: readonly string[] }[];
  readonly outputs: readonly { readonly kind: string; readonly value: string }[];
  readonly residualRisks: readonly string[];
}

/** True when the gate's outcome passes every criterion of the contract and hands over what the target demands. */
export function gatePasses(item: WorkItem, outcome: Outcome): boolean {
  const passed = new Set(passedCriteria(outcome));
  return (
    item.deliveryTarget !== null &&
    hasOutput(item.deliveryTarget, outcome.outputs) &&
    item.acceptanceCriteria.every((criterion) => passed.has(criterion.id))
  );
}

function passedCriteria(outcome: Outcome): readonly string[] {
  return outcome.checks.filter((check) => check.status === 'passed').map((check) => check.criterionId);
}

function hasOutput(target: DeliveryTarget, outputs: Outcome['outputs']): boolean {
  return outputs.some((output) => output.kind === target && output.value.trim() !== '');
}

/** The final result of an item whose gate passed. */
export function resultOfGate(item: WorkItem, gate: Run, outcome: Outcome, completed: readonly Run[]): FinalResult {
  return {
    summary: cutText(outcome.summary, limits.summaryBytes),
    criteria: item.acceptanceCriteria.map((criterion) => ({
      ...criterion,
      evidenceRunIds: evidenceFor(criterion.id, gate, completed),
    })),
    outputs: outcome.outputs,
    responses: responsesOf([...completed.filter((run) => run.id !== gate.id), { ...gate, outcome }]),
    residualRisks: outcome.residualRisks,
    completedBy: 'gate',
  };
}

function evidenceFor(criterionId: string, gate: Run, completed: readonly Run[]): readonly string[] {
  const others = completed.filter((run) => run.id !== gate.id && passes(run, criterionId)).map((run) => run.id);
  return [gate.id, ...others].slice(0, limits.evidenceCount);
}

function passes(run: Run, criterionId: string): boolean {
  return run.outcome !== null && passedCriteria(run.outcome).includes(criterionId);
}

function responsesOf(runs: readonly Run[]): FinalResult['responses'] {
  return runs
    .flatMap((run) =>
      (run.outcome?.outputs ?? [])
        .filter((output) => output.kind === 'response')
        .map((output) => ({
          actionId: run.actionId,
          runId: run.id,
          text: cutText(output.value, limits.responseBytes),
        })),
    )
    .slice(-limits.responseCount);
}

/** Judges the Coordinator's completion by the same rules that a gate is judged by. Empty: it completes. */
export function completionViolations(
  item: WorkItem,
  completed: readonly Run[],
  input: CompletionInput,
): readonly CompletionViolation[] {
  return [...textViolations(input), ...targetViolations(item, input), ...criteriaViolations(item, completed, input)];
}

function textViolations(input: CompletionInput): readonly CompletionViolation[] {
  const found: string[] = [];
  if (input.summary.trim() === '' || byteLength(input.summary) > limits.summaryBytes) {
    found.push(`summary must have 1 to ${limits.summaryBytes} bytes`);
  }
  if (input.outputs.length > limits.responseCount) found.push(`at most ${limits.responseCount} outputs`);
  if (input.outputs.some((output) => byteLength(output.value) > limits.outputBytes)) {
    found.push(`an output has at most ${limits.outputBytes} bytes`);
  }
  if (input.residualRisks.length > limits.residualRiskCount) {
    found.push(`at most ${limits.residualRiskCount} residual risks`);
  }
  if (input.residualRisks.some((risk) => byteLength(risk) > limits.lineBytes)) {
    found.push(`a residual risk has at most ${limits.lineBytes} bytes`);
  }
  return found.map((message) => ({ rule: 'text_bounds', action: null, message }));
}

function targetViolations(item: WorkItem, input: CompletionInput): readonly CompletionViolation[] {
  if (item.deliveryTarget === null) {
    const message = 'No delivery target is set and only a person sets it; ask for it';
    return [{ rule: 'delivery_target_missing', action: null, message }];
  }
  if (hasOutput(item.deliveryTarget, input.outputs)) return [];
  const message = `The delivery target is ${item.deliveryTarget}; give an output of that kind`;
  return [{ rule: 'output_missing', action: null, message }];
}

function criteriaViolations(
  item: WorkItem,
  completed: readonly Run[],
  input: CompletionInput,
): readonly CompletionViolation[] {
  const known = new Set(item.acceptanceCriteria.map((criterion) => criterion.id));
  const given = new Map(input.criteria.map((criterion) => [criterion.id, criterion.evidenceRunIds]));
  const unknown = [...given.keys()].filter((id) => !known.has(id));
  return [
    ...unknown.map((id): CompletionViolation => violation('criterion_unknown', `The contract has no criterion ${id}`)),
    ...item.acceptanceCriteria.flatMap(({ id }) => evidenceViolations(id, given.get(id), completed)),
  ];
}

function evidenceViolations(
  criterionId: string,
  runIds: readonly string[] | undefined,
  completed: readonly Run[],
): readonly CompletionViolation[] {
  if (runIds === undefined)
    return [violation('criterion_missing', `Criterion ${criterionId} has no evidence; name Run ids`)];
  const runs = runIds.map((id) => ({ id, run: completed.find((run) => run.id === id) }));
  const unknown = runs.filter(({ run }) => run === undefined);
  if (unknown.length > 0) {
    const names = unknown.map(({ id }) => id).join(', ');
    return [violation('evidence_unknown', `Criterion ${criterionId}: no completed Run ${names} stands in this item`)];
  }
  if (runs.some(({ run }) => run !== undefined && passes(run, criterionId))) return [];
  return [violation('evidence_missing', `Criterion ${criterionId} was passed by none of the Runs named for it`)];
}

function violation(rule: CompletionViolation['rule'], message: string): CompletionViolation {
  return { rule, action: null, message };
}

/** The final result of a completion that had no violations. */
export function resultOfCompletion(item: WorkItem, completed: readonly Run[], input: CompletionInput): FinalResult {
  const given = new Map(input.criteria.map((criterion) => [criterion.id, criterion.evidenceRunIds]));
  return {
    summary: input.summary,
    criteria: item.acceptanceCriteria.map((criterion) => ({
      ...criterion,
      evidenceRunIds: [...new Set(given.get(criterion.id) ?? [])].slice(0, limits.evidenceCount),
    })),
    outputs: input.outputs,
    responses: responsesOf(completed),
    residualRisks: input.residualRisks,
    completedBy: 'coordinator',
  };
}
