import type { Context, Database, Transaction } from '@stint/storage';
import { retryAction, type RetryActionInput } from './action-commands.js';
import { answerQuestion, type AnswerInput } from './answer-question.js';
import { claimAction, type ClaimActionOptions, type ClaimedAction } from './claim-action.js';
import type { CommandResult } from './commands.js';
import { beginCoordinatorTurn, type BegunTurn, failCoordinatorTurn, type TurnFailure } from './coordinator-turns.js';
import { applyPlan, askHuman, completeItem, type DecisionResult } from './decisions.js';
import { endRun, type EndRunResult, type RunEnding, type Unresolved } from './end-run.js';
import { readEvents } from './events.js';
import type { CompletionInput } from './final-result.js';
import { addInput, type AddInputInput } from './inputs.js';
import {
  cancelItem,
  type ItemCommand,
  pauseItem,
  requestStart,
  type ResumeCommand,
  resumeItem,
} from './item-commands.js';
import { type ItemRecords, readItemRecords } from './item-records.js';
import { createWorkItem, type CreateWorkItemInput, listWorkItems, type ListWorkItemsOptions } from './items.js';
import { claimMailbox, type ClaimMailboxOptions } from './mailbox.js';
import { postMessage, type PostMessageInput } from './messages.js';
import type { PlanMutation } from './plan-types.js';
import type { CoordinatorFence, MailboxEntry, RunFence, WorkEvent, WorkItem } from './records.js';
import { findDeadClaims, recoverClaim } from './recover-claims.js';
import { type DeadRun, findDeadRuns, recoverRun } from './recover-runs.js';
import { findDeadHolds, recoverHold } from './workspace-holds.js';
import { workItemsMigrations } from './schema.js';

/** Says what a dead Run left unknown; a journal knows, in the transaction that recovers the Run. */
export type UnresolvedReader = (ctx: Context, run: DeadRun) => Transaction<readonly Unresolved[]>;

/** Work items on one database: each method is the body of the same name in a transaction of its own. */
export class WorkItems {
  readonly #db: Database;

  private constructor(db: Database) {
    this.#db = db;
  }

  /** Brings the tables up to date, then answers the object. The database stays the caller's to close. */
  static async open(db: Database): Promise<WorkItems> {
    await db.migrate(workItemsMigrations);
    return new WorkItems(db);
  }

  createWorkItem(input: CreateWorkItemInput): Promise<{ readonly itemId: string; readonly created: boolean }> {
    return this.#db.write((ctx) => createWorkItem(ctx, input));
  }

  readItemRecords(itemId: string): Promise<ItemRecords | undefined> {
    return this.#db.read((ctx) => readItemRecords(ctx, itemId));
  }

  listWorkItems(options?: ListWorkItemsOptions): Promise<readonly WorkItem[]> {
    return this.#db.read((ctx) => listWorkItems(ctx, options));
  }

  readEvents(options: { readonly itemId: string; readonly since: number }): Promise<readonly WorkEvent[]> {
    return this.#db.read((ctx) => readEvents(ctx, options));
  }

  requestStart(command: ItemCommand): Promise<CommandResult> {
    return this.#db.write((ctx) => requestStart(ctx, command));
  }

  pauseItem(command: ItemCommand): Promise<CommandResult> {
    return this.#db.write((ctx) => pauseItem(ctx, command));
  }

  resumeItem(command: ResumeCommand): Promise<CommandResult> {
    return this.#db.write((ctx) => resumeItem(ctx, command));
  }

  cancelItem(command: ItemCommand): Promise<CommandResult> {
    return this.#db.write((ctx) => cancelItem(ctx, command));
  }

  postMessage(input: PostMessageInput): Promise<CommandResult> {
    return this.#db.write((ctx) => postMessage(ctx, input));
  }

  answerQuestion(input: AnswerInput): Promise<CommandResult> {
    return this.#db.write((ctx) => answerQuestion(ctx, input));
  }

  addInput(input: AddInputInput): Promise<CommandResult> {
    return this.#db.write((ctx) => addInput(ctx, input));
  }

  retryAction(input: RetryActionInput): Promise<CommandResult> {
    return this.#db.write((ctx) => retryAction(ctx, input));
  }

  /** Claims the next mailbox entry and begins the Coordinator's turn on it, in one transaction. */
  beginCoordinatorTurn(options?: ClaimMailboxOptions): Promise<(BegunTurn & { readonly entry: MailboxEntry }) | null> {
    return this.#db.write(function* (ctx) {
      const claim = yield* claimMailbox(ctx, options);
      if (claim === null) return null;
      const begun = yield* beginCoordinatorTurn(ctx, claim);
      return begun === null ? null : { ...begun, entry: claim.entry };
    });
  }

  applyPlan(
    fence: CoordinatorFence,
    decision: { readonly mutations: readonly PlanMutation[]; readonly reply?: string },
  ): Promise<DecisionResult> {
    return this.#db.write((ctx) => applyPlan(ctx, fence, decision));
  }

  askHuman(fence: CoordinatorFence, decision: { readonly question: string }): Promise<DecisionResult> {
    return this.#db.write((ctx) => askHuman(ctx, fence, decision));
  }

  completeItem(fence: CoordinatorFence, decision: CompletionInput): Promise<DecisionResult> {
    return this.#db.write((ctx) => completeItem(ctx, fence, decision));
  }

  failCoordinatorTurn(fence: CoordinatorFence, failure: TurnFailure): Promise<boolean> {
    return this.#db.write((ctx) => failCoordinatorTurn(ctx, fence, failure));
  }

  claimAction(options?: ClaimActionOptions): Promise<ClaimedAction | null> {
    return this.#db.write((ctx) => claimAction(ctx, options));
  }

  endRun(fence: RunFence, ending: RunEnding): Promise<EndRunResult> {
    return this.#db.write((ctx) => endRun(ctx, fence, ending));
  }

  /**
   * Takes up what dead processes left: their mailbox claims, Runs and workspaces, one row a transaction. Answers how many
   * rows it moved. Without `unresolvedOf` every Run is taken to have left nothing unknown.
   */
  async recover(unresolvedOf?: UnresolvedReader): Promise<number> {
    await this.#db.endDeadProcesses();
    let moved = 0;
    for (const claim of await this.#db.read((ctx) => findDeadClaims(ctx))) {
      if (await this.#db.write((ctx) => recoverClaim(ctx, claim))) moved += 1;
    }
    for (const dead of await this.#db.read((ctx) => findDeadRuns(ctx))) {
      if (await this.#db.write((ctx) => recoverKnown(ctx, dead, unresolvedOf))) moved += 1;
    }
    for (const hold of await this.#db.read((ctx) => findDeadHolds(ctx))) {
      if (await this.#db.write((ctx) => recoverHold(ctx, hold))) moved += 1;
    }
    return moved;
  }
}

function* recoverKnown(ctx: Context, dead: DeadRun, unresolvedOf?: UnresolvedReader): Transaction<boolean> {
  const unresolved = unresolvedOf === undefined ? [] : yield* unresolvedOf(ctx, dead);
  return yield* recoverRun(ctx, dead, { unresolved });
}
