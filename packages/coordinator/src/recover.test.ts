import { insertTurn } from '@stint/journal';
import type { FrozenRequest } from '@stint/provider-hooks';
import { type Database, run, StoreError } from '@stint/storage';
import { applyPlan, beginCoordinatorTurn, claimAction, claimMailbox } from '@stint/work-items';
import { describe, expect, it } from 'vitest';
import type { LogLine } from './options.js';
import { recover } from './recover.js';
import { type Bench, openBench, openStore } from './work-bench.test.helper.js';

const damageItem = "UPDATE work_items SET criteria = 'damaged' WHERE id = ?";
const refuseTurnChange = `CREATE TRIGGER refuse_turn_change BEFORE UPDATE ON journal_turns
  BEGIN SELECT RAISE(ABORT, 'this turn cannot be changed'); END`;

const request = {
  turnNumber: 1,
  model: 'm',
  hash: 'h',
  settings: {},
  purpose: 'turn',
  stream: true,
  entries: [],
  inputIds: [],
} as unknown as FrozenRequest;

const edit = {
  op: 'add',
  action: {
    id: 'edit',
    kind: 'deliver',
    objective: 'Make the failing test pass',
    approach: 'Read, then edit one line',
    expectedResult: 'The test passes',
    dependencies: [],
    workspaceMode: 'shared',
    checkpoint: false,
  },
} as const;

/** Does something as a process that has ended since. */
async function asGone<T>(bench: Bench, act: (db: Database) => Promise<T>): Promise<T> {
  const db = await openStore(bench.folder);
  try {
    return await act(db);
  } finally {
    await db.close();
  }
}

/** Two items whose mailbox entries are claimed by a process that is gone. */
async function twoDeadClaims(bench: Bench): Promise<readonly [string, string]> {
  const items = [await bench.item({ withoutWorkDir: true }), await bench.item({ withoutWorkDir: true })] as const;
  await asGone(bench, async (db) => {
    for (const itemId of items) await db.write((ctx) => claimMailbox(ctx, { itemIds: [itemId] }));
  });
  return items;
}

describe('recovery with a row that throws', () => {
  it('logs it by its id and recovers the rows after it', async () => {
    await using bench = await openBench();
    const [damaged, sound] = await twoDeadClaims(bench);
    await bench.db.write(() => run(damageItem, [damaged]));
    const lines: LogLine[] = [];
    const recovered = await recover({ db: bench.db, log: (line) => lines.push(line) });
    expect(recovered.claims).toBe(1);
    expect((await bench.records(sound)).openMailbox.map(({ status }) => status)).toEqual(['pending']);
    const errors = lines.filter(({ level }) => level === 'error');
    expect(errors).toEqual([expect.objectContaining({ kind: 'claim', id: expect.any(String) })]);
  });

  it('ends at once when it is the store that fails', async () => {
    await using bench = await openBench();
    await twoDeadClaims(bench);
    const failure = new StoreError('store_busy', 'Another process held the store for the whole wait.');
    const db = Object.assign(Object.create(bench.db) as Database, {
      endDeadProcesses: () => Promise.resolve(0),
      read: bench.db.read.bind(bench.db),
      write: () => Promise.reject(failure),
    });
    await expect(recover({ db, log: () => undefined })).rejects.toBe(failure);
  });

  it('keeps a Run, and so its workspace, while what its request came to cannot be told', async () => {
    await using bench = await openBench();
    const itemId = await bench.item();
    const coordinator = bench.coordinator({ machine: 'another' });
    coordinator.start();
    await bench.until(itemId, ({ actions }) => actions.length > 0);
    await coordinator.stop();
    await asGone(bench, async (db) => {
      const claimed = await db.write((ctx) => claimAction(ctx));
      const owner = { kind: 'run', id: claimed?.run.id ?? '' } as const;
      await db.write((ctx) => insertTurn(ctx, { id: 'turn', owner, request }));
    });
    await bench.db.write(() => run(refuseTurnChange));
    const { runs } = await recover({ db: bench.db, log: () => undefined });
    expect(runs).toBe(0);
    expect((await bench.records(itemId)).runs.map(({ status }) => status)).toEqual(['running']);
  });

  it('keeps the workspace of a cancelled Run while what its request came to cannot be told', async () => {
    await using bench = await openBench();
    const itemId = await bench.item();
    await asGone(bench, (db) =>
      db.write(function* (ctx) {
        const claim = yield* claimMailbox(ctx);
        const begun = claim && (yield* beginCoordinatorTurn(ctx, claim));
        expect(begun && (yield* applyPlan(ctx, begun.fence, { mutations: [edit] }))).toEqual({ applied: true });
        const claimed = yield* claimAction(ctx);
        const owner = { kind: 'run', id: claimed?.run.id ?? '' } as const;
        yield* insertTurn(ctx, { id: 'turn', owner, request });
      }),
    );
    await bench.commands.cancel({ itemId });
    await bench.db.write(() => run(refuseTurnChange));
    expect(await recover({ db: bench.db, log: () => undefined })).toMatchObject({ turns: 0, holds: 0 });
    await bench.db.write(() => run('DROP TRIGGER refuse_turn_change'));
    expect(await recover({ db: bench.db, log: () => undefined })).toMatchObject({ turns: 1, holds: 1 });
  });
});
