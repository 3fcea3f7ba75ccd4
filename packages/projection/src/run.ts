import {
  CONTRACT_LIMITS,
  criterionCheckSchema,
  DTO_LIMITS,
  evidenceSchema,
  MAX_DTO_BYTES,
  type Outcome,
  type OperationSummary,
  type RunDetail,
  runStatusSchema,
  type RunSummary,
  type TurnSummary,
} from '@stint/contracts';
import { jsonSize } from './json-size.js';
import type { OutcomeRecord, RunCounts, RunRecord, RunSources } from './records.js';
import { createRedactor, type RedactionOptions } from './redact.js';
import { TextGate } from './texts.js';
import { toOperationSummary, toTurnSummary } from './turn.js';

/** One attempt without its turns. */
export function toRunSummary(run: RunRecord, gate: TextGate, counts?: RunCounts): RunSummary {
  return {
    id: run.id,
    actionId: run.actionId,
    attempt: run.attempt,
    generation: run.generation,
    status: runStatusSchema.parse(run.status),
    startedAt: run.startedAt,
    endedAt: run.endedAt,
    reason: run.reason === null ? null : { code: run.reason.code, message: gate.line(run.reason.message) },
    loops: counts?.loops ?? 0,
    toolCalls: counts?.toolCalls ?? 0,
    failedToolCalls: counts?.failedToolCalls ?? 0,
  };
}

/** What a Run handed over, bounded; entries past the bounds are counted. */
export function toOutcome(outcome: OutcomeRecord, gate: TextGate): Outcome {
  const { evidence, checks, outputs, residualRisks } = outcome;
  return {
    summary: gate.text(outcome.summary),
    evidence: gate.list(evidence, MAX_EVIDENCE, (one) => ({
      kind: evidenceSchema.shape.kind.parse(one.kind),
      value: gate.line(one.value),
    })),
    checks: gate.list(checks, CONTRACT_LIMITS.maxCriteria, (check) => ({
      criterionId: check.criterionId,
      status: criterionCheckSchema.shape.status.parse(check.status),
      evidence: gate.line(check.evidence),
    })),
    outputs: gate.list(outputs, DTO_LIMITS.maxResponses, ({ kind, value }) => ({ kind, value: gate.text(value) })),
    residualRisks: gate.list(residualRisks, DTO_LIMITS.maxResidualRisks, (risk) => gate.line(risk)),
    omittedCount:
      excess(evidence, MAX_EVIDENCE) +
      excess(checks, CONTRACT_LIMITS.maxCriteria) +
      excess(outputs, DTO_LIMITS.maxResponses) +
      excess(residualRisks, DTO_LIMITS.maxResidualRisks),
  };
}

const MAX_EVIDENCE = 64;

function excess(list: readonly unknown[], maximum: number): number {
  return Math.max(0, list.length - maximum);
}

/** One attempt with its outcome, turns and operations, at most `maxBytes` of JSON. Running turns stay when others are cut, then the newest. */
export function toRunDetail(
  sources: RunSources,
  redaction: RedactionOptions,
  maxBytes: number = MAX_DTO_BYTES,
): RunDetail {
  return shapeRunDetail(sources, new TextGate(createRedactor(redaction)), maxBytes);
}

/** The same with the gate of a larger DTO, whose counts it shares. */
export function shapeRunDetail(sources: RunSources, gate: TextGate, maxBytes: number): RunDetail {
  const { run, turns, operations, counts, charges } = sources;
  const cutsBefore = gate.cutCount;
  const outcome = run.outcome === null ? null : toOutcome(run.outcome, gate);
  const head = { ...toRunSummary(run, gate, counts), outcome };
  const keptOutcome = jsonSize(head) + LIST_ROOM <= maxBytes ? outcome : null;
  const room = maxBytes - jsonSize({ ...head, outcome: keptOutcome }) - LIST_ROOM;
  const keptTurns = keepNewest(turns, (turn) => toTurnSummary(turn, gate, charges?.get(turn.id)), Math.floor(room / 2));
  const keptOperations = keepNewest(operations, (one) => toOperationSummary(one, gate), Math.floor(room / 2));
  return {
    ...head,
    outcome: keptOutcome,
    turns: keptTurns,
    omittedTurnCount: turns.length - keptTurns.length,
    operations: keptOperations,
    omittedOperationCount: operations.length - keptOperations.length,
    truncated:
      gate.cutCount > cutsBefore ||
      keptOutcome !== outcome ||
      keptTurns.length < turns.length ||
      keptOperations.length < operations.length,
  };
}

/** Names, counts and brackets of the lists. */
const LIST_ROOM = 256;

/** Shapes from the newest backwards until the room or the bound is used up; what still runs or is unknown goes first. Answers oldest first. */
function keepNewest<T extends { readonly status: string }, R extends TurnSummary | OperationSummary>(
  all: readonly T[],
  shape: (one: T) => R,
  roomBytes: number,
): R[] {
  const order = all.map((one, index) => ({ one, index }));
  const open = order.filter(({ one }) => OPEN_STATUSES.has(one.status)).toReversed();
  const settled = order.filter(({ one }) => !OPEN_STATUSES.has(one.status)).toReversed();
  const kept: { shaped: R; index: number }[] = [];
  let used = 0;
  for (const { one, index } of [...open, ...settled].slice(0, DTO_LIMITS.maxTurnsPerRun)) {
    const shaped = shape(one);
    used += jsonSize(shaped) + 1;
    if (used > roomBytes) break;
    kept.push({ shaped, index });
  }
  return kept.toSorted((left, right) => left.index - right.index).map(({ shaped }) => shaped);
}

const OPEN_STATUSES: ReadonlySet<string> = new Set(['dispatching', 'running', 'unknown']);
