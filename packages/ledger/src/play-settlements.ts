/** Steps that settle requests. */
import assert from 'node:assert/strict';
import type { ModelRequest } from './ledger-model-types.js';
import { type PlayState, type Step, used } from './play-state.js';
import type { SettleResult } from './settle.js';

export async function settle(play: PlayState, step: Step): Promise<void> {
  const request = play.requestAt(step, ['reserved', 'unknown']);
  if (request !== undefined) await settleOne(play, step, request);
}

/** Late usage, for whatever request, in whatever state. */
export async function late(play: PlayState, step: Step): Promise<void> {
  const request = play.requestAt(step, ['unknown', 'released']);
  if (request !== undefined) await settleOne(play, step, request);
}

/** What a usage comes to: some is read from a cache, some has no price. */
interface ModelFigures {
  readonly total: number;
  readonly cached: number;
  readonly charged: number;
  readonly cost: number | null;
}

/** Half of the settlements are above their hold. */
function figuresBy(play: PlayState, amount: number, request: ModelRequest): ModelFigures {
  const total = amount % 2 === 0 ? amount % 100 : request.held.tokens + (amount % 150);
  const cached = amount % 3 === 0 ? Math.floor(total / 2) : 0;
  const charged = play.model.chargesCached ? total : total - cached;
  return { total, cached, charged, cost: amount % 17 === 0 ? null : total * 2 };
}

async function settleOne(play: PlayState, [, owner, , amount]: Step, request: ModelRequest): Promise<void> {
  const figures = figuresBy(play, amount, request);
  const isComplete = amount % 5 !== 0;
  const usage = used(figures.total, figures.cached);
  const settlement = { usage, complete: isComplete, costMicros: figures.cost };
  const result = await play.ledger(owner).settleRequest(request.id, settlement);
  if (request.status === 'released' && figures.total === 0) return assertUnchanged(result);
  const isFinal = figures.total > 0 && (isComplete || request.status === 'released');
  const before = outcomeOf(request);
  if (isFinal) becomeReported(request, figures);
  else becomeUnknown(request, figures, isComplete);
  if (before === outcomeOf(request)) return assertUnchanged(result);
  request.overshoot = isAboveHold(request);
  assert.ok(result.settled);
  await play.compareRequest(request);
  stopOverspent(play, request);
  const again = await play.ledger(owner).settleRequest(request.id, settlement);
  if (isFinal) assertUnchanged(again);
}

function outcomeOf({ status, tokens, cost, usage, cached, complete }: ModelRequest): string {
  return JSON.stringify([status, tokens, cost, usage, cached, complete]);
}

function becomeReported(request: ModelRequest, { total, cached, charged, cost }: ModelFigures): void {
  request.discrepancy ||= request.isProven;
  request.unpriced = cost === null;
  Object.assign(request, { status: 'reported', tokens: charged, cost: cost ?? request.held.cost, complete: true });
  Object.assign(request, { usage: total, cached });
}

function becomeUnknown(request: ModelRequest, figures: ModelFigures, isComplete: boolean): void {
  const { total, cached, charged, cost } = figures;
  request.status = 'unknown';
  request.unpriced = true;
  if (total > 0 && total >= request.usage) Object.assign(request, { usage: total, cached });
  request.complete ||= isComplete;
  request.tokens = Math.max(request.tokens, charged);
  request.cost = request.cost === null && cost === null ? null : Math.max(request.cost ?? 0, cost ?? 0);
}

function isAboveHold({ held, tokens, cost }: ModelRequest): boolean {
  return tokens > held.tokens || (held.cost !== null && cost !== null && cost > held.cost);
}

function stopOverspent(play: PlayState, request: ModelRequest): void {
  if (!request.overshoot) return;
  for (const account of play.model.chain(request.account)) {
    const { tokens, costMicros } = play.model.sums(account.id);
    const { maxTokens, maxCostMicros } = account.limits;
    const least = { tokens: 1, cost: 0, kind: request.kind, aborts: false };
    if (maxTokens !== undefined && tokens > maxTokens)
      play.model.stop(account.id, { code: 'tokens_exhausted', ...least });
    else if (maxCostMicros !== undefined && costMicros > maxCostMicros)
      play.model.stop(account.id, { code: 'cost_exhausted', ...least });
  }
}

function assertUnchanged(result: SettleResult): void {
  assert.deepEqual(result, { settled: false, reason: 'unchanged' });
}
