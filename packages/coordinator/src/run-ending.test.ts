import { EngineError, type RunEnd } from '@stint/engine';
import type { RefusalReason } from '@stint/ledger';
import { ProviderError, type ProviderErrorCode } from '@stint/provider-hooks';
import { StoreError } from '@stint/storage';
import { describe, expect, it } from 'vitest';
import type { Outcome } from './outcome.js';
import { mostRefusalsInARow, type RunEndFacts, runEndingOf } from './run-ending.js';
import { TurnDenied } from './turn-hooks.js';
import { claimLost } from './watch-claim.js';

const now = 1_000_000;
function facts(end: Partial<RunEnd>, over: Partial<RunEndFacts> = {}): RunEndFacts {
  const base = {
    type: 'run-end',
    reason: 'failed',
    error: null,
    notBefore: null,
    entries: [],
    text: '',
  } as unknown as RunEnd;
  return { end: { ...base, ...end }, outcome: null, refusalsInARow: 0, unknownOperations: [], now, ...over };
}
const denied = (reason: Partial<RefusalReason>, over: Partial<RunEndFacts> = {}) => {
  const cause = new TurnDenied({ code: 'tokens_exhausted', account: 'item:1', message: 'No more', ...reason });
  return runEndingOf(facts({ reason: 'denied', error: new ProviderError('denied', 'denied', { cause }) }, over));
};
const provider = (code: ProviderErrorCode, retryable = false) =>
  runEndingOf(facts({ error: new ProviderError(code, 'key sk-123 in /home/me', { retryable }) }));
const outcome: Outcome = {
  status: 'completed',
  summary: 'Done',
  evidence: [],
  checks: [],
  outputs: [],
  residualRisks: [],
};

describe('the end of a Run', () => {
  it('is what its outcome says', () => {
    const ended = { reason: 'ended_by_tool' } as const;
    expect(runEndingOf(facts(ended, { outcome }))).toMatchObject({ status: 'completed', outcome: { summary: 'Done' } });
    const asks = { ...outcome, status: 'waiting', question: 'Which?' } as const;
    expect(runEndingOf(facts(ended, { outcome: asks }))).toEqual({ status: 'waiting', question: 'Which?' });
    expect(runEndingOf(facts(ended, { outcome: { ...outcome, status: 'failed' } }))?.status).toBe('failed');
    expect(runEndingOf(facts({ reason: 'completed' }))).toMatchObject({
      status: 'retryable',
      reason: { code: 'no_outcome' },
    });
  });

  it('is nothing when the claim was lost, wherever the loop noticed it', () => {
    const cause = claimLost();
    expect(
      runEndingOf(facts({ reason: 'aborted', error: new EngineError('aborted', 'aborted', { cause }) })),
    ).toBeNull();
    expect(
      runEndingOf(facts({ reason: 'denied', error: new ProviderError('denied', 'denied', { cause }) })),
    ).toBeNull();
    const twice = new ProviderError('hook_failed', 'failed', { cause: new Error('wrapped', { cause }) });
    expect(runEndingOf(facts({ error: twice }, { outcome }))).toBeNull();
  });

  it('is put off while the account is stopped or a refusal may pass', () => {
    expect(denied({ stopped: true })).toMatchObject({ status: 'deferred', reason: { code: 'budget' } });
    expect(denied({ heldByOthers: true })).toMatchObject({ status: 'deferred', notBefore: now + 250 });
    expect(denied({ code: 'window_exhausted', retryAfter: now + 7 })).toMatchObject({ notBefore: now + 7 });
    expect(denied({ heldByOthers: true }, { refusalsInARow: 3 })).toMatchObject({ notBefore: now + 2_000 });
  });

  it('is a failure when what is used up is the Run’s, the Action’s or the kind’s own, or after ten refusals', () => {
    expect(denied({ code: 'run_requests_exhausted' })).toMatchObject({
      status: 'failed',
      reason: { code: 'resource_limit' },
    });
    expect(denied({ code: 'attempts_exhausted' })).toMatchObject({ status: 'failed', reason: { code: 'exhausted' } });
    expect(denied({ scope: 'kind', heldByOthers: true })).toMatchObject({ reason: { code: 'resource_limit' } });
    expect(mostRefusalsInARow).toBe(10);
    expect(denied({ heldByOthers: true }, { refusalsInARow: mostRefusalsInARow - 1 })).toMatchObject({
      status: 'failed',
    });
    expect(denied({ code: 'account_unknown' })).toMatchObject({ status: 'failed' });
  });

  it('tells of a provider in fixed sentences, never in its words (case Y53)', () => {
    expect(provider('unauthorized')).toMatchObject({ status: 'failed', reason: { code: 'provider' } });
    expect(provider('overloaded', true)).toMatchObject({ status: 'retryable' });
    expect(provider('bad_request')).toMatchObject({ status: 'failed', reason: { code: 'bad_request' } });
    for (const code of ['unauthorized', 'overloaded', 'failed', 'connection'] as const)
      expect(JSON.stringify(provider(code, true))).not.toMatch(/sk-123|home/u);
  });

  it('is put off when the store failed, wherever the loop noticed it, and a failure when a statement was wrong (case L05)', () => {
    const later = { status: 'deferred', reason: { code: 'store_failed' }, notBefore: now + 1_000 };
    const busy = new StoreError('store_busy', 'The store is busy.');
    const denial = new ProviderError('denied', 'denied', { cause: busy });
    expect(runEndingOf(facts({ reason: 'denied', error: denial }))).toMatchObject(later);
    for (const code of ['store_full', 'store_conflict', 'commit_unknown'] as const) {
      const error = new EngineError('hook_failed', 'operationEnd failed', { cause: new StoreError(code, code) });
      expect(runEndingOf(facts({ error }))).toMatchObject(later);
    }
    const wrong = new EngineError('hook_failed', 'failed', { cause: new StoreError('statement_failed', 'syntax') });
    expect(runEndingOf(facts({ error: wrong }))).toMatchObject({ status: 'failed', reason: { code: 'hook_failed' } });
  });

  it('waits for a person when a tool ran out of time', () => {
    const error = new EngineError('tool_fatal', 'timed out');
    const unknownOperations = [{ kind: 'operation', id: 't/0' }] as const;
    expect(runEndingOf(facts({ error }, { unknownOperations }))).toMatchObject({ status: 'outcome_unknown' });
    expect(runEndingOf(facts({ error }))).toMatchObject({ status: 'failed' });
  });
});
