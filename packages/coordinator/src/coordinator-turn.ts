/**
 * Answers one claimed mailbox entry by one decision.
 *
 * 1. What was paid for before a crash is judged again before anything is asked again.
 * 2. A request whose outcome nobody knows is asked about (or, if the item says so, written off) before another is sent.
 * 3. A refused answer is sent back once with the reason; after the second refusal a person is asked.
 * 4. Every end of a turn is one transaction that also says when, or by whom, the entry is taken up again.
 */
import { resolveTurn } from '@stint/journal';
import { recordFailure, type RefusalReason } from '@stint/ledger';
import {
  hookModel,
  isProviderError,
  type HistoryEntry,
  type HookedModel,
  type PromptMessage,
} from '@stint/provider-hooks';
import type { Context, Transaction } from '@stint/storage';
import {
  beginCoordinatorTurn,
  type BegunTurn,
  checkCoordinatorFence,
  failCoordinatorTurn,
  type MailboxClaim,
} from '@stint/work-items';
import { applyAnswer, driverOf, type PaidAnswer, type Verdict } from './apply-decision.js';
import { coordinatorSystemPrompt, decisionOutputTokens, refusalMessage } from './coordinator-prompt.js';
import { type EarlierTurns, earlierTurns } from './earlier-answer.js';
import { errorFacts } from './error-facts.js';
import type { Job } from './job-slots.js';
import { type Services, watchOptions } from './options.js';
import { accountOf } from './account.js';
import { readSnapshot } from './read-snapshot.js';
import { settleDangling } from './settle-dangling.js';
import { createTurnHooks, denialOf } from './turn-hooks.js';
import { watchTurn } from './watch-claim.js';

/** The job of one begun turn. */
export function runCoordinatorTurn(services: Services, opening: Opening): Job {
  return {
    id: opening.turn.id,
    run: (signal) => runTurn(services, opening, signal),
    async giveUp() {
      await services.db.write((ctx) => failBody(ctx, opening, { error: null, stopped: true }));
    },
  };
}

async function runTurn(services: Services, opening: Opening, signal: AbortSignal): Promise<void> {
  if (await settledByUnknown(services, opening)) return;
  const watch = watchTurn(watchOptions(services), opening.fence);
  try {
    await decide(services, {
      opening,
      dialogue: createDialogue(opening),
      signal: AbortSignal.any([signal, watch.signal]),
    });
  } catch (error) {
    await endFailed(services, opening, { error, stopped: signal.aborted || watch.signal.aborted });
  } finally {
    watch.close();
  }
}

/** A begun turn with what it is decided on, all read in the transaction that claimed it. */
export interface Opening extends BegunTurn {
  readonly snapshot: string;
  readonly answersPerson: boolean;
  readonly earlier: EarlierTurns;
}

/** Begins the turn of a claim. Null if the claim is no longer the current one. */
export function* openTurn(ctx: Context, claim: MailboxClaim): Transaction<Opening | null> {
  const begun = yield* beginCoordinatorTurn(ctx, claim);
  if (begun === null) return null;
  const snapshot = yield* readSnapshot(ctx, claim.itemId, claim.entry);
  const answersPerson = claim.entry.kind === 'message';
  return { ...begun, snapshot, answersPerson, earlier: yield* earlierTurns(ctx, begun.turn) };
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
    const answer: PaidAnswer = paid ?? (await ask(services, turn));
    paid = null;
    const verdict = await services.db.write((ctx) => judge(ctx, opening, answer, refusals));
    if (verdict.verdict !== 'refused') return;
    refusals += 1;
    services.log({ level: 'info', message: 'A decision was refused', itemId: opening.item.id, refusals });
    if (refusals === 2) return;
    dialogue.refuse(answer.text, verdict.reason);
  }
}

function* judge(
  ctx: Context,
  { fence, answersPerson }: Opening,
  answer: PaidAnswer,
  refusalsBefore: number,
): Transaction<Verdict> {
  const verdict = yield* applyAnswer(ctx, { fence, answersPerson }, answer);
  if (verdict.verdict === 'stale') {
    const message = 'The item changed while the Coordinator was thinking.';
    yield* failCoordinatorTurn(ctx, fence, { code: 'stale', message, retryAt: ctx.now });
  }
  if (verdict.verdict === 'refused' && refusalsBefore === 1) {
    const message = `The Coordinator found no valid decision: ${verdict.reason}`;
    yield* failCoordinatorTurn(ctx, fence, { code: 'refused_decision', message, retryAt: null });
  }
  return verdict;
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
  const { db, gate, pricing } = services;
  const hooks = createTurnHooks({
    db,
    gate,
    pricing,
    owner: { kind: 'coordinator', id: fence.turnId },
    fence: (ctx) => checkCoordinatorFence(ctx, fence),
    budget: { account: accountOf(item.id), kind: 'coordinator', driver: driverOf(item.id) },
  });
  return hookModel(await services.resolveModel({ item, purpose: 'coordinator' }), hooks);
}

/** The conversation of one turn and which of its messages no answered request carried yet. */
interface Dialogue {
  next(): {
    readonly messages: readonly PromptMessage[];
    readonly fresh: readonly HistoryEntry[];
    readonly turnNumber: number;
  };
  refuse(answer: string, reason: string): void;
}

function createDialogue({ fence, snapshot, earlier }: Opening): Dialogue {
  const messages: PromptMessage[] = [{ role: 'system', content: coordinatorSystemPrompt }];
  let fresh: HistoryEntry[] = [];
  let turnNumber = 0;
  const say = (kind: HistoryEntry['kind'], message: PromptMessage, isStored = false): void => {
    messages.push(message);
    if (!isStored) fresh.push({ key: `${fence.turnId}:${messages.length}`, kind, message });
  };
  say('input', userMessage(snapshot));
  return {
    next() {
      const carried = fresh;
      fresh = [];
      turnNumber += 1;
      return { messages: [...messages], fresh: carried, turnNumber };
    },
    refuse(answer, reason) {
      // An answer of this turn was stored with its response; one of an earlier turn belongs to that turn's history.
      say(
        'note',
        { role: 'assistant', content: [{ type: 'text', text: answer }] },
        turnNumber > 0 || earlier.answer === null,
      );
      say('input', userMessage(refusalMessage(reason)));
    },
  };
}

function userMessage(text: string): PromptMessage {
  return { role: 'user', content: [{ type: 'text', text }] };
}

interface Failure {
  readonly error: unknown;
  readonly stopped: boolean;
}

/** Nothing came of the turn: one transaction says when it is tried again, or asks the person. */
async function endFailed(services: Services, opening: Opening, failure: Failure): Promise<void> {
  const { fence } = opening;
  const facts = errorFacts(failure.error);
  services.log({ level: 'warn', message: 'A Coordinator turn failed', itemId: fence.itemId, ...facts });
  await services.db.write((ctx) => failBody(ctx, opening, failure));
}

function* failBody(ctx: Context, { fence, item }: Opening, { error, stopped }: Failure): Transaction<void> {
  if (!(yield* checkCoordinatorFence(ctx, fence))) return;
  yield* settleDangling(ctx, { kind: 'coordinator', id: fence.turnId });
  const denial = denialOf(error);
  if (denial !== null) return void (yield* failCoordinatorTurn(ctx, fence, deniedFailure(ctx, denial)));
  if (stopped) {
    const message = 'The work was stopped while the Coordinator was thinking.';
    return void (yield* failCoordinatorTurn(ctx, fence, { code: 'stopped', message, retryAt: ctx.now }));
  }
  if (isPermanent(error)) {
    const message = 'The model of this item cannot be used: check its name, its key and the size of its context.';
    return void (yield* failCoordinatorTurn(ctx, fence, { code: 'provider', message, retryAt: null }));
  }
  const { retryAfter } = yield* recordFailure(ctx, accountOf(item.id), driverOf(item.id));
  const message = 'The provider gave no usable answer.';
  yield* failCoordinatorTurn(ctx, fence, { code: 'provider', message, retryAt: retryAfter });
}

/** A stop of the account is waited out (claims pass the item over); what may pass is tried again; the rest asks a person. */
function deniedFailure(ctx: Context, { code, message, retryAfter, heldByOthers, stopped, scope }: RefusalReason) {
  if (scope === 'kind' || code === 'price_unknown') return { code: 'resource_limit', message, retryAt: null };
  if (stopped === true) return { code: 'budget', message, retryAt: ctx.now };
  const waitMs = heldByOthers === true ? 250 : 1_000;
  return { code: 'budget', message, retryAt: retryAfter ?? ctx.now + waitMs };
}

const permanentCodes: ReadonlySet<string> = new Set([
  'unauthorized',
  'not_found',
  'bad_request',
  'too_large',
  'context_exceeded',
  'provider_not_configured',
]);

function isPermanent(error: unknown): boolean {
  if (isProviderError(error)) return permanentCodes.has(error.code);
  return typeof error === 'object' && error !== null && 'code' in error && permanentCodes.has(String(error.code));
}
