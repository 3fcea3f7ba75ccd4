import { setImmediate } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bugFamilies } from '../src/buggy-repository.js';
import { Random, testSeed } from '../src/random.js';
import { type SimulatorProcess, startSimulatorProcess } from '../src/simulator-process.js';
import { readStore } from '../src/read-store.js';
import { documentOf, type RunDocument, startStint, stint, wordsOf } from '../src/stint.js';
import {
  drawWork,
  expectEachSentOnce,
  type LedgerRow,
  ledgerRows,
  onlyItem,
  runWords,
  type Work,
} from '../src/work.js';

const seed = testSeed();

/** An unlimited run on the same drawn repository: its requests, in order. */
async function unlimited(): Promise<readonly LedgerRow[]> {
  await using simulator = await startSimulatorProcess();
  const work = draw(simulator);
  const ended = await stint(runWords(work), work.options);
  expect(ended.code, ended.stderr).toBe(0);
  return await ledgerRows(work);
}

function draw(simulator: SimulatorProcess): Work {
  const random = new Random(seed);
  return drawWork(random, random.pick(bugFamilies), simulator);
}

async function expectStopped(work: Work, words: readonly string[], limit: string): Promise<string> {
  const ended = await stint(runWords(work, ...words), work.options);
  expect(ended.code, ended.stderr).toBe(5);
  const document = documentOf(ended);
  expect(document).toMatchObject({ status: 'needs_attention', reason: 'budget_stopped' });
  expect(document.message).toContain(limit);
  return document.id;
}

async function extendAndFinish(work: Work, itemId: string, words: readonly string[]): Promise<void> {
  const extended = await stint(['budget', 'extend', itemId, ...words], work.options);
  expect(extended.code, extended.stderr).toBe(0);
  const shown = documentOf<Pick<RunDocument, 'needs'>>(await stint(['show', itemId, '--json'], work.options));
  const left = { text: expect.stringContaining('there is room again'), command: `stint budget resume ${itemId}` };
  expect(shown.needs).toEqual([expect.objectContaining(left)]);
  expect(extended.stderr).toContain(left.command);
  const resumed = await stint(wordsOf(left.command), work.options);
  expect(resumed.code, resumed.stderr).toBe(0);
  const watched = await stint(['watch', itemId, '--json'], work.options);
  expect(watched.code, watched.stderr).toBe(0);
  expect(readFileSync(join(work.repository.directory, work.repository.sourcePath), 'utf8')).toBe(
    work.repository.rightSource,
  );
}

/** The Actions took as many requests as without a limit; the resume added a look of the Coordinator, or two if an Action ended meanwhile. */
async function expectSameWork(work: Work, unlimitedRows: readonly LedgerRow[]): Promise<void> {
  const count = (rows: readonly LedgerRow[], kind: string): number => rows.filter((row) => row.kind === kind).length;
  const rows = await ledgerRows(work);
  expect(count(rows, 'action')).toBe(count(unlimitedRows, 'action'));
  expect([1, 2]).toContain(count(rows, 'coordinator') - count(unlimitedRows, 'coordinator'));
}

/** How many requests a token limit admits, by the rule as it is written: charged + estimate <= limit. */
function admittedUnder(limit: number, rows: readonly LedgerRow[]): number {
  let charged = 0;
  for (const [index, row] of rows.entries()) {
    if (charged + row.estimate_tokens > limit) return index;
    charged += row.charged_tokens;
  }
  return rows.length;
}

describe('a budget that is too small', () => {
  it.concurrent('admits exactly the requests of its limit, says which limit, and goes on after extend and resume without paying again', async () => {
    const rows = await unlimited();
    const k = new Random(seed + 1).between(2, rows.length - 1);
    await using simulator = await startSimulatorProcess();
    const work = draw(simulator);
    const itemId = await expectStopped(work, ['--requests', String(k)], 'maxRequests');
    expect(simulator.served()).toHaveLength(k);

    const early = await stint(['budget', 'resume', itemId], work.options);
    expect(early.code).not.toBe(0);
    await extendAndFinish(work, itemId, ['--requests', '100']);
    await expectEachSentOnce(work, simulator);
    await expectSameWork(work, rows);
  });

  it.concurrent('never passes a token limit drawn between two requests', async () => {
    const rows = await unlimited();
    const random = new Random(seed + 2);
    const limits = Array.from({ length: 400 }, () => random.between(12_000, 90_000));
    const limit = limits.find((one) => admittedUnder(one, rows) >= 1 && admittedUnder(one, rows) < rows.length) ?? 0;
    await using simulator = await startSimulatorProcess();
    const work = draw(simulator);
    const itemId = await expectStopped(work, ['--tokens', String(limit)], 'maxTokens');
    expect(simulator.served()).toHaveLength(admittedUnder(limit, rows));
    const charged = (await ledgerRows(work)).reduce((sum, row) => sum + row.charged_tokens, 0);
    expect(charged).toBeLessThanOrEqual(limit);
    await extendAndFinish(work, itemId, ['--tokens', '1000000']);
    await expectSameWork(work, rows);
  });

  it.concurrent('is freed by the command it prints', async () => {
    await using simulator = await startSimulatorProcess();
    const work = draw(simulator);
    const stopped = await stint(runWords(work, '--tokens', '20000'), work.options);
    expect(stopped.code, stopped.stderr).toBe(5);
    const { id, needs } = documentOf(stopped);
    const freed = await stint(wordsOf(needs[0]?.command ?? ''), work.options);
    expect(freed.code, freed.stderr).toBe(0);
    const watched = await stint(['watch', id, '--json'], work.options);
    expect([0, 5], watched.stderr).toContain(watched.code);
    expect(simulator.served().length).toBeGreaterThan(2);
  });

  it.concurrent('denies everything at 0', async () => {
    await using simulator = await startSimulatorProcess();
    const work = draw(simulator);
    await expectStopped(work, ['--tokens', '0'], 'maxTokens');
    expect(simulator.served()).toHaveLength(0);
    expect(await onlyItem(work)).toMatch(/./);
  });
});

describe('a token budget', () => {
  it('is not passed by two Actions at once, at any instant that an outside reader sees', async () => {
    await using simulator = await startSimulatorProcess();
    const work = draw(simulator);
    const limit = new Random(seed + 3).between(45_000, 60_000);
    const running = startStint(runWords(work, '--tokens', String(limit), '--model', 'openai:parallel'), work.options);
    let ended = false;
    const end = running.ended.finally(() => {
      ended = true;
    });
    let most = 0;
    let together = 0;
    while (!ended) {
      await setImmediate(); // lets the end of the process be heard of
      const sums = await readStore<{ charged: number; open: number }>(
        work.options.dataDirectory,
        "SELECT COALESCE(SUM(charged_tokens), 0) AS charged, COUNT(CASE WHEN status = 'reserved' THEN 1 END) AS open FROM ledger_requests",
      ).catch(() => []); // the store is not there yet
      most = Math.max(most, sums[0]?.charged ?? 0);
      together = Math.max(together, sums[0]?.open ?? 0);
    }
    const { code, stderr } = await end;
    expect([0, 5], stderr).toContain(code);
    expect(together).toBe(2);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(limit);
  });

  it('books an answer above its hold in full, flags it, and stops', async () => {
    await using simulator = await startSimulatorProcess();
    const work = draw(simulator);
    const ended = await stint(runWords(work, '--tokens', '60000', '--model', 'openai:greedy'), work.options);
    expect(ended.code, ended.stderr).toBe(5);
    const rows = await ledgerRows(work);
    expect(rows.some((row) => row.overshoot === 1 && row.charged_tokens > row.estimate_tokens)).toBe(true);
    const served = simulator
      .served()
      .map(({ turnId, inputTokens, outputTokens }) => [turnId, inputTokens + outputTokens]);
    expect(Object.fromEntries(rows.map((row) => [row.id, row.charged_tokens]))).toEqual(Object.fromEntries(served));
  });
});
