/**
 * Plays the Coordinator. It decides from the snapshot alone:
 *
 * 1. Nothing planned, or the plan was cancelled before its gate: plan (anew).
 * 2. A failed Action: ask the person; after the person said something, replace it.
 * 3. Everything finished: complete, if every criterion was seen to pass; else ask.
 * 4. Otherwise the plan stands: answer a person, or confirm the plan.
 */
import { firstUserText } from '../messages.js';
import type { Answer, ScenarioRequest } from '../scenario.js';
import { type PlannedAction, parseSnapshot, type Snapshot } from './coordinator-prompt.js';
import { planFor, templateOf, unusedId, withUnusedIds } from './plan-templates.js';

type Decision = Readonly<Record<string, unknown>>;

/** The Coordinator's answer: one JSON document, with the reasoning that led to it. */
export function coordinate(request: ScenarioRequest): Answer {
  const snapshot = parseSnapshot(firstUserText(request));
  if (snapshot === null) return { text: JSON.stringify(ask('I was shown no work item. What should be done?')) };
  const refusals = refusalReasons(request);
  const decision = refusals.length === 0 ? decide(snapshot, request.variants) : correct(snapshot, refusals);
  return { reasoning: explain(snapshot, decision), text: JSON.stringify(decision) };
}

function decide(snapshot: Snapshot, variants: readonly string[]): Decision {
  const { actions, trigger } = snapshot;
  const unfinished = actions.filter((action) => !finished.has(action.status));
  const failed = unfinished.filter((action) => action.status === 'failed');
  if (failed.length > 0) return trigger.kind === 'message' ? replaceFailed(snapshot, failed) : askAboutFailure(failed);
  if (unfinished.length > 0) return planStands(snapshot, unfinished);
  const done = actions.filter((action) => action.status === 'completed');
  const cutShort =
    actions.some((action) => action.status === 'cancelled') && done.every(({ kind }) => kind !== 'deliver');
  if (done.length > 0 && !cutShort) return completeOrAsk(snapshot);
  return plan(snapshot, variants.includes('parallel'));
}

const finished: ReadonlySet<string> = new Set(['completed', 'closed', 'superseded', 'cancelled']);

function plan(snapshot: Snapshot, parallel: boolean): Decision {
  const { hasWorkDir } = snapshot.contract;
  const actions = withUnusedIds(planFor({ hasWorkDir, parallel }), usedIds(snapshot));
  const reply = hasWorkDir
    ? 'I will look at the sources and tests, make the change, and check it against the criteria.'
    : 'I will answer this and check the answer against the criteria.';
  return { decision: 'plan', reply, mutations: actions.map((action) => ({ op: 'add', action })) };
}

function replaceFailed(snapshot: Snapshot, failed: readonly PlannedAction[]): Decision {
  const used = new Set(usedIds(snapshot));
  const mutations = failed.map((action) => {
    const template = templateOf(action, snapshot.contract.hasWorkDir);
    const id = unusedId(template.id, used);
    used.add(id);
    return { op: 'replace', id: action.id, action: { ...template, id, dependencies: action.dependencies } };
  });
  return { decision: 'plan', reply: 'Thank you. I will try that step again.', mutations };
}

function askAboutFailure(failed: readonly PlannedAction[]): Decision {
  const told = failed.map((action) => `"${action.id}"${action.note === '' ? '' : ` (${action.note})`}`).join(', ');
  return ask(`I could not get past ${told}. Can you tell me what I missed, or correct it and let me try again?`);
}

function planStands(snapshot: Snapshot, unfinished: readonly PlannedAction[]): Decision {
  const waiting = unfinished.find((action) => action.status === 'waiting');
  const moving = unfinished.map((action) => `${action.id} is ${action.status}`).join(', ');
  if (snapshot.trigger.kind === 'message') return { decision: 'answer', reply: `The plan stands: ${moving}.` };
  const gate = unfinished.find((action) => action.kind === 'deliver');
  if (waiting === undefined && gate !== undefined && (gate.status === 'blocked' || gate.status === 'ready')) {
    const confirmed = { op: 'patch_dependencies', id: gate.id, dependencies: gate.dependencies };
    return { decision: 'plan', reply: `The plan stands: ${moving}.`, mutations: [confirmed] };
  }
  return ask(waiting?.note || `Work is going on (${moving}). Is there anything you want done differently?`);
}

function completeOrAsk(snapshot: Snapshot): Decision {
  const { acceptanceCriteria, deliveryTarget } = snapshot.contract;
  const criteria = acceptanceCriteria.map(({ id }) => ({ id, evidenceRunIds: runsThatPassed(snapshot, id) }));
  const unproved = criteria.filter((criterion) => criterion.evidenceRunIds.length === 0).map(({ id }) => id);
  if (unproved.length > 0) return ask(`I have no evidence for ${unproved.join(', ')}. How should it be shown?`);
  const results = completedResults(snapshot);
  const summary = results.at(-1)?.summary || 'Everything that was planned is done.';
  const outputs = results.flatMap((result) => result.outputs).filter((output) => output.kind === deliveryTarget);
  const output = outputs.at(-1) ?? { kind: deliveryTarget ?? 'response', value: summary };
  const delivered = [{ kind: output.kind, text: output.value }];
  return { decision: 'complete', summary, criteria, outputs: delivered, residualRisks: [] };
}

/** A refused decision is not repeated: first a plain plan of one Action, then a question that quotes the refusal. */
function correct(snapshot: Snapshot, refusals: readonly string[]): Decision {
  const { actions, contract } = snapshot;
  const idle = actions.every((action) => finished.has(action.status));
  if (refusals.length === 1 && idle) {
    const [action] = withUnusedIds(planFor({ hasWorkDir: false, parallel: false }), usedIds(snapshot));
    const workspaceMode = contract.hasWorkDir ? 'shared' : 'read';
    return { decision: 'plan', mutations: [{ op: 'add', action: { ...action, workspaceMode } }] };
  }
  return ask(`My decision was refused: ${refusals.at(-1)} How should I go on?`);
}

function refusalReasons(request: ScenarioRequest): readonly string[] {
  const opening = 'The decision was refused:';
  return request.messages.flatMap(({ role, text }) =>
    role === 'user' && text.startsWith(opening) ? [text.slice(opening.length).trim()] : [],
  );
}

function explain(snapshot: Snapshot, decision: Decision): string {
  const states = snapshot.actions.map((action) => `${action.id} ${action.status}`).join(', ') || 'nothing is planned';
  return `Trigger: ${snapshot.trigger.kind}. State: ${states}. So I decide: ${String(decision['decision'])}.`;
}

function runsThatPassed(snapshot: Snapshot, criterionId: string): readonly string[] {
  const runs = completedResults(snapshot).filter((result) => result.passed.includes(criterionId));
  return runs.slice(-16).map((result) => result.runId);
}

function completedResults(snapshot: Snapshot): readonly NonNullable<PlannedAction['result']>[] {
  return snapshot.actions.flatMap((action) =>
    action.status === 'completed' && action.result !== null ? [action.result] : [],
  );
}

function usedIds(snapshot: Snapshot): ReadonlySet<string> {
  return new Set(snapshot.actions.map((action) => action.id));
}

function ask(question: string): Decision {
  return { decision: 'ask_human', question };
}
