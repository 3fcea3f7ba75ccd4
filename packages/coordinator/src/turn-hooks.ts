/**
 * The one hook set: joins fence, ledger and journal, for Runs and Coordinator turns alike.
 *
 * States of a turn here: prepared (in memory only) -> started | denied; prepared -> given_up. Invariants:
 * 1. Nothing is stored before `start`; `start` is one transaction, and no byte leaves before it committed.
 * 2. A denial commits (the ledger's stop stays) and is thrown as {@link TurnDenied}; a lost lease stores nothing.
 * 3. `finish` and `fail` book in the ledger whatever the fence says; only with the fence does an answer count.
 * 4. A `start` that outlasted its time has been given up: nothing was sent, so what it still stores it takes back.
 * 5. Locks are taken in the order work item, action, run (by the fence), accounts, request, turn.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  insertDeniedTurn,
  insertTurn,
  noteResponseId,
  readTurn,
  recordCancelled,
  recordRefused,
  recordResponse,
  recordUnknown,
  type TurnFailure,
  type TurnOwner,
} from '@stint/journal';
import {
  type AttemptInput,
  markRequestUnknown,
  type RefusalReason,
  releaseRequest,
  reserveRequest,
  settleRequest,
} from '@stint/ledger';
import type {
  FailFacts,
  FrozenRequest,
  NormalError,
  ProviderHooks,
  TurnHandle,
  TurnResponse,
} from '@stint/provider-hooks';
import type { Context, Database, Gate, Transaction } from '@stint/storage';
import type { PastAnswersOf } from './past-answers-of.js';
import { causesOf } from './error-causes.js';
import { errorFacts } from './error-facts.js';
import { CoordinatorError } from './errors.js';
import type { LogLine } from './options.js';
import { claimLost } from './watch-claim.js';
import type { Hold, Pricing } from './pricing.js';

/** What the ledger is told of each request of this owner. */
export interface TurnBudget {
  readonly account: string;
  readonly kind: 'coordinator' | 'action';
  readonly run?: string;
  readonly driver?: string;
  readonly attempt?: AttemptInput;
}

/** How the inputs that a turn carries are bound at `start` and let go at its end. */
export interface TurnInputs {
  bind(ctx: Context, turnId: string, inputIds: readonly string[]): Transaction<void>;
  acknowledge(ctx: Context, turnId: string): Transaction<void>;
  unbind(ctx: Context, turnId: string): Transaction<void>;
}

export interface TurnHooksOptions {
  readonly db: Database;
  readonly owner: TurnOwner;
  readonly budget: TurnBudget;
  readonly pricing: Pricing;
  /** Locks what the fence covers and answers whether it still holds. */
  readonly fence: (ctx: Context) => Transaction<boolean>;
  /** @default none are bound */
  readonly inputs?: TurnInputs;
  /** Notes the id under which the provider keeps an answer, for models it answers for. @default none is noted */
  readonly pastAnswersOf?: PastAnswersOf | undefined;
  /** @default no gate */
  readonly gate?: Gate;
  /** Told of a start that could not be taken back. */
  readonly log: (line: LogLine) => void;
}

/** The ledger refused a request: nothing was sent. `reason` says which limit and which account. */
export class TurnDenied extends CoordinatorError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    super('turn_denied', reason.message, {
      retryable: reason.heldByOthers === true || reason.retryAfter !== undefined,
    });
    this.reason = reason;
  }
}

/** The refusal behind an error, however many errors wrap it; null if none does. */
export function denialOf(error: unknown): RefusalReason | null {
  for (const cause of causesOf(error)) if (cause instanceof TurnDenied) return cause.reason;
  return null;
}

interface PreparedTurn extends TurnHandle {
  readonly request: FrozenRequest;
  readonly hold: Hold;
  state: 'prepared' | 'started' | 'denied' | 'given_up';
}

/** Hooks for `hookModel` or `hookProvider`. Make one set per Run and per Coordinator turn. */
export function createTurnHooks(options: TurnHooksOptions): ProviderHooks<PreparedTurn> {
  const { db, pastAnswersOf, gate = () => undefined } = options;
  return {
    prepare: async (request) => {
      const hold = options.pricing.estimate(request);
      const turn: PreparedTurn = { id: await newTurnId(db), request, hold, state: 'prepared' };
      gate('turn:prepared');
      return turn;
    },
    start: async (turn) => {
      const admission = await db.write((ctx) => admit(ctx, options, turn));
      if (wasGivenUp(turn)) {
        if (admission === null) await takeBack(options, turn);
        throw startedLate(turn);
      }
      if (admission !== null) {
        turn.state = 'denied';
        throw admission === 'lost' ? claimLost() : new TurnDenied(admission);
      }
      turn.state = 'started';
      gate('turn:started');
    },
    recheck: async () => {
      if (!(await db.write(options.fence))) throw claimLost();
    },
    ...(pastAnswersOf && {
      identified: async ({ id, request }, responseId) => {
        if (pastAnswersOf(request.model) !== null) await db.write((ctx) => noteResponseId(ctx, id, responseId));
      },
    }),
    finish: async (turn, response) => {
      gate('turn:answered');
      const kept = await db.write((ctx) => settle(ctx, options, turn, response));
      gate('turn:finished');
      if (!kept) throw claimLost();
    },
    fail: async (turn, error, facts) => {
      if (turn.state === 'prepared') turn.state = 'given_up';
      if (turn.state !== 'started') return;
      await db.write((ctx) => settleFailure(ctx, options, turn, { error, facts }));
    },
  };
}

/** Ids come from the store's source, so that tests and simulations can fix them. */
async function newTurnId(db: Database): Promise<string> {
  // oxlint-disable-next-line require-yield -- a body that needs no statement
  return await db.read(function* (ctx) {
    return ctx.newId();
  });
}

/** One transaction: fence, reservation, turn, inputs. Answers null if the request may leave. */
function* admit(
  ctx: Context,
  options: TurnHooksOptions,
  turn: PreparedTurn,
): Transaction<RefusalReason | 'lost' | null> {
  const { owner, budget } = options;
  const { id, request, hold } = turn;
  if (wasGivenUp(turn)) return 'lost';
  if (!(yield* options.fence(ctx))) return 'lost';
  const reserved = yield* reserveRequest(ctx, {
    ...budget,
    id,
    model: request.model,
    estimate: { tokens: hold.tokens, costMicros: hold.costMicros },
    ...(hold.priceVersion !== undefined && { priceVersion: hold.priceVersion }),
    ...(request.retryOf !== undefined && { retryOf: request.retryOf }),
  });
  if (!reserved.allowed) {
    const { code, message } = reserved.reason;
    yield* insertDeniedTurn(ctx, { id, owner, request }, { code, message });
    return reserved.reason;
  }
  yield* insertTurn(ctx, { id, owner, request });
  if (options.inputs !== undefined) yield* options.inputs.bind(ctx, id, request.inputIds);
  return null;
}

/** Waits between the tries to take a start back, in ms; nobody waits for it, and the store may be busy for a while. */
const takeBackDelaysMs = [100, 1_000, 5_000, 20_000];

/** What cannot be taken back is found by recovery once this process has ended; the log says so. */
async function takeBack(options: TurnHooksOptions, turn: PreparedTurn): Promise<void> {
  for (const delayMs of [...takeBackDelaysMs, null]) {
    try {
      return await options.db.write((ctx) => withdraw(ctx, options, turn));
    } catch (error) {
      const mayRepeat = (error as { retryable?: unknown }).retryable === true;
      if (mayRepeat && delayMs !== null) await sleep(delayMs);
      else return sayLeft(options, turn, error);
    }
  }
}

function sayLeft({ log }: TurnHooksOptions, { id }: PreparedTurn, error: unknown): void {
  const message = 'A request that was never sent stays booked: its start could not be taken back';
  log({ level: 'error', message, turnId: id, ...errorFacts(error) });
}

/** Takes back, in one transaction, what a `start` stored after it was given up: not a byte of its request has left. */
function* withdraw(ctx: Context, options: TurnHooksOptions, turn: PreparedTurn): Transaction<void> {
  yield* options.fence(ctx);
  yield* releaseRequest(ctx, turn.id, 'not_sent');
  const { code, message } = startedLate(turn);
  yield* recordCancelled(ctx, turn.id, { code, message });
  if (options.inputs !== undefined) yield* options.inputs.unbind(ctx, turn.id);
}

/** A function, since the state changes while `start` waits for the store. */
function wasGivenUp(turn: PreparedTurn): boolean {
  return turn.state === 'given_up';
}

function startedLate({ id }: PreparedTurn): CoordinatorError {
  return new CoordinatorError('start_late', `Request ${id} was given up before it was recorded; it was not sent.`);
}

/** One transaction: the ledger settles always; the answer counts only under the fence. Answers whether it does. */
function* settle(
  ctx: Context,
  options: TurnHooksOptions,
  { id }: PreparedTurn,
  response: TurnResponse,
): Transaction<boolean> {
  const current = yield* options.fence(ctx);
  const { usage } = response;
  const costMicros = options.pricing.cost(response.model) ?? null;
  yield* settleRequest(ctx, id, { usage, complete: true, costMicros });
  if (!current) {
    const { code, message } = claimLost();
    yield* loseTurn(ctx, id, { error: { code, message }, usage });
    return false;
  }
  yield* recordResponse(ctx, id, response);
  if (options.inputs !== undefined) yield* options.inputs.acknowledge(ctx, id);
  return true;
}

interface Failure {
  readonly error: NormalError;
  readonly facts: FailFacts;
}

/**
 * One transaction, by the facts: released with proof, else unknown at what is charged already or more. The process
 * lives and decides itself how to go on, so nobody is asked about an unknown turn. The fence is taken for its locks alone.
 */
function* settleFailure(
  ctx: Context,
  options: TurnHooksOptions,
  { id, request }: PreparedTurn,
  { error, facts }: Failure,
): Transaction<void> {
  yield* options.fence(ctx);
  const { usage, partialText, proof } = facts;
  const failure: TurnFailure = { error: { code: error.code, message: error.message }, usage, partialText };
  const released = proof !== null && usage === null && (yield* releaseRequest(ctx, id, proof));
  if (released) {
    yield* refuseTurn(ctx, id, failure);
  } else {
    yield* markRequestUnknown(ctx, id, usage, options.pricing.cost(request.model));
    yield* loseTurn(ctx, id, failure);
  }
  if (options.inputs !== undefined) yield* options.inputs.unbind(ctx, id);
}

/** Recovery may have been here before a sleeper woke: then the turn is unknown already, and a person decides. */
function* loseTurn(ctx: Context, id: string, failure: TurnFailure): Transaction<void> {
  const turn = yield* readTurn(ctx, id);
  if (turn?.status === 'dispatching') yield* recordUnknown(ctx, id, failure);
}

function* refuseTurn(ctx: Context, id: string, failure: TurnFailure): Transaction<void> {
  const turn = yield* readTurn(ctx, id);
  if (turn?.status === 'dispatching') yield* recordRefused(ctx, id, failure);
}
