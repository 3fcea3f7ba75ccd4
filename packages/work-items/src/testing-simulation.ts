import assert from 'node:assert/strict';
import { continueAction, retryAction } from './action-commands.js';
import { answerQuestion } from './answer-question.js';
import type { ClaimedAction } from './claim-action.js';
import { failCoordinatorTurn } from './coordinator-turns.js';
import { applyPlan, askHuman, completeItem } from './decisions.js';
import type { RunEnding } from './end-run.js';
import { isUnfinished } from './action-transitions.js';
import { acknowledgeInputs, addInput, bindInputs, pendingInputs } from './inputs.js';
import { cancelItem, pauseItem, resumeItem } from './item-commands.js';
import type { ItemRecords } from './item-records.js';
import { postMessage } from './messages.js';
import type { PlanMutation } from './plan-types.js';
import type { WorkItem } from './records.js';
import { findDeadClaims, recoverClaim, resolveCoordinatorTurn } from './recover-claims.js';
import { findDeadRuns, recoverRun } from './recover-runs.js';
import { findDeadHolds, recoverHold, releaseWorkspace } from './workspace-holds.js';
import { add, outcomeOf, type Thinking, type Work } from './testing-harness.js';
import { updateContract } from './update-contract.js';

/** A source of numbers in [0, 1) that one seed determines. */
export type Random = () => number;

/** mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * An item under random legal commands: a Coordinator, a scheduler, crashing processes and a person, each doing any of what
 * they may do. {@link settle} then lets all behave, with a person who types the command that the item offers.
 */
export class Simulation {
  readonly itemId: string;
  readonly trace: string[] = [];
  readonly #work: Work;
  readonly #random: Random;
  /** Runs under way, with the process that owns them. */
  #running: { readonly claimed: ClaimedAction; readonly by: Work }[] = [];
  #thinking: { readonly turn: Thinking; readonly by: Work }[] = [];
  #victim: Work | null = null;
  #names = 0;

  constructor(work: Work, itemId: string, random: Random) {
    this.#work = work;
    this.itemId = itemId;
    this.#random = random;
  }

  async step(): Promise<void> {
    const steps = [
      () => this.#beginThinking(),
      () => this.#beginThinking(),
      () => this.#decide(),
      () => this.#decide(),
      () => this.#beginRun(),
      () => this.#beginRun(),
      () => this.#endRun(),
      () => this.#endRun(),
      () => this.#person(),
      () => (this.#random() < 0.2 ? this.#crash() : this.#endRun()),
      () => this.#passTime(),
    ];
    await this.#pick(steps)();
    await this.#work.look(this.itemId);
  }

  /** Everyone behaves from now on; answers the status the item ends with. Fails when it does not end in `bound` steps. */
  async settle(bound: number): Promise<WorkItem['status']> {
    await this.#crash();
    for (const { turn } of this.#thinking.splice(0)) await this.#decideWell(turn);
    for (const { claimed } of this.#running.splice(0)) await this.#endWell(claimed);
    for (let count = 0; count < bound; count += 1) {
      const records = await this.#work.look(this.itemId);
      if (records.item.status === 'done' || records.item.status === 'cancelled') return records.item.status;
      if (!(await this.#moveOn(records))) await this.#typeOffered(records);
    }
    return (await this.#work.look(this.itemId)).item.status;
  }

  /** One step of a Coordinator or scheduler that behaves, or of the clock; false when only a person can go on. */
  async #moveOn(records: ItemRecords): Promise<boolean> {
    await this.#recover();
    const thinking = await this.#work.tryThink();
    if (thinking !== null) return this.#decideWell(thinking);
    const claimed = await this.#work.tryClaim();
    if (claimed !== null) return this.#endWell(claimed);
    const waits = [...records.actions, ...records.openMailbox].flatMap(({ notBefore }) => notBefore ?? []);
    const next = Math.min(...waits.filter((time) => time > this.#work.clock.now));
    if (!Number.isFinite(next)) return false;
    this.#work.clock.now = next;
    return true;
  }

  async #beginThinking(): Promise<void> {
    const by = await this.#anyProcess();
    const turn = await by.tryThink();
    if (turn === null) return;
    this.trace.push(`think about ${turn.entry.kind}`);
    this.#thinking.push({ turn, by });
  }

  async #decide(): Promise<void> {
    const next = this.#thinking.pop();
    if (next === undefined) return;
    const { fence } = next.turn;
    const choices = [
      () => this.#decideWell(next.turn),
      () => this.#decideWell(next.turn),
      () => this.#work.write((ctx) => askHuman(ctx, fence, { question: 'What now?' })),
      () => this.#fail(next.turn, { code: 'provider', retryAt: null }),
      () => this.#fail(next.turn, { code: 'provider', retryAt: this.#work.clock.now + 1_000 }),
    ];
    await this.#pick(choices)();
    await this.#fail(next.turn, { code: 'stale', retryAt: this.#work.clock.now });
  }

  async #fail(turn: Thinking, failure: { readonly code: string; readonly retryAt: number | null }): Promise<void> {
    this.trace.push(`fail turn ${failure.code} ${failure.retryAt}`);
    await this.#work.write((ctx) => failCoordinatorTurn(ctx, turn.fence, { message: 'It failed', ...failure }));
  }

  /** Completes if that is possible, else mends the plan: what failed is closed, and there is a gate. */
  async #decideWell(turn: Thinking): Promise<boolean> {
    const records = await this.#work.look(this.itemId);
    const runs = records.runs.filter((run) => run.status === 'completed');
    const decision = {
      summary: 'All is done',
      criteria: records.item.acceptanceCriteria.map(({ id }) => ({ id, evidenceRunIds: runs.map((run) => run.id) })),
      outputs: [{ kind: 'response', value: 'Done' }],
      residualRisks: [],
    };
    const completed = await this.#work.write((ctx) => completeItem(ctx, turn.fence, decision));
    if (completed.applied) return true;
    const mutations = this.#mending(records);
    const planned = await this.#work.write((ctx) => applyPlan(ctx, turn.fence, { mutations }));
    this.trace.push(`plan ${JSON.stringify(mutations.map((mutation) => mutation.op))}: ${JSON.stringify(planned)}`);
    const retryAt = this.#work.clock.now;
    if (!planned.applied) await this.#fail(turn, { code: 'stale', retryAt });
    return true;
  }

  #mending(records: ItemRecords): readonly PlanMutation[] {
    const failed = records.actions.filter((action) => action.status === 'failed');
    const kept = records.actions.filter((action) => isUnfinished(action.status) && action.status !== 'failed');
    const closings = failed.map(({ slug }): PlanMutation => ({ op: 'close', id: slug, reason: 'It failed' }));
    if (kept.some((action) => action.kind === 'deliver')) return closings;
    const names = [1, 2, 3].slice(0, 1 + Math.floor(this.#random() * 3)).map(() => `step-${(this.#names += 1)}`);
    const gate = `gate-${(this.#names += 1)}`;
    const dependencies = [...names, ...kept.map((action) => action.slug)];
    return [
      ...closings,
      ...names.map((name) => add(name, { workspaceMode: this.#pick(['read', 'shared'] as const) })),
      add(gate, { kind: 'deliver', dependencies }),
    ];
  }

  async #beginRun(): Promise<void> {
    const by = await this.#anyProcess();
    const claimed = await by.tryClaim();
    if (claimed === null) return;
    this.trace.push(`run ${claimed.action.slug}`);
    this.#running.push({ claimed, by });
  }

  async #endRun(): Promise<void> {
    const next = this.#running.pop();
    if (next === undefined) return;
    const reason = { code: 'test', message: 'It went wrong' };
    const endings: (RunEnding | null)[] = [
      null,
      null,
      { status: 'waiting', question: 'Which one?' },
      { status: 'retryable', reason },
      { status: 'deferred', reason, notBefore: this.#work.clock.now + 5_000 },
      { status: 'failed', reason },
      { status: 'outcome_unknown', reason, unresolved: [{ kind: 'operation', id: `op-${next.claimed.run.id}` }] },
    ];
    const ending = this.#pick(endings);
    this.trace.push(`end ${next.claimed.action.slug} ${ending?.status ?? 'well'}`);
    if (ending === null) await this.#endWell(next.claimed);
    else await this.#end(next.claimed, ending);
  }

  /** Takes up what was typed, then ends; a Run that was cancelled lets go of its workspace. */
  async #end({ fence }: ClaimedAction, ending: RunEnding): Promise<void> {
    const inputIds = (await this.#work.write((ctx) => pendingInputs(ctx, fence))).map((input) => input.id);
    const turnId = `turn-${fence.runId}-${inputIds.length}`;
    await this.#work.write(function* (ctx) {
      yield* bindInputs(ctx, fence, { turnId, inputIds });
      yield* acknowledgeInputs(ctx, turnId);
    });
    const ended = await this.#work.end(fence, ending);
    if (!ended.ended) await this.#work.write((ctx) => releaseWorkspace(ctx, fence.runId));
  }

  async #endWell(claimed: ClaimedAction): Promise<boolean> {
    const { item } = await this.#work.look(this.itemId);
    const checks = item.acceptanceCriteria.map(({ id }) => ({
      criterionId: id,
      status: 'passed' as const,
      evidence: 'Seen',
    }));
    const outcome = outcomeOf({ checks, outputs: [{ kind: 'response', value: 'Done' }] });
    await this.#end(claimed, { status: 'completed', outcome });
    return true;
  }

  async #person(): Promise<void> {
    const { itemId } = this;
    const clientMessageId = `m${(this.#names += 1)}`;
    const records = await this.#work.look(itemId);
    const open = records.actions.filter((action) => ['ready', 'running', 'waiting', 'failed'].includes(action.status));
    const actionId = open.length === 0 ? null : this.#pick(open).id;
    const commands: [string, () => Promise<unknown>][] = [
      ['say', () => this.#work.write((ctx) => postMessage(ctx, { itemId, text: 'Go on', clientMessageId }))],
      ['resume', () => this.#work.write((ctx) => resumeItem(ctx, { itemId }))],
      ['change', () => this.#work.write((ctx) => updateContract(ctx, { itemId, change: { goal: clientMessageId } }))],
      ['offered', () => this.#typeOffered(records)],
    ];
    if (actionId !== null) {
      const input = { itemId, actionId, text: 'Mind this', clientMessageId };
      commands.push(['input', () => this.#work.write((ctx) => addInput(ctx, input))]);
    }
    if (this.#random() < 0.2) commands.push(['pause', () => this.#work.write((ctx) => pauseItem(ctx, { itemId }))]);
    if (this.#random() < 0.1) commands.push(['cancel', () => this.#work.write((ctx) => cancelItem(ctx, { itemId }))]);
    const [name, run] = this.#pick(commands);
    this.trace.push(`person: ${name}`);
    if (records.item.status === 'done' || (records.item.status === 'cancelled' && name !== 'resume')) return;
    await run();
  }

  /** Types the very command that the item offers. */
  async #typeOffered(records: ItemRecords): Promise<void> {
    const command = records.item.attention?.command;
    if (command === undefined) return;
    this.trace.push(`person types: ${command}`);
    const { itemId } = this;
    const [, verb, subject = ''] = command.split(' ');
    if (verb === 'resume') await this.#work.write((ctx) => resumeItem(ctx, { itemId: subject }));
    else if (verb === 'retry') await this.#work.write((ctx) => retryAction(ctx, { itemId, actionId: subject }));
    else if (verb === 'answer') await this.#answer(records, subject);
    else if (verb === 'resolve') await this.#resolve(records, subject);
    else assert.fail(`nobody knows the command ${command}`);
  }

  async #answer(records: ItemRecords, subject: string): Promise<void> {
    const question = records.openQuestions.find(({ actionId }) => (actionId ?? this.itemId) === subject);
    assert.ok(question, `${subject} asks nothing`);
    const answer = { itemId: this.itemId, questionId: question.id, text: 'This one' };
    const clientMessageId = `m${(this.#names += 1)}`;
    await this.#work.write((ctx) => answerQuestion(ctx, { ...answer, clientMessageId }));
  }

  async #resolve(records: ItemRecords, ref: string): Promise<void> {
    const { itemId } = this;
    const action = records.actions.find((candidate) => candidate.attention?.ref === ref);
    if (action === undefined) {
      const coordinatorTurnId = ref.replace('turn-of-', '');
      await this.#work.write((ctx) => resolveCoordinatorTurn(ctx, { itemId, coordinatorTurnId, turnId: ref }));
    } else {
      await this.#work.write((ctx) => continueAction(ctx, { itemId, actionId: action.id, unresolved: [] }));
    }
  }

  /** The second process dies with all that it does, and the first recovers it. */
  async #crash(): Promise<void> {
    const victim = this.#victim;
    if (victim === null) return;
    this.#victim = null;
    this.trace.push('crash');
    await victim.db.close();
    this.#running = this.#running.filter(({ by }) => by !== victim);
    this.#thinking = this.#thinking.filter(({ by }) => by !== victim);
    await this.#recover();
  }

  async #recover(): Promise<void> {
    const work = this.#work;
    for (const claim of await work.read((ctx) => findDeadClaims(ctx))) {
      const paid = claim.coordinatorTurnId !== null && this.#random() < 0.3;
      const unknownTurnId = paid ? `turn-of-${claim.coordinatorTurnId}` : null;
      await work.write((ctx) => recoverClaim(ctx, { ...claim, unknownTurnId }));
    }
    for (const dead of await work.read((ctx) => findDeadRuns(ctx))) {
      const unresolved = this.#random() < 0.3 ? [{ kind: 'operation' as const, id: `op-${dead.runId}` }] : [];
      await work.write((ctx) => recoverRun(ctx, dead, { unresolved }));
    }
    for (const hold of await work.read((ctx) => findDeadHolds(ctx))) await work.write((ctx) => recoverHold(ctx, hold));
  }

  async #passTime(): Promise<void> {
    this.#work.clock.now += Math.floor(this.#random() * 10_000);
  }

  async #anyProcess(): Promise<Work> {
    if (this.#random() < 0.7) return this.#work;
    this.#victim ??= await this.#work.otherProcess();
    return this.#victim;
  }

  #pick<T>(choices: readonly T[]): T {
    const choice = choices[Math.floor(this.#random() * choices.length)];
    assert.ok(choice !== undefined);
    return choice;
  }
}
