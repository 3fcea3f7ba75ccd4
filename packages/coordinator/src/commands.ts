/**
 * What people do. A command that concerns the plan and the money at once is one transaction, which locks the work item before its account.
 *
 * 1. Every command may be given twice: revisions and message ids make the second one change nothing.
 * 2. A moved revision is answered with `stale`, not thrown.
 * 3. Nothing here is reachable by a model or a tool; limits are raised nowhere else.
 */
import { readTurn, resolveOperation, resolveTurn, type TurnRecord } from '@stint/journal';
import {
  type Actor,
  type ChangeResult,
  createAccount,
  extendAccount,
  type LimitAdditions,
  type Limits,
  readRequest,
  type ReconcileInput,
  type RefusalReason,
  reconcileRequest,
  restartAttempts,
  resumeAccount,
  type ResumeResult,
  snapshotAccount,
  stopAccount,
} from '@stint/ledger';
import type { Usage } from '@stint/provider-hooks';
import type { Body, Context, Database, Transaction } from '@stint/storage';
import {
  answerQuestion,
  cancelItem,
  type CommandResult,
  createWorkItem,
  type CreateWorkItemInput,
  type ItemCommand,
  lockItem,
  noteEvent,
  pauseItem,
  postMessage,
  type PostMessageInput,
  requestStart,
  resumeItem,
  retryAction,
  type RetryActionInput,
  wakeItem,
} from '@stint/work-items';
import { personStops } from './budget-stop.js';
import { CoordinatorError } from './errors.js';
import { goOnFrom, placeOf } from './go-on.js';
import { type Pricing, pricingBy } from './pricing.js';
import { accountOf } from './account.js';

/** Limits of a new item where the person gives none. Source: the defaults of the ledger's documentation. */
export const defaultItemLimits: Limits = Object.freeze({
  maxRequests: 200,
  maxTokens: 2_000_000,
  maxRunRequests: 40,
  maxAttempts: 3,
  maxConsecutiveFailures: 3,
  protected: { coordinator: { requests: 10, tokens: 100_000, maxPercent: 25 } },
});

export interface CreateItem {
  readonly contract: CreateWorkItemInput;
  /** Over {@link defaultItemLimits}; null = no cap of its own. */
  readonly limits?: Limits;
  /** Whether the Coordinator is to plan at once. */
  readonly start: boolean;
}

/** What a person found out about a turn whose outcome nobody knows. Each frees whoever waits for it. */
export type TurnFinding =
  /** Send it again; the unknown one stays charged. */
  | { readonly kind: 'retry' }
  /** The provider's bill names this usage. */
  | { readonly kind: 'usage'; readonly inputTokens: number; readonly outputTokens: number }
  /** The provider's bill does not have it. */
  | { readonly kind: 'not_billed' };

export interface AnswerQuestion {
  readonly itemId: string;
  readonly questionId: string;
  readonly text: string;
  readonly clientMessageId: string;
}

export interface Commands {
  create(input: CreateItem): Promise<{ readonly itemId: string; readonly created: boolean }>;
  start(command: ItemCommand): Promise<CommandResult>;
  /** Keeps the plan and stops spending; requests in flight are aborted and stay charged. */
  pause(command: ItemCommand): Promise<CommandResult>;
  /** Goes on after a pause or a cancel. A limit's stop stays: extend and resume the budget for that. */
  resume(command: ItemCommand): Promise<CommandResult>;
  cancel(command: ItemCommand): Promise<CommandResult>;
  postMessage(input: PostMessageInput): Promise<CommandResult>;
  answer(input: AnswerQuestion): Promise<CommandResult>;
  /** Lets a failed Action begin anew with all its attempts. */
  retry(input: RetryActionInput): Promise<CommandResult>;
  /** @throws JournalError for an operation that is not unknown, CoordinatorError `not_found` */
  resolveOperation(input: { readonly operationId: string; readonly effect: 'applied' | 'no_effect' }): Promise<string>;
  /** @throws JournalError for a turn that is not unknown, CoordinatorError `not_found` */
  resolveTurn(input: { readonly turnId: string; readonly finding: TurnFinding }): Promise<string>;
  /** Adds to the item's limits; does not resume. @throws LedgerError `invalid_limits` */
  extendBudget(input: BudgetChange & { readonly additions: LimitAdditions }): Promise<ChangeResult>;
  /** Takes a limit's stop back and wakes the item, or says what would be refused again. */
  resumeBudget(input: BudgetChange): Promise<ResumeResult>;
}

export interface BudgetChange {
  readonly itemId: string;
  /** The account's revision that the person saw. */
  readonly revision: number;
}

export interface CommandsOptions {
  /** Who is written into the ledger. @default `{ kind: 'person', id: 'owner' }` */
  readonly actor?: Actor;
  /** Prices the usage that a person found on the bill. @default by the ledger's own price book */
  readonly pricing?: Pricing;
}

export function createCommands(db: Database, options: CommandsOptions = {}): Commands {
  const { actor = { kind: 'person', id: 'owner' }, pricing = pricingBy() } = options;
  const write = <T>(body: Body<T>): Promise<T> => db.write(body);
  return {
    create: (input) => write((ctx) => createItem(ctx, input, actor)),
    start: (command) => write((ctx) => requestStart(ctx, command)),
    pause: (command) => write((ctx) => halt(ctx, command, { move: pauseItem, code: 'paused', actor })),
    cancel: (command) => write((ctx) => halt(ctx, command, { move: cancelItem, code: 'cancelled', actor })),
    resume: (command) => write((ctx) => goOn(ctx, command, actor)),
    postMessage: (input) => write((ctx) => postMessage(ctx, input)),
    answer: (input) => write((ctx) => answerQuestion(ctx, input)),
    retry: (input) => write((ctx) => retry(ctx, input, actor)),
    resolveOperation: (input) => write((ctx) => settleOperation(ctx, input, actor)),
    resolveTurn: (input) => write((ctx) => settleTurn(ctx, input, { actor, pricing })),
    extendBudget: (input) => write((ctx) => extendBudget(ctx, input, actor)),
    resumeBudget: (input) => write((ctx) => resumeBudget(ctx, input, actor)),
  };
}

function* createItem(ctx: Context, { contract, limits, start }: CreateItem, actor: Actor) {
  const made = yield* createWorkItem(ctx, contract);
  if (!made.created) return made;
  yield* createAccount(ctx, { id: accountOf(made.itemId), limits: limitsOf(limits ?? {}), actor });
  if (start) yield* requestStart(ctx, { itemId: made.itemId });
  return made;
}

/** A limit that a person names is taken as it was said: the work may use all of it, and nothing is kept back for the Coordinator. */
function limitsOf(given: Limits): Limits {
  const named = [given.maxRequests, given.maxTokens, given.maxCostMicros].some((limit) => typeof limit === 'number');
  return { ...defaultItemLimits, ...(named ? { protected: null } : {}), ...given };
}

interface Halt {
  readonly move: (ctx: Context, command: ItemCommand) => Transaction<CommandResult>;
  readonly code: 'paused' | 'cancelled';
  readonly actor: Actor;
}

function* halt(ctx: Context, command: ItemCommand, { move, code, actor }: Halt): Transaction<CommandResult> {
  const result = yield* move(ctx, command);
  if (result.applied && !result.duplicate) yield* stopAccount(ctx, accountOf(command.itemId), { code, actor });
  return result;
}

function* goOn(ctx: Context, command: ItemCommand, actor: Actor): Transaction<CommandResult> {
  const result = yield* resumeItem(ctx, command);
  if (!result.applied) return result;
  const refusal = yield* liftPersonStop(ctx, accountOf(command.itemId), actor);
  if (refusal !== null) {
    const text = `The budget stays stopped: ${refusal.message}`;
    yield* noteEvent(ctx, { itemId: command.itemId, type: 'budget.resume_refused', text });
  }
  return result;
}

/** Answers why the stop stands, null if it does not. A revision that moved since it was read is locked now: it is read again. */
function* liftPersonStop(ctx: Context, account: string, actor: Actor): Transaction<RefusalReason | null> {
  for (let isLocked = false; ; isLocked = true) {
    const { revision, stopReason } = yield* snapshotAccount(ctx, account);
    if (stopReason === null || !personStops.has(stopReason.code)) return null;
    const result = yield* resumeAccount(ctx, account, { revision, actor });
    if (result.resumed) return null;
    if (isLocked || result.reason.code !== 'revision_conflict') return result.reason;
  }
}

function* retry(ctx: Context, input: RetryActionInput, actor: Actor): Transaction<CommandResult> {
  const result = yield* retryAction(ctx, input);
  if (result.applied && !result.duplicate)
    yield* restartAttempts(ctx, accountOf(input.itemId), { subject: input.actionId, actor });
  return result;
}

function* extendBudget(
  ctx: Context,
  { itemId, revision, additions }: BudgetChange & { readonly additions: LimitAdditions },
  actor: Actor,
): Transaction<ChangeResult> {
  yield* lockItem(ctx, itemId);
  const result = yield* extendAccount(ctx, accountOf(itemId), { revision, additions, actor });
  if (!result.changed) return result;
  const added = Object.entries(additions).map(([limit, more]) => `${limit} + ${more}`);
  yield* noteEvent(ctx, { itemId, type: 'budget.extended', text: `The budget was extended: ${added.join(', ')}` });
  return result;
}

function* resumeBudget(ctx: Context, { itemId, revision }: BudgetChange, actor: Actor): Transaction<ResumeResult> {
  yield* lockItem(ctx, itemId);
  const account = accountOf(itemId);
  const result = yield* resumeAccount(ctx, account, { revision, actor });
  if (!result.resumed) return result;
  yield* wakeItem(ctx, { itemId, sourceKey: `budget:${account}:${result.revision}` });
  yield* noteEvent(ctx, { itemId, type: 'budget.resumed', text: 'The budget was resumed' });
  return result;
}

/** Answers the item's id. */
function* settleOperation(
  ctx: Context,
  { operationId, effect }: { readonly operationId: string; readonly effect: 'applied' | 'no_effect' },
  actor: Actor,
): Transaction<string> {
  const at = operationId.lastIndexOf('/');
  const key = { turnId: operationId.slice(0, at), callIndex: Number(operationId.slice(at + 1)) };
  const turn = at > 0 && Number.isSafeInteger(key.callIndex) ? yield* readTurn(ctx, key.turnId) : undefined;
  if (turn === undefined)
    throw new CoordinatorError(
      'not_found',
      `There is no operation ${operationId}; \`stint show\` lists those to resolve.`,
    );
  const place = yield* placeOf(ctx, turn.owner);
  yield* resolveOperation(ctx, key, effect, { by: actor.id });
  yield* goOnFrom(ctx, turn, place);
  return place.itemId;
}

/** Answers the item's id. */
function* settleTurn(
  ctx: Context,
  { turnId, finding }: { readonly turnId: string; readonly finding: TurnFinding },
  { actor, pricing }: Required<CommandsOptions>,
): Transaction<string> {
  const turn = yield* readTurn(ctx, turnId);
  if (turn === undefined)
    throw new CoordinatorError('not_found', `There is no turn ${turnId}; \`stint show\` lists those to resolve.`);
  const place = yield* placeOf(ctx, turn.owner);
  if (finding.kind !== 'retry')
    yield* reconcileRequest(ctx, turnId, yield* billedOf({ turn, finding, pricing }), actor);
  if (turn.status === 'written_off' && finding.kind !== 'retry') return place.itemId; // sent again before; now the bill has come
  yield* resolveTurn(ctx, turnId, { as: 'written_off', note: finding.kind }, actor.id);
  yield* goOnFrom(ctx, turn, place);
  return place.itemId;
}

interface Billed {
  readonly turn: TurnRecord;
  readonly finding: Exclude<TurnFinding, { kind: 'retry' }>;
  readonly pricing: Pricing;
}

/** What the bill says, with its price: tokens that are corrected without their cost would leave the money at the estimate. */
function* billedOf({ turn, finding, pricing }: Billed): Transaction<ReconcileInput> {
  if (finding.kind === 'not_billed') return 'not_billed';
  const { inputTokens, outputTokens } = finding;
  const cached = { cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  const usage: Usage = { inputTokens, outputTokens, ...cached, totalTokens: inputTokens + outputTokens };
  const cost = pricing.cost(turn.model);
  if (typeof cost !== 'function') return { usage, costMicros: cost ?? null };
  const request = yield* readRequest(turn.id);
  return { usage, costMicros: request === undefined ? null : cost(request, usage) };
}
