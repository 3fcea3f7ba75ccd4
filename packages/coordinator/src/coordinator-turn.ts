/**
 * Answers one claimed mailbox entry by one decision.
 *
 * 1. What was paid for before a crash is judged again before anything is asked again.
 * 2. A request whose outcome nobody knows is asked about (or, if the item says so, written off) before another is sent.
 * 3. A refused answer is sent back once with the reason; after the second refusal a person is asked.
 * 4. A decision that the item outran is made again: at once the first time, then at growing distances, since each is paid for.
 * 5. Every end of a turn is one transaction that also says when, or by whom, the entry is taken up again.
 */
import { resolveTurn } from '@stint/journal';
import { hookModel, type HookedModel } from '@stint/provider-hooks';
import { type Context, isStoreError, type Transaction } from '@stint/storage';
import {
  beginCoordinatorTurn,
  type BegunTurn,
  checkCoordinatorFence,
  failCoordinatorTurn,
  type MailboxClaim,
} from '@stint/work-items';
import { applyAnswer, driverOf, type PaidAnswer, type Verdict } from './apply-decision.js';
import { decisionOutputTokens } from './coordinator-prompt.js';
import { createDialogue, type Dialogue } from './dialogue.js';
import { type EarlierTurns, earlierTurns } from './earlier-answer.js';
import { errorFacts } from './error-facts.js';
import { failTurn, type TurnTrouble } from './fail-turn.js';
import type { Job } from './job-slots.js';
import { type Services, watchOptions } from './options.js';
import { accountOf } from './account.js';
import { readSnapshot } from './read-snapshot.js';
import { createTurnHooks } from './turn-hooks.js';
import { watchTurn } from './watch-claim.js';

/** The job of one begun turn. */
export function runCoordinatorTurn(services: Services, opening: Opening): Job {
  return {
    id: opening.turn.id,
    run: (signal) => runTurn(services, opening, signal),
    async giveUp() {
      await services.db.write((ctx) => failTurn(ctx, opening.fence, { error: null, stopped: true }));
    },
  };
}

async function runTurn(services: Services, opening: Opening, signal: AbortSignal): Promise<void> {
  if (await settledByUnknown(services, opening)) return;
  const watch = watchTurn(watchOptions(services), opening.fence);
  try {
    await decide(services, {
      opening,
      dialogue: createDialogue(opening.turn.id, opening.snapshot),
      signal: AbortSignal.any([signal, watch.signal]),
    });
  } catch (error) {
    if (isStoreError(error)) throw error;
    const stopped = signal.aborted || watch.signal.aborted;
    await endFailed(services, opening, { error, stopped });
  } finally {
    watch.close();
  }
}

/** A begun turn with what it is decided on, all read in the transaction that claimed it. */
export interface Opening extends BegunTurn {
  readonly snapshot: string;
  readonly answersPerson: boolean;
  readonly earlier: EarlierTurns;
  /** Turns on this trigger that came to nothing before. */
  readonly failures: number;
}

/** Begins the turn of a claim. Null if the claim is no longer the current one. */
export function* openTurn(ctx: Context, claim: MailboxClaim): Transaction<Opening | null> {
  const begun = yield* beginCoordinatorTurn(ctx, claim);
  if (begun === null) return null;
  const snapshot = yield* readSnapshot(ctx, claim.itemId, claim.entry);
  const answersPerson = claim.entry.kind === 'message';
  const earlier = yield* earlierTurns(ctx, begun.turn);
  return { ...begun, snapshot, answersPerson, earlier, failures: claim.entry.failures };
}

/** Answers true if a person has to decide first about a request of an earlier turn. */
async function settledByUnknown({ db }: Services, { item, fence, earlier }: Opening): Promise<boolean> {
  const [first] = earlier.unknownTurnIds;
  if (first === undefined) return false;
  if (item.onUnknownRequest === 'ask') {
    const message =
      'The process ended while the Coordinator was waiting for an answer; nobody knows whether it was given.';
    await db.write((ctx) =>
      failCoordinatorTurn(ctx, fence, { code: 'unknown_turn', message, retryAt: null, ref: first }),
    );
    return true;
  }
  await db.write(function* (ctx) {
    for (const id of earlier.unknownTurnIds)
      yield* resolveTurn(ctx, id, { as: 'written_off', note: 'the item says retry' }, 'item');
  });
  return false;
}

interface Turn {
  readonly opening: Opening;
  readonly dialogue: Dialogue;
  readonly signal: AbortSignal;
}

/** Asks until a decision is applied, refused twice or found stale. */
async function decide(services: Services, turn: Turn): Promise<void> {
  const { opening, dialogue } = turn;
  let paid: PaidAnswer | null = opening.earlier.answer;
  for (let refusals = 0; ; ) {
    const isStored = paid === null;
    const answer: PaidAnswer = paid ?? (await ask(services, turn));
    paid = null;
    const verdict = await services.db.write((ctx) => judge(ctx, opening, answer, refusals));
    if (verdict.verdict !== 'refused') return;
    refusals += 1;
    services.log({ level: 'info', message: 'A decision was refused', itemId: opening.item.id, refusals });
    if (refusals === 2) return;
    dialogue.refuse({ text: answer.text, isStored }, verdict.reason);
  }
}

function* judge(
  ctx: Context,
  { fence, answersPerson, failures }: Opening,
  answer: PaidAnswer,
  refusalsBefore: number,
): Transaction<Verdict> {
  const verdict = yield* applyAnswer(ctx, { fence, answersPerson }, answer);
  if (verdict.verdict === 'stale') {
    const message = 'The item changed while the Coordinator was thinking.';
    yield* failCoordinatorTurn(ctx, fence, { code: 'stale', message, retryAt: ctx.now + staleWaitMs(failures) });
  }
  if (verdict.verdict === 'refused' && refusalsBefore === 1) {
    const message = `The Coordinator found no valid decision: ${verdict.reason}`;
    yield* failCoordinatorTurn(ctx, fence, { code: 'refused_decision', message, retryAt: null });
  }
  return verdict;
}

/** 0, then 1 s, 2 s, 4 s, ... at most 32 s. */
function staleWaitMs(failuresBefore: number): number {
  return failuresBefore === 0 ? 0 : 1_000 * 2 ** Math.min(failuresBefore - 1, 5);
}

/** One provider turn; its answer is journaled when this resolves. */
async function ask(services: Services, { opening, dialogue, signal }: Turn): Promise<PaidAnswer> {
  const model = await modelOf(services, opening);
  const { messages, fresh, turnNumber } = dialogue.next();
  const call = model.stream({
    prompt: messages,
    settings: { maxOutputTokens: decisionOutputTokens },
    facts: { turnNumber, entries: fresh, purpose: 'decision' },
    signal,
  });
  let streaming = false;
  for await (const event of call) {
    if (!streaming && event.type !== 'finish') {
      streaming = true;
      services.gate('turn:streaming');
    }
    if (event.type === 'finish' && event.turnId !== null)
      return { providerTurnId: event.turnId, text: event.response.text, rejected: false };
  }
  throw new TypeError('The model ended without an answer');
}

async function modelOf(services: Services, { item, fence }: Opening): Promise<HookedModel> {
  const { db, gate, log, pricing, pastAnswersOf } = services;
  const hooks = createTurnHooks({
    db,
    log,
    gate,
    pricing,
    pastAnswersOf,
    owner: { kind: 'coordinator', id: fence.turnId },
    fence: (ctx) => checkCoordinatorFence(ctx, fence),
    budget: { account: accountOf(item.id), kind: 'coordinator', driver: driverOf(item.id) },
  });
  return hookModel(await services.resolveModel({ item, purpose: 'coordinator' }), hooks);
}

async function endFailed(services: Services, { fence }: Opening, trouble: TurnTrouble): Promise<void> {
  const facts = errorFacts(trouble.error);
  services.log({ level: 'warn', message: 'A Coordinator turn failed', itemId: fence.itemId, ...facts });
  await services.db.write((ctx) => failTurn(ctx, fence, trouble));
}
