import {
  CONTRACT_LIMITS,
  type Contract,
  deliveryTargetSchema,
  DTO_LIMITS,
  type WorkItemDetail,
  workItemStatusSchema,
} from '@stint/contracts';
import { type ActionParts, noCounts } from './action.js';
import { fillDetail } from './detail-budget.js';
import { createEvidenceLookup } from './evidence.js';
import { toExecutionControl, toExecutionStatistics } from './execution.js';
import { toFinalResult } from './final-result.js';
import { ActionFragment, fragmentKey, type FragmentStore } from './fragments.js';
import { toGoalProgress } from './goal-progress.js';
import { toNeeds } from './needs.js';
import type { ActionRecord, ItemRecord, WorkItemSources } from './records.js';
import { createRedactor } from './redact.js';
import { TextGate } from './texts.js';
import { toOperationSummary, toTurnSummary } from './turn.js';
import { type ProjectionOptions, toCoordinatorStatus, toItemReason, toRevisions } from './work-item-summary.js';

export interface DetailOptions extends ProjectionOptions {
  /** The Action whose body is kept longest. @default the running one, else the last that changed */
  readonly currentActionId?: string;
  /** Keeps what was made of each Action, so that the next detail makes only what changed. @default none */
  readonly fragments?: FragmentStore;
}

/** One WorkItem whole, at most 512 KiB of JSON, every cut counted; see `fillDetail` for what is left out first. */
export function toWorkItemDetail(sources: WorkItemSources, options: DetailOptions = {}): WorkItemDetail {
  const { records, account } = sources;
  const { item, runs } = records;
  const gate = new TextGate(createRedactor({ ...options, workspaceRoot: item.workDir }));
  const evidenceOf = createEvidenceLookup(records.actions, runs);
  const coordinatorQuestion = records.openQuestions.find(({ actionId }) => actionId === null) ?? null;
  const base: WorkItemDetail = {
    id: item.id,
    storeId: sources.storeId,
    status: workItemStatusSchema.parse(sources.derived?.status ?? item.status),
    reason: toItemReason(sources, gate),
    revisions: toRevisions(item),
    createdAt: item.createdAt,
    updatedAt: item.updatedAt,
    contract: toContract(item, gate),
    goalProgress: toGoalProgress(records, gate),
    coordinator: {
      status: toCoordinatorStatus(sources),
      question: coordinatorQuestion === null ? null : gate.text(coordinatorQuestion.text),
      since: records.thinkingTurn?.startedAt ?? coordinatorQuestion?.askedAt ?? null,
    },
    actions: [],
    omittedActionCount: 0,
    conversation: { messages: [], omittedMessageCount: records.messageCount, before: null },
    ...toNeeds(sources, gate),
    unknownTurns: gate.list(sources.unknownTurns, DTO_LIMITS.maxNeeds, (turn) => toTurnSummary(turn, gate)),
    unknownOperations: gate.list(sources.unknownOperations, DTO_LIMITS.maxNeeds, (one) =>
      toOperationSummary(one, gate),
    ),
    statistics: toExecutionStatistics(account, sources.actionCounts),
    control: toExecutionControl(account),
    finalResult:
      item.finalResult === null
        ? null
        : toFinalResult(item.finalResult, { completedAt: item.completedAt ?? item.updatedAt, evidenceOf, gate }),
    lastEventSeq: item.lastEventSeq,
    maskedSecretCount: 0,
    truncated: false,
  };
  return fillDetail(base, {
    fragments: toFragments(sources, gate, options.fragments),
    messages: records.messages,
    messageCount: records.messageCount,
    currentActionId: options.currentActionId ?? currentActionOf(records.actions),
    gate,
  });
}

function toContract(item: ItemRecord, gate: TextGate): Contract {
  return {
    title: gate.show(item.title, CONTRACT_LIMITS.maxTitleBytes).text,
    goal: gate.show(item.goal, CONTRACT_LIMITS.maxGoalBytes).text,
    acceptanceCriteria: item.acceptanceCriteria.map(({ id, text }) => ({
      id,
      text: gate.show(text, CONTRACT_LIMITS.maxCriterionBytes).text,
    })),
    omittedCriteriaCount: 0,
    deliveryTarget: item.deliveryTarget === null ? null : deliveryTargetSchema.parse(item.deliveryTarget),
    workDir: item.workDir,
    model: item.model,
  };
}

function toFragments(sources: WorkItemSources, gate: TextGate, store: FragmentStore | undefined): ActionFragment[] {
  const { records, account, runCounts, actionCounts } = sources;
  const latestRuns = new Map(records.runs.map((run) => [run.actionId, run]));
  const questions = new Map(records.openQuestions.map((question) => [question.actionId, question]));
  const maxima = new Map(account.subjects.map(({ subject, maximum }) => [subject, maximum]));
  return records.actions.map((action) => {
    const latestRun = latestRuns.get(action.id) ?? null;
    const latestCounts = latestRun === null ? undefined : runCounts.get(latestRun.id);
    const counts = actionCounts.get(action.id) ?? noCounts;
    const maximumAttempts = maxima.get(action.id) ?? account.limits.maxAttempts ?? null;
    const question = questions.get(action.id) ?? null;
    return toFragment({ action, latestRun, latestCounts, counts, question, maximumAttempts }, gate, store);
  });
}

function toFragment(parts: ActionParts, gate: TextGate, store: FragmentStore | undefined): ActionFragment {
  const key = fragmentKey(parts);
  const kept = store?.get(parts.action.id);
  if (kept?.key === key) return kept;
  const fragment = new ActionFragment(key, parts, gate.fork());
  store?.set(parts.action.id, fragment);
  return fragment;
}

function currentActionOf(actions: readonly ActionRecord[]): string | null {
  const running = actions.find(({ status }) => status === 'running');
  const latest = actions.reduce<ActionRecord | undefined>(
    (best, action) => (best === undefined || action.updatedAt > best.updatedAt ? action : best),
    undefined,
  );
  return (running ?? latest)?.id ?? null;
}
