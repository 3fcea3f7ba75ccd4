import { stopAccount } from '@stint/ledger';
import { type Database, run, StoreError } from '@stint/storage';
import { findMailboxWork } from '@stint/work-items';
import { expect, it } from 'vitest';
import { accountOf } from './account.js';
import { budgetStopOf } from './budget-stop.js';
import { type LogLine, resolveOptions, type Services } from './options.js';
import { pricingBy } from './pricing.js';
import { coordinatorOptions, openBench } from './work-bench.test.helper.js';
import { actionSource, mailboxSource } from './work-sources.js';

/** The database, with the calls of `write` counted; `before` runs ahead of each. */
function watched(db: Database, before: () => Promise<void> = async () => undefined): { db: Database; writes: number } {
  const seen = { db, writes: 0 };
  seen.db = new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name !== 'write') return value.bind(target) as unknown;
      return async (...args: unknown[]) => {
        seen.writes += 1;
        await before();
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
  return seen;
}

const servicesOn = (db: Database, url: string): Services =>
  resolveOptions(coordinatorOptions(db, url), { pricing: pricingBy() });

it('looks at stopped items without a write and by one statement each, and claims the free one behind them by one write', async () => {
  await using bench = await openBench();
  const { db } = bench;
  const stopped: string[] = [];
  for (let count = 0; count < 20; count += 1) stopped.push(await bench.item({ withoutWorkDir: true }));
  for (const itemId of stopped)
    await db.write((ctx) => stopAccount(ctx, accountOf(itemId), { code: 'cost_exhausted' }));
  const seen = watched(db);
  const services = servicesOn(seen.db, bench.simulator.url);
  const source = mailboxSource(services, () => undefined);
  const before = db.statementCount;
  expect(await db.read((ctx) => findMailboxWork(ctx, { stopOf: budgetStopOf }))).toBeNull();
  expect(db.statementCount - before).toBeLessThanOrEqual(stopped.length + 3);
  expect(await source.claim()).toBeNull();
  expect(await actionSource(services, () => undefined).claim()).toBeNull();
  expect(seen.writes).toBe(0);
  const free = await bench.item({ withoutWorkDir: true });
  expect(await source.claim()).not.toBeNull();
  expect(seen.writes).toBe(1);
  expect((await bench.records(free)).thinkingTurn).not.toBeNull();
});

it('goes on to the next work when another process took what it saw free', async () => {
  await using bench = await openBench();
  const first = await bench.item({ withoutWorkDir: true });
  const second = await bench.item({ withoutWorkDir: true });
  const other = mailboxSource(servicesOn(bench.db, bench.simulator.url), () => undefined);
  let raced = false;
  const seen = watched(bench.db, async () => {
    if (!raced) expect(await other.claim()).not.toBeNull();
    raced = true;
  });
  const source = mailboxSource(servicesOn(seen.db, bench.simulator.url), () => undefined);
  expect(await source.claim()).not.toBeNull();
  expect(seen.writes).toBe(2);
  for (const itemId of [first, second]) expect((await bench.records(itemId)).thinkingTurn).not.toBeNull();
  expect(await source.claim()).toBeNull();
});

it('claims the work behind an item that throws, and says which item that is', async () => {
  await using bench = await openBench();
  const damaged = await bench.item({ withoutWorkDir: true });
  const sound = await bench.item({ withoutWorkDir: true });
  await bench.db.write(() => run("UPDATE work_items SET criteria = 'damaged' WHERE id = ?", [damaged]));
  const lines: LogLine[] = [];
  const services = { ...servicesOn(bench.db, bench.simulator.url), log: (line: LogLine) => void lines.push(line) };
  const source = mailboxSource(services, () => undefined);
  expect(await source.claim()).not.toBeNull();
  expect((await bench.records(sound)).thinkingTurn).not.toBeNull();
  expect(lines).toEqual([expect.objectContaining({ level: 'error', itemId: damaged })]);
});

it('claims nothing, and rejects, when it is the store that fails', async () => {
  await using bench = await openBench();
  await bench.item({ withoutWorkDir: true });
  const failure = new StoreError('store_busy', 'Another process held the store for the whole wait.');
  const seen = watched(bench.db, () => Promise.reject(failure));
  const source = mailboxSource(servicesOn(seen.db, bench.simulator.url), () => undefined);
  await expect(source.claim()).rejects.toBe(failure);
});
