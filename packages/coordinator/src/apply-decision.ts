import { applyTurn, rejectTurn } from '@stint/journal';
import { closeAccount, recordSuccess } from '@stint/ledger';
import type { Context, Transaction } from '@stint/storage';
import { applyPlan, askHuman, completeItem, type CoordinatorFence, type DecisionResult } from '@stint/work-items';
import { accountOf } from './account.js';
import { type Decision, parseDecision } from './decision.js';

/** An answer of the model with the provider turn that paid for it. */
export interface PaidAnswer {
  readonly providerTurnId: string;
  readonly text: string;
  /** True if it was judged before and is marked so. */
  readonly rejected: boolean;
}

/** What an answer is judged by. */
export interface Judgement {
  readonly fence: CoordinatorFence;
  /** True if a person's message is being answered. */
  readonly answersPerson: boolean;
}

/** What came of an answer. `refused` tells the reason for the model; `stale` means that the item moved meanwhile. */
export type Verdict =
  | { readonly verdict: 'applied' }
  | { readonly verdict: 'stale' }
  | { readonly verdict: 'refused'; readonly reason: string };

/** The ledger's driver whose failures in a row are those of an item's Coordinator. */
export function driverOf(itemId: string): string {
  return `coordinator:${itemId}`;
}

/**
 * Judges an answer and applies its decision, all or nothing, in one transaction: decision, provider turn and driver's
 * failures move together. A refused answer is marked `rejected` and changes nothing else.
 */
export function* applyAnswer(ctx: Context, judgement: Judgement, answer: PaidAnswer): Transaction<Verdict> {
  const parsed = parseDecision(answer.text);
  const verdict: Verdict = parsed.ok
    ? verdictOf(yield* applyDecision(ctx, judgement, parsed.decision))
    : { verdict: 'refused', reason: parsed.reason };
  if (verdict.verdict === 'applied') {
    yield* accept(ctx, judgement.fence.itemId, { completes: parsed.ok && parsed.decision.decision === 'complete' });
    if (!answer.rejected) yield* applyTurn(ctx, answer.providerTurnId);
  } else if (!answer.rejected) {
    yield* rejectTurn(ctx, answer.providerTurnId);
  }
  return verdict;
}

function* accept(ctx: Context, itemId: string, { completes }: { readonly completes: boolean }): Transaction<void> {
  yield* recordSuccess(ctx, accountOf(itemId), driverOf(itemId));
  if (completes) yield* closeAccount(ctx, accountOf(itemId));
}

function* applyDecision(
  ctx: Context,
  { fence, answersPerson }: Judgement,
  decision: Decision,
): Transaction<DecisionResult | 'unasked'> {
  switch (decision.decision) {
    case 'answer':
      // An answer is a plan that changes nothing: the same rules keep the item moving.
      return answersPerson ? yield* applyPlan(ctx, fence, { mutations: [], reply: decision.reply }) : 'unasked';
    case 'plan': {
      const { mutations, reply } = decision;
      return yield* applyPlan(ctx, fence, { mutations, ...(reply !== undefined && { reply }) });
    }
    case 'ask_human':
      return yield* askHuman(ctx, fence, { question: decision.question });
    case 'complete': {
      const { summary, criteria, outputs, residualRisks } = decision;
      return yield* completeItem(ctx, fence, { summary, criteria, outputs, residualRisks });
    }
  }
}

const unasked = 'an answer is only given to a message of the person; plan, ask or complete';

function verdictOf(result: DecisionResult | 'unasked'): Verdict {
  if (result === 'unasked') return { verdict: 'refused', reason: unasked };
  if (result.applied) return { verdict: 'applied' };
  if (result.reason === 'stale') return { verdict: 'stale' };
  const sentences = result.violations.slice(0, 8).map(({ rule, message }) => `${message} (rule ${rule})`);
  return { verdict: 'refused', reason: sentences.join('; ') };
}
