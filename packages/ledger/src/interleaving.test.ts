import { type Body, type Database, run as execute } from '@stint/storage';
import { type FreshStore, freshPostgres, interleave, schedules } from '@stint/storage/testing';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createAccount } from './accounts.js';
import { extendAccount, resumeAccount } from './administration.js';
import { ask, person, used } from './conformance-kit.js';
import { recordFailure } from './failures.js';
import { createLedger } from './ledger.js';
import { recoverRequest } from './recover.js';
import { type ReserveResult, reserveRequest } from './reserve.js';
import { ledgerMigrations } from './schema.js';
import { releaseRequest, settleRequest } from './settle.js';
import { stopAccount } from './stop.js';

/** A scene with one request held on `<scene>.leaf`; root and leaf have room for one more of the two that are asked for. */
interface Scene {
  readonly root: string;
  readonly leaf: string;
  readonly held: string;
}

const bodies: Readonly<Record<string, (scene: Scene) => Body<unknown>>> = {
  reserve:
    ({ leaf }) =>
    (ctx) =>
      reserveRequest(ctx, ask(leaf, 300)),
  'reserve on the root':
    ({ root }) =>
    (ctx) =>
      reserveRequest(ctx, ask(root, 300)),
  'settle above the hold':
    ({ held }) =>
    (ctx) =>
      settleRequest(ctx, held, { usage: used(650), complete: true }),
  release:
    ({ held }) =>
    (ctx) =>
      releaseRequest(ctx, held, 'refused'),
  recover:
    ({ held }) =>
    (ctx) =>
      recoverRequest(ctx, held),
  extend:
    ({ root }) =>
    (ctx) =>
      extendAccount(ctx, root, { revision: 1, additions: { maxTokens: 100 }, actor: person }),
  stop:
    ({ leaf }) =>
    (ctx) =>
      stopAccount(ctx, leaf, { code: 'paused', actor: person }),
  resume:
    ({ leaf }) =>
    (ctx) =>
      resumeAccount(ctx, leaf, { revision: 2, actor: person }),
  'create a child':
    ({ leaf }) =>
    (ctx) =>
      createAccount(ctx, { id: `${leaf}.child`, parent: leaf }),
  fail:
    ({ leaf }) =>
    (ctx) =>
      recordFailure(ctx, leaf, 'planner'),
};

let store: FreshStore<object>;
let db: Database;

beforeAll(async () => {
  store = await freshPostgres(inject('pgUrl'));
  db = await store.open();
  await db.migrate(ledgerMigrations);
});

afterAll(async () => {
  await store.remove();
});

let scenes = 0;

async function createScene(): Promise<Scene> {
  scenes += 1;
  const scene = { root: `scene${scenes}`, leaf: `scene${scenes}.leaf`, held: `scene${scenes}.held` };
  await db.write(function* (ctx) {
    yield* createAccount(ctx, { id: scene.root, limits: { maxTokens: 1000 } });
    yield* createAccount(ctx, { id: scene.leaf, parent: scene.root, limits: { maxTokens: 900 } });
    yield* reserveRequest(ctx, ask(scene.leaf, 500, { id: scene.held }));
    yield* execute("UPDATE ledger_requests SET owner = 'nobody' WHERE id = ?", [scene.held]);
  });
  return scene;
}

/** Draws numbers from 0 to 1, the same at every run of this file. */
function seeded(): () => number {
  let state = 42;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const names = Object.keys(bodies);
const random = seeded();

for (const [index, first] of names.entries()) {
  it(`keeps every invariant when "${first}" meets any other body, statement by statement`, async () => {
    for (const second of names.slice(index)) {
      for (const schedule of schedules(10, 10, 2, random)) await meet(first, second, schedule);
    }
  });
}

async function meet(first: string, second: string, schedule: readonly ('first' | 'second')[]): Promise<void> {
  const scene = await createScene();
  const options = { url: store.location, schedule, owners: { first: db.owner, second: db.owner } };
  const bodyOf = (name: string): Body<unknown> => (bodies[name] as (scene: Scene) => Body<unknown>)(scene);
  const result = await interleave({ ...options, first: bodyOf(first), second: bodyOf(second) });
  const where = `${first} and ${second}: ${result.trace.join('; ')}`;
  expect([result.first.status, result.second.status], where).toEqual(['committed', 'committed']);
  const ledger = createLedger(db);
  expect(await ledger.verifyAccount(scene.root), where).toMatchObject({ ok: true });
  expect(await ledger.replayAccount(scene.root), where).toMatchObject({ ok: true });
  if (first === 'reserve' && second === 'reserve') {
    const admitted = [result.first, result.second].filter(
      (side) => side.status === 'committed' && (side.value as ReserveResult).allowed,
    );
    expect(admitted.length, where).toBe(1);
  }
}
