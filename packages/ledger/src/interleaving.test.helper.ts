/** Two bodies of the ledger that meet on one tree in Postgres, statement by statement. */
import assert from 'node:assert/strict';
import { type Body, type Database, run as execute } from '@stint/storage';
import { interleave, type Side } from '@stint/storage/testing';
import { createAccount } from './accounts.js';
import { closeAccount, extendAccount, lowerAccount, resumeAccount } from './administration.js';
import { addAttempts, closeSubject, deferAttempt, restartAttempts } from './attempts.js';
import { ask, person, used } from './conformance-kit.js';
import { recordFailure, recordSuccess } from './failures.js';
import { reconcileRequest } from './reconcile.js';
import { recoverRequest } from './recover.js';
import { replayAccount } from './replay.js';
import { type ReserveInput, reserveRequest } from './reserve.js';
import { markRequestUnknown, releaseRequest, settleRequest } from './settle.js';
import { snapshotAccount } from './snapshot.js';
import { stopAccount } from './stop.js';
import { verifyAccount } from './verify.js';

/** The clock stands still, so that the same order gives the same rows. */
export const sceneTime = Date.UTC(2026, 2, 10, 12);

/**
 * root, and beneath it two items and one that is paused. A request is held on the first, by a process that is gone, and one of it is unknown;
 * the root has room for one of two requests of 300.
 */
async function createScene(db: Database, scene: string): Promise<void> {
  const limits = { maxTokens: 1000, windows: [{ per: 'day', maxTokens: 1000 }] } as const;
  await db.write(function* (ctx) {
    yield* createAccount(ctx, { id: scene, limits });
    yield* createAccount(ctx, { id: `${scene}.one`, parent: scene, limits: { maxTokens: 900, maxAttempts: 2 } });
    yield* createAccount(ctx, { id: `${scene}.two`, parent: scene, limits: { maxTokens: 900 } });
    yield* createAccount(ctx, { id: `${scene}.paused`, parent: scene });
    yield* stopAccount(ctx, `${scene}.paused`, { code: 'paused', actor: person });
    yield* recordFailure(ctx, `${scene}.two`, 'planner');
    yield* reserveRequest(ctx, asked(scene, 'one', { id: `${scene}.held`, tokens: 400, attempt: 'first' }));
    yield* reserveRequest(ctx, asked(scene, 'one', { id: `${scene}.lost`, tokens: 100 }));
    yield* markRequestUnknown(ctx, `${scene}.lost`);
    yield* execute("UPDATE ledger_requests SET owner = 'nobody' WHERE id = ?", [`${scene}.held`]);
  });
}

function asked(
  scene: string,
  account: string,
  { id, tokens = 300, attempt }: { id: string; tokens?: number; attempt?: string },
): ReserveInput {
  return ask(account === '' ? scene : `${scene}.${account}`, tokens, {
    id,
    run: `${scene}.${attempt ?? 'run'}`,
    ...(attempt === undefined ? {} : { attempt: { subject: 'step', run: attempt } }),
  });
}

type BodyOf = (scene: string, side: Side) => Body<unknown>;

/** Bodies that ask for 300 tokens of the root. */
const asking: Readonly<Record<string, BodyOf>> = {
  'reserve on an item': (scene, side) => (ctx) => reserveRequest(ctx, asked(scene, 'one', { id: `${scene}.${side}` })),
  'reserve on its sibling': (scene, side) => (ctx) =>
    reserveRequest(ctx, asked(scene, 'two', { id: `${scene}.${side}` })),
  'reserve on the root': (scene, side) => (ctx) => reserveRequest(ctx, asked(scene, '', { id: `${scene}.${side}` })),
  'reserve for a new attempt': (scene, side) => (ctx) =>
    reserveRequest(ctx, asked(scene, 'one', { id: `${scene}.${side}`, attempt: 'second' })),
};

const usage = (tokens: number) => ({ usage: used(tokens), complete: true, costMicros: tokens });

const bodies: Readonly<Record<string, BodyOf>> = {
  ...asking,
  settle: (scene) => (ctx) => settleRequest(ctx, `${scene}.held`, usage(50)),
  'settle above the hold': (scene) => (ctx) => settleRequest(ctx, `${scene}.held`, usage(950)),
  'settle late': (scene) => (ctx) => settleRequest(ctx, `${scene}.lost`, usage(30)),
  release: (scene) => (ctx) => releaseRequest(ctx, `${scene}.held`, 'refused'),
  'mark unknown': (scene) => (ctx) => markRequestUnknown(ctx, `${scene}.held`, used(500)),
  recover: (scene) => (ctx) => recoverRequest(ctx, `${scene}.held`),
  reconcile: (scene) => (ctx) => reconcileRequest(ctx, `${scene}.lost`, 'not_billed', person),
  extend: (scene) => (ctx) => extendAccount(ctx, scene, { revision: 1, additions: { maxTokens: 300 }, actor: person }),
  lower: (scene) => (ctx) => lowerAccount(ctx, scene, { revision: 1, limits: { maxTokens: 800 }, actor: person }),
  stop: (scene) => (ctx) => stopAccount(ctx, `${scene}.one`, { code: 'cancelled', actor: person }),
  'stop the root': (scene) => (ctx) => stopAccount(ctx, scene, { code: 'over' }),
  resume: (scene) => (ctx) => resumeAccount(ctx, `${scene}.paused`, { revision: 2, actor: person }),
  close: (scene) => (ctx) => closeAccount(ctx, `${scene}.two`),
  'create a child': (scene) => (ctx) => createAccount(ctx, { id: `${scene}.one.child`, parent: `${scene}.one` }),
  fail: (scene) => (ctx) => recordFailure(ctx, `${scene}.two`, 'planner'),
  succeed: (scene) => (ctx) => recordSuccess(ctx, `${scene}.two`, 'planner'),
  'defer an attempt': (scene) => (ctx) => deferAttempt(ctx, `${scene}.one`, { subject: 'step', run: 'first' }),
  'start attempts anew': (scene) => (ctx) => restartAttempts(ctx, `${scene}.one`, { subject: 'step', actor: person }),
  'add attempts': (scene) => (ctx) =>
    addAttempts(ctx, `${scene}.one`, { subject: 'step', additions: 1, actor: person }),
  'close a subject': (scene) => (ctx) => closeSubject(ctx, `${scene}.one`, 'step'),
};

export const bodyNames: readonly string[] = Object.keys(bodies);

/** A body's steps are its statements, and its begin and commit: at most so many. */
export const mostSteps = 12;

/** The first body does so many steps, then the second all that it can, then the first the rest. */
export function switchedAfter(steps: number): readonly Side[] {
  return [...Array<Side>(steps).fill('first'), ...Array<Side>(mostSteps).fill('second')];
}

/** Lets pairs of bodies meet, and knows what each pair does one after the other. */
export class Meetings {
  readonly #db: Database;
  readonly #url: string;
  readonly #serial = new Map<string, string>();
  #scenes = 0;

  /** @param db open on `url`, with a clock that stands at `sceneTime` and the ledger's tables */
  constructor(db: Database, url: string) {
    this.#db = db;
    this.#url = url;
  }

  /**
   * @returns false if the first had ended before the second began: no later switch is another meeting
   * @throws AssertionError unless both commit, the journal proves right, and the result is that of one order or of the other
   */
  async meet(first: string, second: string, schedule: readonly Side[]): Promise<boolean> {
    const [outcome, trace] = await this.#play(first, second, schedule);
    const where = `${first} and ${second}: ${trace}`;
    const orders = [await this.#inOrder(first, second, 'first'), await this.#inOrder(first, second, 'second')];
    if (!orders.includes(outcome)) assert.equal(outcome, orders[0], where);
    if (asking[first] !== undefined && asking[second] !== undefined)
      assert.equal(outcome.split('"allowed":true').length - 1, 1, where);
    return trace.indexOf('second: begin') < trace.indexOf('first: commit');
  }

  async #inOrder(first: string, second: string, side: Side): Promise<string> {
    const key = `${side} of ${first} and ${second}`;
    const other: Side = side === 'first' ? 'second' : 'first';
    const inOrder = [...Array<Side>(mostSteps).fill(side), ...Array<Side>(mostSteps).fill(other)];
    const outcome = this.#serial.get(key) ?? (await this.#play(first, second, inOrder))[0];
    this.#serial.set(key, outcome);
    return outcome;
  }

  async #play(first: string, second: string, schedule: readonly Side[]): Promise<readonly [string, string]> {
    this.#scenes += 1;
    const scene = `scene${this.#scenes}`;
    await createScene(this.#db, scene);
    const bodyOf = (name: string, side: Side): Body<unknown> => (bodies[name] as BodyOf)(scene, side);
    const { owner } = this.#db;
    const result = await interleave({
      url: this.#url,
      schedule,
      clock: () => sceneTime,
      owners: { first: owner, second: owner },
      first: bodyOf(first, 'first'),
      second: bodyOf(second, 'second'),
    });
    const trace = result.trace.join('; ');
    assert.deepEqual([result.first.status, result.second.status], ['committed', 'committed'], trace);
    const values = [result.first, result.second].map((side) => (side.status === 'committed' ? side.value : null));
    return [JSON.stringify([values, await this.#stateOf(scene)]).replaceAll(scene, 'scene'), trace];
  }

  async #stateOf(scene: string): Promise<unknown> {
    return await this.#db.read(function* (ctx) {
      for (const proof of [verifyAccount, replayAccount]) {
        const found = yield* proof(ctx, scene);
        assert.ok(found.ok, found.ok ? '' : found.misfit.problem);
      }
      const states: unknown[] = [];
      for (const name of ['', '.one', '.two', '.paused']) states.push(yield* snapshotAccount(ctx, `${scene}${name}`));
      return states;
    });
  }
}
