import assert from 'node:assert/strict';
import type { Body, Database, DatabaseOptions } from '@stint/storage';
import type { FreshStore } from '@stint/storage/testing';
import { type ClaimActionOptions, claimAction, type ClaimedAction } from './claim-action.js';
import { type BegunTurn, beginCoordinatorTurn } from './coordinator-turns.js';
import { applyPlan, type DecisionResult } from './decisions.js';
import { endRun, type EndRunResult, type RunEnding } from './end-run.js';
import { requestStart } from './item-commands.js';
import { type ItemRecords, readItemRecords } from './item-records.js';
import { createWorkItem, type CreateWorkItemInput } from './items.js';
import { claimMailbox, type MailboxClaim } from './mailbox.js';
import { assertNothingStuck } from './nothing-stuck.js';
import type { Outcome } from './outcome.js';
import type { PlannedAction, PlanMutation } from './plan-types.js';
import type { Action, MailboxEntry, RunFence } from './records.js';
import { workItemsMigrations } from './schema.js';

/** One rule that holds on every engine. */
export interface WorkCase {
  readonly name: string;
  readonly run: (work: Work) => Promise<void>;
}

/** A Coordinator turn that thinks. */
export type Thinking = BegunTurn & { readonly entry: MailboxEntry };

/** A store with two processes on it, and the steps that every scenario is made of. */
export class Work {
  readonly store: FreshStore<DatabaseOptions>;
  readonly clock: { now: number };
  readonly db: Database;

  private constructor(store: FreshStore<DatabaseOptions>, clock: { now: number }, db: Database) {
    this.store = store;
    this.clock = clock;
    this.db = db;
  }

  static async open(store: FreshStore<DatabaseOptions>): Promise<Work> {
    const clock = { now: 1_800_000_000_000 };
    const db = await store.open({ clock: () => clock.now });
    await db.migrate(workItemsMigrations);
    return new Work(store, clock, db);
  }

  /** Another process on the same store. Closing it makes it a dead owner. */
  async otherProcess(): Promise<Work> {
    return new Work(this.store, this.clock, await this.store.open({ clock: () => this.clock.now }));
  }

  /** Commits a body. */
  async write<T>(body: Body<T>): Promise<T> {
    return this.db.write(body);
  }

  read<T>(body: Body<T>): Promise<T> {
    return this.db.read(body);
  }

  async create(input: Partial<CreateWorkItemInput> = {}): Promise<string> {
    const filled = { goal: 'Make the failing test pass', deliveryTarget: 'response' as const, ...input };
    return (await this.write((ctx) => createWorkItem(ctx, filled))).itemId;
  }

  async start(itemId: string): Promise<void> {
    await this.write((ctx) => requestStart(ctx, { itemId }));
  }

  /** The item with all its records; every look also checks that it is not stuck. */
  async look(itemId: string): Promise<ItemRecords> {
    const records = await this.read((ctx) => readItemRecords(ctx, itemId));
    assert.ok(records, `no item ${itemId}`);
    assertNothingStuck(records);
    return records;
  }

  async action(itemId: string, slug: string): Promise<Action> {
    const action = (await this.look(itemId)).actions.find((candidate) => candidate.slug === slug);
    assert.ok(action, `no Action ${slug}`);
    return action;
  }

  claimMessage(): Promise<MailboxClaim | null> {
    return this.write((ctx) => claimMailbox(ctx));
  }

  /** Claims the next mailbox entry and begins a turn on it; fails when there is none. */
  async think(): Promise<Thinking> {
    const thinking = await this.tryThink();
    assert.ok(thinking, 'nothing in the mailbox');
    return thinking;
  }

  tryThink(): Promise<Thinking | null> {
    return this.write(function* (ctx) {
      const claim = yield* claimMailbox(ctx);
      if (claim === null) return null;
      const begun = yield* beginCoordinatorTurn(ctx, claim);
      return begun === null ? null : { ...begun, entry: claim.entry };
    });
  }

  /** Lets the Coordinator plan `mutations` in answer to the next mailbox entry. */
  async plan(mutations: readonly PlanMutation[]): Promise<void> {
    const { fence } = await this.think();
    assertApplied(await this.write((ctx) => applyPlan(ctx, fence, { mutations })));
  }

  /** A started item with a plan. */
  async planned(mutations: readonly PlanMutation[], input: Partial<CreateWorkItemInput> = {}): Promise<string> {
    const itemId = await this.create(input);
    await this.start(itemId);
    await this.plan(mutations);
    return itemId;
  }

  tryClaim(options: ClaimActionOptions = {}): Promise<ClaimedAction | null> {
    return this.write((ctx) => claimAction(ctx, { maxConcurrentActions: 12, ...options }));
  }

  /** Claims the next ready Action; fails when there is none, or when it is not `slug`. */
  async claim(slug?: string, options: ClaimActionOptions = {}): Promise<ClaimedAction> {
    const claimed = await this.tryClaim(options);
    assert.ok(claimed, 'no Action can be claimed');
    if (slug !== undefined) assert.equal(claimed.action.slug, slug);
    return claimed;
  }

  end(fence: RunFence, ending: RunEnding): Promise<EndRunResult> {
    return this.write((ctx) => endRun(ctx, fence, ending));
  }

  /** Claims and completes the next ready Action. */
  async complete(slug: string, outcome: Partial<Outcome> = {}): Promise<ClaimedAction> {
    const claimed = await this.claim(slug);
    const ended = await this.end(claimed.fence, { status: 'completed', outcome: outcomeOf(outcome) });
    assert.equal(ended.ended, true);
    return claimed;
  }
}

export function assertApplied(result: DecisionResult): void {
  assert.deepEqual(result, { applied: true });
}

export function outcomeOf(outcome: Partial<Outcome> = {}): Outcome {
  return { summary: 'It is done', evidence: [], checks: [], outputs: [], residualRisks: [], ...outcome };
}

/** The outcome of a gate that passes the first `criteria` criteria and delivers a response. */
export function passingOutcome(criteria: number): Outcome {
  return outcomeOf({
    checks: Array.from({ length: criteria }, (_, index) => ({
      criterionId: `c${index + 1}`,
      status: 'passed' as const,
      evidence: 'node --test passes',
    })),
    outputs: [{ kind: 'response', value: 'The test passes now' }],
  });
}

export function planned(id: string, rest: Partial<PlannedAction> = {}): PlannedAction {
  return {
    id,
    kind: 'work',
    objective: `Do ${id} as the goal demands`,
    approach: 'Read the files first',
    expectedResult: 'A result that can be checked',
    dependencies: [],
    workspaceMode: 'read',
    checkpoint: false,
    ...rest,
  };
}

export function add(id: string, rest: Partial<PlannedAction> = {}): PlanMutation {
  return { op: 'add', action: planned(id, rest) };
}

/** Two steps and a gate: inspect -> fix -> deliver. */
export const threeSteps: readonly PlanMutation[] = [
  add('inspect'),
  add('fix', { dependencies: ['inspect'] }),
  add('deliver', { kind: 'deliver', dependencies: ['fix'] }),
];
