import {
  actionKindSchema,
  type ActionDetail,
  actionStatusSchema,
  type ActionSummary,
  cutToBytes,
  DTO_LIMITS,
  MAX_DTO_BYTES,
  type Outcome,
  type RunDetail,
  workspaceModeSchema,
} from '@stint/contracts';
import { jsonSize } from './json-size.js';
import type { ActionCounts, ActionRecord, ActionSources, QuestionRecord, RunCounts, RunRecord } from './records.js';
import { createRedactor, type RedactionOptions } from './redact.js';
import { shapeRunDetail, toOutcome, toRunSummary } from './run.js';
import { TextGate } from './texts.js';

/** What an Action's summary is made from. */
export interface ActionParts {
  readonly action: ActionRecord;
  /** null: it was never begun. */
  readonly latestRun: RunRecord | null;
  /** @default it took nothing */
  readonly latestCounts?: RunCounts | undefined;
  /** Over its Runs. */
  readonly counts: ActionCounts;
  /** The one that is asked now. */
  readonly question: QuestionRecord | null;
  readonly maximumAttempts: number | null;
}

const HEADLINE_BYTES = 160;

/** One step of the plan with brief and outcome. */
export function toActionSummary(parts: ActionParts, gate: TextGate): ActionSummary {
  const cutsBefore = gate.cutCount;
  const shell = toActionShell(parts, gate);
  const outcome = toActionOutcome(parts, gate);
  return { ...shell, outcome, truncated: gate.cutCount > cutsBefore };
}

/** What the Action's last completed Run handed over; null when there is nothing. */
export function toActionOutcome({ action }: ActionParts, gate: TextGate): Outcome | null {
  return action.outcome === null ? null : toOutcome(action.outcome, gate);
}

/** The step without its outcome. */
export function toActionShell(parts: ActionParts, gate: TextGate): ActionSummary {
  const { action, question, maximumAttempts, latestRun } = parts;
  const cutsBefore = gate.cutCount;
  const brief = {
    objective: gate.text(action.objective),
    approach: gate.text(action.approach),
    expectedResult: gate.text(action.expectedResult),
  };
  return {
    id: action.id,
    slug: action.slug,
    kind: actionKindSchema.parse(action.kind),
    status: actionStatusSchema.parse(action.status),
    workspaceMode: workspaceModeSchema.parse(action.workspaceMode),
    checkpoint: action.checkpoint,
    generation: action.generation,
    attempt: latestRun?.attempt ?? 0,
    dependencies: [...action.dependencies],
    headline: firstLine(brief.objective),
    brief,
    attempts: {
      used: action.attempts,
      maximum: maximumAttempts,
      exhausted: maximumAttempts !== null && action.attempts >= maximumAttempts,
    },
    question: question === null ? null : gate.text(question.text),
    reason: toReason(action, gate),
    latestRun: latestRun === null ? null : toRunSummary(latestRun, gate, parts.latestCounts),
    outcome: null,
    statistics: { ...parts.counts },
    createdAt: action.createdAt,
    updatedAt: action.updatedAt,
    truncated: gate.cutCount > cutsBefore,
  };
}

function firstLine(text: string): string {
  return cutToBytes(text.trim().split('\n', 1)[0] ?? '', HEADLINE_BYTES);
}

function toReason(action: ActionRecord, gate: TextGate): ActionSummary['reason'] {
  if (action.attention !== null) return { code: action.attention.code, message: gate.line(action.attention.message) };
  if (action.closingReason !== null) return { code: action.status, message: gate.line(action.closingReason) };
  return null;
}

/** Of an Action without Runs. */
export const noCounts: ActionCounts = Object.freeze({
  runs: 0,
  requests: 0,
  tokens: 0,
  loops: 0,
  toolCalls: 0,
  failedToolCalls: 0,
});

/** The sum with one Run more. */
export function addRun(sum: ActionCounts, counts: RunCounts | undefined): ActionCounts {
  return {
    runs: sum.runs + 1,
    requests: sum.requests + (counts?.requests ?? 0),
    tokens: sum.tokens + (counts?.tokens ?? 0),
    loops: sum.loops + (counts?.loops ?? 0),
    toolCalls: sum.toolCalls + (counts?.toolCalls ?? 0),
    failedToolCalls: sum.failedToolCalls + (counts?.failedToolCalls ?? 0),
  };
}

/** One Action with its Runs, newest first, at most 512 KiB of JSON. Older Runs are cut first, and counted. */
export function toActionDetail(sources: ActionSources, redaction: RedactionOptions): ActionDetail {
  const gate = new TextGate(createRedactor(redaction));
  const runs = sources.runs.slice(0, DTO_LIMITS.maxRunsPerAction);
  const summary = toActionSummary(actionPartsOf(sources), gate);
  const pendingInputs = gate.list(sources.pendingInputs, 64, ({ text }) => gate.line(text));
  const head = { ...summary, itemId: sources.itemId, pendingInputs };
  const shaped: RunDetail[] = [];
  let room = MAX_DTO_BYTES - jsonSize(head) - LIST_ROOM;
  for (const run of runs) {
    const detail = shapeRunDetail(run, gate, Math.floor(room / 2));
    const size = jsonSize(detail) + 1;
    if (size > room) break;
    room -= size;
    shaped.push(detail);
  }
  const omittedRunCount = sources.unreadRunCount + sources.runs.length - shaped.length;
  return { ...head, runs: shaped, omittedRunCount, truncated: gate.cutCount > 0 || omittedRunCount > 0 };
}

const LIST_ROOM = 256;

function actionPartsOf(sources: ActionSources): ActionParts {
  const { action, runs, question, subject } = sources;
  return {
    action,
    latestRun: runs[0]?.run ?? null,
    latestCounts: runs[0]?.counts,
    counts: runs.reduce((sum, { counts }) => addRun(sum, counts), noCounts),
    question,
    maximumAttempts: subject?.maximum ?? null,
  };
}
