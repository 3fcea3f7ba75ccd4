import { list, parsedOrNull, record, text } from '../protocol.js';

/** What the Coordinator is shown, as far as these scenarios look at it. */
export interface Snapshot {
  readonly trigger: { readonly kind: string; readonly text: string; readonly action: string };
  readonly contract: {
    readonly title: string;
    readonly goal: string;
    readonly acceptanceCriteria: readonly { readonly id: string; readonly text: string }[];
    readonly deliveryTarget: string | null;
    readonly hasWorkDir: boolean;
  };
  readonly actions: readonly PlannedAction[];
}

export interface PlannedAction {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly dependencies: readonly string[];
  /** Why it failed or what it asks. */
  readonly note: string;
  readonly result: {
    readonly runId: string;
    readonly summary: string;
    /** Ids of the criteria this run saw pass. */
    readonly passed: readonly string[];
    readonly outputs: readonly { readonly kind: string; readonly value: string }[];
  } | null;
}

/** The first line of every Coordinator system prompt. */
export const coordinatorLine = 'You are the Coordinator of a Stint work item.';

/** Reads the Coordinator's JSON document; null if the text is not one. */
export function parseSnapshot(source: string): Snapshot | null {
  const document = parsedOrNull(source);
  if (document === null || typeof document !== 'object' || !('contract' in document)) return null;
  const { trigger, contract, actions } = record(document);
  const { title, goal, acceptanceCriteria, deliveryTarget, hasWorkDir } = record(contract);
  return {
    trigger: parseTrigger(trigger),
    contract: {
      title: text(title),
      goal: text(goal),
      acceptanceCriteria: list(acceptanceCriteria).map((value) => parseCriterion(record(value))),
      deliveryTarget: typeof deliveryTarget === 'string' ? deliveryTarget : null,
      hasWorkDir: hasWorkDir === true,
    },
    actions: list(actions).map((value) => parseAction(record(value))),
  };
}

function parseTrigger(value: unknown): Snapshot['trigger'] {
  const { kind, type, text: said, action } = record(value);
  return { kind: text(kind) || text(type) || text(value), text: text(said), action: text(action) };
}

function parseCriterion(value: Readonly<Record<string, unknown>>) {
  return { id: text(value['id']), text: text(value['text']) };
}

function parseAction(value: Readonly<Record<string, unknown>>): PlannedAction {
  return {
    id: text(value['id']),
    kind: text(value['kind']),
    status: text(value['status']),
    dependencies: list(value['dependencies']).map(text),
    note: text(value['note']),
    result: value['result'] === undefined || value['result'] === null ? null : parseResult(record(value['result'])),
  };
}

function parseResult(value: Readonly<Record<string, unknown>>): NonNullable<PlannedAction['result']> {
  const checks = list(value['checks']).map(record);
  return {
    runId: text(value['runId']),
    summary: text(value['summary']),
    passed: checks.filter((check) => check['status'] === 'passed').map((check) => text(check['criterionId'])),
    outputs: list(value['outputs'])
      .map(record)
      .map((output) => ({ kind: text(output['kind']), value: text(output['value']) || text(output['text']) })),
  };
}
