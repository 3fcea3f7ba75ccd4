import type { ActionSummary, Outcome } from '@stint/contracts';
import { type ActionParts, toActionOutcome, toActionShell } from './action.js';
import { jsonSize } from './json-size.js';
import type { TextGate } from './texts.js';

/** A part of a DTO and the bytes its JSON has. */
export interface Measured<T> {
  readonly value: T;
  readonly bytes: number;
}

/**
 * What was made of one Action in one state. Its parts are made when they are first asked for: what the byte budget has no room for is never
 * redacted.
 */
export class ActionFragment {
  /** Of the state it was made from. */
  readonly key: string;
  readonly id: string;
  readonly status: string;
  readonly #parts: ActionParts;
  readonly #gate: TextGate;
  #shell: Measured<ActionSummary> | undefined;
  #outcome: Measured<Outcome | null> | undefined;

  constructor(key: string, parts: ActionParts, gate: TextGate) {
    this.key = key;
    this.id = parts.action.id;
    this.status = parts.action.status;
    this.#parts = parts;
    this.#gate = gate;
  }

  /** Places masked in the parts made so far. */
  get maskedCount(): number {
    return this.#gate.maskedCount;
  }

  /** True when a text of the parts made so far was cut. */
  get isCut(): boolean {
    return this.#gate.cutCount > 0;
  }

  get hasOutcome(): boolean {
    return this.#parts.action.outcome !== null;
  }

  /** The Action without its outcome. */
  shell(): Measured<ActionSummary> {
    this.#shell ??= measure(toActionShell(this.#parts, this.#gate));
    return this.#shell;
  }

  /** null when there is none yet. */
  outcome(): Measured<Outcome | null> {
    this.#outcome ??= measure(toActionOutcome(this.#parts, this.#gate));
    return this.#outcome;
  }
}

export function measure<T>(value: T): Measured<T> {
  return { value, bytes: jsonSize(value) };
}

/** Where fragments are kept between two details of one item, by Action id. A `Map` does; forget it with the item. */
export interface FragmentStore {
  get(actionId: string): ActionFragment | undefined;
  set(actionId: string, fragment: ActionFragment): unknown;
}

/**
 * A short text that differs whenever the Action's summary would. Long texts are covered by what identifies them: the brief by its hash, the outcome by its Run, the question by its id.
 */
export function fragmentKey({
  action,
  latestRun,
  latestCounts,
  counts,
  question,
  maximumAttempts,
}: ActionParts): string {
  return JSON.stringify([
    [action.status, action.generation, action.specHash, action.attempts, maximumAttempts, action.outcomeRunId],
    [action.updatedAt, action.dependencies, action.attention, action.closingReason, question?.id],
    [latestRun?.id, latestRun?.status, latestRun?.endedAt, latestRun?.reason],
    [latestCounts?.loops, latestCounts?.toolCalls, latestCounts?.failedToolCalls],
    [counts.runs, counts.requests, counts.tokens, counts.loops, counts.toolCalls, counts.failedToolCalls],
  ]);
}
