import { DTO_LIMITS, type Need, needKindSchema } from '@stint/contracts';
import type { ActionRecord, AttentionRecord, WorkItemSources } from './records.js';
import type { TextGate } from './texts.js';

/** Needs of one item and how many more there are. */
export interface Needs {
  readonly needs: Need[];
  readonly omittedNeedCount: number;
}

const NOBODY = { questionId: null, actionId: null, runId: null, turnId: null, operationId: null, since: null } as const;
const ENDED: ReadonlySet<string> = new Set(['done', 'cancelled']);

/**
 * What a person is asked, each with the command that frees it: open questions, then unknown operations and turns, then failed or exhausted Actions, then what holds the whole item. One thing is named
 * once; an item that has ended asks nothing but what is still unknown.
 */
export function toNeeds(sources: WorkItemSources, gate: TextGate): Needs {
  const all = [...questionNeeds(sources, gate), ...unknownNeeds(sources), ...attentionNeeds(sources, gate)];
  return { needs: all.slice(0, DTO_LIMITS.maxNeeds), omittedNeedCount: Math.max(0, all.length - DTO_LIMITS.maxNeeds) };
}

function questionNeeds({ records }: WorkItemSources, gate: TextGate): Need[] {
  if (ENDED.has(records.item.status)) return [];
  return records.openQuestions.map((question) => ({
    ...NOBODY,
    kind: 'question',
    text: gate.text(question.text),
    command: `stint answer ${question.actionId ?? records.item.id} "your answer"`,
    questionId: question.id,
    actionId: question.actionId,
    runId: question.runId,
    since: question.askedAt,
  }));
}

function unknownNeeds({ unknownOperations, unknownTurns, records }: WorkItemSources): Need[] {
  const actionOfRun = new Map(records.runs.map(({ id, actionId }) => [id, actionId]));
  const operations = unknownOperations.map(({ id, turnId, tool, owner, createdAt }) => ({
    ...NOBODY,
    kind: 'unknown_operation' as const,
    text: `Nobody knows whether ${tool} had its effect. Look, then say which.`,
    command: `stint resolve ${id} --applied`,
    actionId: actionOfRun.get(owner.id) ?? null,
    runId: owner.kind === 'run' ? owner.id : null,
    turnId,
    operationId: id,
    since: createdAt,
  }));
  const turns = unknownTurns.map(({ id, model, owner, createdAt }) => ({
    ...NOBODY,
    kind: 'unknown_turn' as const,
    text: `Nobody knows whether the request to ${model} was answered. It counts as spent. Send it again, or say what was billed.`,
    command: `stint resolve ${id} --retry`,
    actionId: actionOfRun.get(owner.id) ?? null,
    runId: owner.kind === 'run' ? owner.id : null,
    turnId: id,
    since: createdAt,
  }));
  return [...operations, ...turns];
}

/** What was named by its id already. */
const NAMED_ALREADY: ReadonlySet<string> = new Set(['question', 'unknown_operation', 'unknown_turn']);

function attentionNeeds(sources: WorkItemSources, gate: TextGate): Need[] {
  const { records, derived } = sources;
  if (ENDED.has(records.item.status)) return [];
  const ofActions = records.actions
    .filter((action) => action.status === 'failed' || action.status === 'waiting')
    .flatMap((action) => actionNeed(action, sources, gate));
  const attention = derived === undefined ? records.item.attention : derived.attention;
  if (attention === null || isNamed(attention, ofActions, sources)) return ofActions;
  return [...ofActions, { ...NOBODY, ...needOf(attention, gate), since: records.item.updatedAt }];
}

function actionNeed(action: ActionRecord, sources: WorkItemSources, gate: TextGate): Need[] {
  const { attention } = action;
  if (attention === null || isNamed(attention, [], sources)) return [];
  return [{ ...NOBODY, ...needOf(attention, gate), actionId: action.id, since: action.updatedAt }];
}

function needOf(attention: AttentionRecord, gate: TextGate): Pick<Need, 'kind' | 'text' | 'command'> {
  return {
    kind: needKindSchema.parse(attention.code),
    text: gate.text(attention.message),
    command: gate.line(attention.command),
  };
}

/** True when a need made from a question, a turn, an operation or an Action says the same already. */
function isNamed({ code, command }: AttentionRecord, ofActions: readonly Need[], sources: WorkItemSources): boolean {
  if (ofActions.some((need) => need.kind === code && need.command === command)) return true;
  if (!NAMED_ALREADY.has(code)) return false;
  const { records, unknownOperations, unknownTurns } = sources;
  if (code === 'question') return records.openQuestions.length > 0;
  return code === 'unknown_operation' ? unknownOperations.length > 0 : unknownTurns.length > 0;
}
