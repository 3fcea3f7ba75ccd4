import { appendEntries, insertDeniedTurn, type TurnOwner } from '@stint/journal';
import type { FrozenRequest, HistoryEntry } from '@stint/provider-hooks';
import type { Context } from '@stint/storage';
import { claimAction, endRun, type ClaimedAction, type RunEnding } from '@stint/work-items';
import { describe, expect, it } from 'vitest';
import { chainOf, chainState } from './run-history.js';
import { type Bench, openBench } from './work-bench.test.helper.js';

const reason = { code: 'stopped', message: 'stopped' };

/** A Run of a planned Action, claimed by this process. */
async function claim(bench: Bench): Promise<ClaimedAction> {
  const claimed = await bench.db.write((ctx) => claimAction(ctx));
  if (claimed === null) throw new Error('nothing to claim');
  return claimed;
}

async function planned(bench: Bench): Promise<void> {
  const itemId = await bench.item();
  const coordinator = bench.coordinator({ machine: 'another' });
  coordinator.start();
  await bench.until(itemId, ({ actions }) => actions.length > 0);
  await coordinator.stop();
}

const ownerOf = ({ run }: ClaimedAction): TurnOwner => ({ kind: 'run', id: run.id });
const text = (key: string): HistoryEntry => ({
  key,
  kind: 'note',
  message: { role: 'user', content: [{ type: 'text', text: key }] },
});

/** Ends the Run and claims the next one of the same Action. */
async function next(bench: Bench, claimed: ClaimedAction, ending: RunEnding): Promise<ClaimedAction> {
  await bench.db.write((ctx) => endRun(ctx, claimed.fence, ending));
  return await claim(bench);
}

describe('the history that a Run goes on from', () => {
  it('is that of its whole chain, each entry once, oldest first', async () => {
    await using bench = await openBench();
    await planned(bench);
    const first = await claim(bench);
    const append =
      (claimed: ClaimedAction, ...keys: string[]) =>
      (ctx: Context) =>
        appendEntries(ctx, ownerOf(claimed), keys.map(text));
    await bench.db.write(append(first, 'a', 'b'));
    const second = await next(bench, first, { status: 'deferred', reason });
    await bench.db.write(append(second, 'b', 'c'));
    const third = await next(bench, second, { status: 'deferred', reason });
    const chain = await bench.db.read((ctx) => chainOf(ctx, third.run));
    expect(chain.map(({ id }) => id)).toEqual([first.run.id, second.run.id, third.run.id]);
    const state = await bench.db.read((ctx) => chainState(ctx, third.run));
    expect(state?.entries.map((entry) => entry.key)).toEqual(['a', 'b', 'c']);
  });

  it('keeps its beginning however often the Run was put off', async () => {
    await using bench = await openBench();
    await planned(bench);
    let claimed = await claim(bench);
    const first = claimed.run.id;
    await bench.db.write((ctx) => appendEntries(ctx, ownerOf(claimed), [text('objective')]));
    for (let putOff = 0; putOff < 80; putOff += 1) claimed = await next(bench, claimed, { status: 'deferred', reason });
    const chain = await bench.db.read((ctx) => chainOf(ctx, claimed.run));
    expect(chain).toHaveLength(81);
    expect(chain[0]?.id).toBe(first);
    const state = await bench.db.read((ctx) => chainState(ctx, claimed.run));
    expect(state?.entries.map((entry) => entry.key)).toEqual(['objective']);
  });

  it('is nothing where only a denied request is known of it: the Run begins with its prompt', async () => {
    await using bench = await openBench();
    await planned(bench);
    const first = await claim(bench);
    const request = { turnNumber: 1, model: 'm', hash: 'h', settings: {}, purpose: 'turn', stream: true };
    const denied = {
      id: 't',
      owner: ownerOf(first),
      request: { ...request, entries: [], inputIds: [] } as unknown as FrozenRequest,
    };
    await bench.db.write((ctx) => insertDeniedTurn(ctx, denied, reason));
    const second = await next(bench, first, { status: 'deferred', reason });
    expect(await bench.db.read((ctx) => chainState(ctx, second.run))).toBeUndefined();
  });

  it('leaves out that of another spec or generation (cases Y31, Y32)', async () => {
    await using bench = await openBench();
    await planned(bench);
    const first = await claim(bench);
    await bench.db.write((ctx) => appendEntries(ctx, ownerOf(first), [text('a')]));
    const { run } = await next(bench, first, { status: 'deferred', reason });
    for (const changed of [
      { ...run, specHash: 'other' },
      { ...run, generation: run.generation + 1 },
    ])
      expect(await bench.db.read((ctx) => chainState(ctx, changed))).toBeUndefined();
  });
});
