import { randomUUID } from 'node:crypto';
import type { HistoryEntry } from '@stint/provider-hooks';
import { freshSqlite } from '@stint/storage/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '@stint/storage';
import { appendEntries, readHistory } from './history.js';
import { journalMigrations } from './schema.js';
import { inputEntry, note, requestOf, responseOf } from './testing-fixture.js';
import { insertTurn, recordRefused, recordResponse, recordUnknown } from './turns.js';

const store = freshSqlite();
let db: Database;
beforeAll(async () => {
  db = await store.open({ synchronous: 'normal' });
  await db.migrate(journalMigrations);
});
afterAll(() => store.remove());

type Step =
  | { readonly do: 'append'; readonly key: number }
  | { readonly do: 'compact'; readonly keep: number }
  | { readonly do: 'turn'; readonly inputs: readonly number[]; readonly end: 'responded' | 'refused' | 'unknown' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('append' as const), key: fc.nat(12) }),
  fc.record({ do: fc.constant('compact' as const), keep: fc.nat(4) }),
  fc.record({
    do: fc.constant('turn' as const),
    inputs: fc.uniqueArray(fc.nat(6), { maxLength: 3 }),
    end: fc.constantFrom('responded' as const, 'refused' as const, 'unknown' as const),
  }),
);

/** The same rules over a list in memory. */
class Model {
  all: string[] = [];
  visible: string[] = [];

  add(key: string): void {
    if (this.all.includes(key)) return;
    this.all.push(key);
    this.visible.push(key);
  }

  compact(key: string, keep: number): void {
    this.all.push(key);
    this.visible = [key, ...(keep === 0 ? [] : this.visible.slice(-keep))];
  }

  takeBack(keys: readonly string[]): void {
    this.all = this.all.filter((key) => !keys.includes(key));
    this.visible = this.visible.filter((key) => !keys.includes(key));
  }
}

test('any sequence of entries, compactions and turns reads like the same rules over a list', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const owner = { kind: 'run', id: randomUUID() } as const;
      const model = new Model();
      for (const [index, each] of steps.entries()) await play(each, index, owner, model);
      const history = await db.read((ctx) => readHistory(ctx, owner));
      expect(history.map((entry) => entry.key)).toEqual(model.visible);
    }),
    { numRuns: 60 },
  );
});

async function play(
  each: Step,
  index: number,
  owner: { readonly kind: 'run'; readonly id: string },
  model: Model,
): Promise<void> {
  if (each.do === 'append') {
    await db.write((ctx) => appendEntries(ctx, owner, [note(`n${each.key}`)]));
    return model.add(`n${each.key}`);
  }
  if (each.do === 'compact') {
    const entry: HistoryEntry = { ...note(`c${index}`), kind: 'compaction', keep: each.keep };
    await db.write((ctx) => appendEntries(ctx, owner, [entry]));
    return model.compact(entry.key, each.keep);
  }
  const fresh = each.inputs.map((input) => `input:${input}`).filter((key) => !model.all.includes(key));
  const id = await db.write(function* (ctx) {
    const turn = ctx.newId();
    const entries = each.inputs.map((input) => inputEntry(String(input)));
    yield* insertTurn(ctx, { id: turn, owner, request: requestOf({ entries }) });
    return turn;
  });
  for (const key of fresh) model.add(key);
  const error = { code: 'x', message: 'y' };
  if (each.end === 'responded') {
    await db.write((ctx) => recordResponse(ctx, id, responseOf()));
    return model.add(`response:${id}`);
  }
  await db.write((ctx) => (each.end === 'refused' ? recordRefused : recordUnknown)(ctx, id, { error }));
  model.takeBack(fresh);
}
