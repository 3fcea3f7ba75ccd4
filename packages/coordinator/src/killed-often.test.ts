import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { defaultScenario, type Scenario, systemText, turnsTaken } from '@stint/simulator';
import { assertNothingStuck, type ItemRecords } from '@stint/work-items';
import { describe, expect, it } from 'vitest';
import {
  expectHonestBooks,
  gone,
  isRepaired,
  kill,
  resolveAsked,
  serveElsewhere,
  serveOn,
  serveUntilKilled,
  stands,
} from './killing.test.helper.js';
import { type Bench, openBench, summary } from './work-bench.test.helper.js';

const limits = { maxAttempts: 60, maxRequests: 1_000, maxTokens: null, protected: null };

/** Numbers in [0, 1) that a seed fixes (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Serves until the process kills itself, at a gate point or between two statements, or the item stands still. */
async function serveSomeOf(bench: Bench, itemId: string, random: () => number): Promise<ItemRecords> {
  const bySql = random() < 0.5;
  const occurrence = 1 + Math.floor(random() * (bySql ? 1_500 : 24));
  const server = await serveElsewhere(bench, { point: bySql ? 'sql' : '*', occurrence });
  await Promise.race([gone(server), bench.until(itemId, stands)]);
  await kill(server);
  await bench.coordinator().recover();
  const records = await bench.records(itemId);
  assertNothingStuck(records);
  return records;
}

describe('an item whose process is killed again and again', () => {
  const seed = Number(process.env['STINT_SEED'] ?? Math.floor(Math.random() * 1e9));
  const seeds = Array.from({ length: Number(process.env['STINT_SEEDS'] ?? 1) }, (_, index) => seed + index);

  it.each(seeds)('ends done, with honest books, by nothing but the offered commands (seed %i)', async (drawn) => {
    const random = seeded(drawn);
    await using bench = await openBench({ model: random() < 0.5 ? 'default' : 'simulated:parallel' });
    const itemId = await bench.item({ limits, maxAttempts: 60 });
    for (let kills = 0; kills < 4; kills += 1) {
      const records = await serveSomeOf(bench, itemId, random);
      if (records.item.status === 'done') break;
      if (stands(records)) await resolveAsked(bench, records);
    }
    let records = await serveOn(bench, itemId);
    for (let asked = 0; records.item.status !== 'done' && asked < 12; asked += 1) {
      await resolveAsked(bench, records);
      records = await serveOn(bench, itemId);
    }
    expect(records.item.status, JSON.stringify(summary(records))).toBe('done');
    expect(isRepaired(bench)).toBe(true);
    await expectHonestBooks(bench, itemId);
  });
});

describe('a kill', () => {
  it('between a refused decision and the next one pays for neither twice', async () => {
    const scenario: Scenario = (request) =>
      systemText(request).startsWith('You are the Coordinator') && turnsTaken(request) === 0
        ? { text: '{"decision":"plan","mutations":[]}' }
        : defaultScenario(request);
    await using bench = await openBench({ scenario });
    const itemId = await bench.item({ withoutWorkDir: true });
    await serveUntilKilled(bench, 'turn:prepared', 2);
    expect(bench.simulator.requests()).toHaveLength(1);
    const records = await serveOn(bench, itemId);
    expect(records.item.status, JSON.stringify(summary(records))).toBe('done');
    const decisions = (await bench.turns(itemId)).filter((turn) => turn.owner.kind === 'coordinator');
    expect(decisions.map((turn) => turn.status)).toEqual(['rejected', 'applied']);
    await expectHonestBooks(bench, itemId);
  });

  it('leaves no command of the dead process running, and asks what it did', async () => {
    const command = 'echo $$ > shell.pid; while true; do sleep 1; done';
    const scenario: Scenario = (request) => {
      const isEditing = request.messages[1]?.text.includes('Workspace: shared') === true;
      return isEditing && turnsTaken(request) === 0
        ? { toolCalls: [{ name: 'shell', input: { command, timeoutMs: 60_000 } }] }
        : defaultScenario(request);
    };
    await using bench = await openBench({ scenario });
    const itemId = await bench.item();
    const server = await serveElsewhere(bench);
    const pid = await pidIn(join(bench.workDir, 'shell.pid'));
    await kill(server);
    expect(isAlive(pid)).toBe(true);
    const { item } = await serveOn(bench, itemId);
    expect(isAlive(pid)).toBe(false);
    expect(item).toMatchObject({ status: 'needs_attention', attention: { code: 'unknown_operation' } });
  });
});

async function pidIn(file: string): Promise<number> {
  const deadline = AbortSignal.timeout(20_000);
  while (!existsSync(file) || readFileSync(file, 'utf8').trim() === '') {
    deadline.throwIfAborted();
    await setTimeout(20);
  }
  return Number(readFileSync(file, 'utf8'));
}

/** A process that runs; one that has ended and was not collected yet does not. */
function isAlive(pid: number): boolean {
  const state = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
  return state !== '' && !state.startsWith('Z');
}
