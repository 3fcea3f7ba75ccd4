import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listOperations, listTurns, readHistory } from '@stint/journal';
import { readRequest, type RequestStatus } from '@stint/ledger';
import {
  callsWithResults,
  type FaultName,
  faultNames,
  type ServedRequest,
  type Simulator,
  startSimulator,
} from '@stint/simulator';
import { openSqlite } from '@stint/storage';
import { expect, test } from 'vitest';
import { type CrashRun, crashRun, owner } from './crash-run.test.helper.js';
import { estimateTokens } from './durable-run.test.helper.js';
import type { RunEnd } from './types.js';

const child = fileURLToPath(new URL('../dist/crash-run.test.helper.js', import.meta.url));
const stepCount = 4;
const mostFaults = 12;

/** Faults that no repetition cures, and those that only take time. */
const leftOut: ReadonlySet<FaultName> = new Set([
  'unauthorized',
  'bad_request',
  'redirect',
  'keep_alives_only',
  'huge_chunk',
  'slow_drip',
]);
const faults = faultNames.filter((name) => !leftOut.has(name));
const points = [
  'turn:prepared',
  'turn:started',
  'turn:identified',
  'turn:streaming',
  'turn:answered',
  'turn:finished',
  'turn:failing',
  'turn:failed',
  'read tool:during',
  'write tool:before',
  'operation:started',
  'write tool:during',
  'write tool:after',
  'operation:done',
  'operation:ended',
];

/** `STINT_SEED` repeats a play, `STINT_SEEDS` tries as many from there on. */
const firstSeed = Number(process.env['STINT_SEED'] ?? Math.floor(Math.random() * 1e9));
const seeds = Array.from({ length: Number(process.env['STINT_SEEDS'] ?? 1) }, (_, index) => firstSeed + index);

/** A small generator with a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function simulatorWith(random: () => number): Promise<Simulator> {
  let struck = 0;
  return startSimulator({
    scenario: (request) => {
      const step = callsWithResults(request, 'write').length;
      if (step >= stepCount) return { text: 'finished it all', pieceCharacters: 4 };
      const calls = [
        { name: 'look', input: { step } },
        { name: 'write', input: { line: `line-${step}` } },
      ];
      return { text: `this is step ${step}`, pieceCharacters: 4, toolCalls: calls };
    },
    faults: () => {
      if (random() > 0.35 || struck === mostFaults) return null;
      struck += 1;
      return faults[Math.floor(random() * faults.length)];
    },
  });
}

/** Killed three times at random, then run until it is done. */
async function play(run: CrashRun, random: () => number): Promise<RunEnd> {
  for (let kill = 0; kill < 3; kill += 1) {
    const point = points[Math.floor(random() * points.length)] as string;
    const killing = { ...run, point, occurrence: 1 + Math.floor(random() * 2) };
    const ended = spawn(process.execPath, [child, JSON.stringify(killing)], { stdio: ['ignore', 'ignore', 'inherit'] });
    await once(ended, 'exit');
  }
  for (let tries = 1; ; tries += 1) {
    const end = await crashRun(run);
    if (end.reason === 'completed' || tries === 6) return end;
  }
}

/** What the ledger may say of a turn in each status; no turn may be on its way when nothing runs. */
const booked: Readonly<Record<string, readonly RequestStatus[]>> = {
  responded: ['reported', 'unknown'],
  unknown: ['unknown'],
  refused: ['released'],
  written_off: ['unknown'],
};

test.each(seeds)(
  'case E01, case Y20: after faults and kills at random (seed %i) the run ends, nothing is sent or done twice, and the books fit',
  async (seed) => {
    const random = randomOf(seed);
    const folder = mkdtempSync(join(tmpdir(), 'stint-play-'));
    const simulator = await simulatorWith(random);
    const storePath = join(folder, 'store.db');
    const effectsPath = join(folder, 'effects.txt');
    const isAskable = random() < 0.5;
    try {
      const run = { storePath, effectsPath, url: simulator.url, model: 'm', isAskable, point: '', occurrence: 0 };
      const end = await play(run, random);
      expect(end, end.error?.message).toMatchObject({ reason: 'completed' });
      const served = simulator.requests();
      expect(served.filter((request) => request.status === 400).map((request) => request.error)).toEqual([]);
      expect(new Set(served.map((request) => request.turnId)).size).toBe(served.length);
      const effects = existsSync(effectsPath) ? readFileSync(effectsPath, 'utf8').trim().split('\n') : [];
      expect(new Set(effects).size, effects.join()).toBe(effects.length);
      await expectBooks(storePath, served, end);
    } finally {
      await simulator.close();
      rmSync(folder, { recursive: true });
    }
  },
  60_000,
);

/** What the provider said that a request used; 0 if it said nothing. */
function toldTokens(request: ServedRequest | undefined): number {
  const { inputTokens = 0, outputTokens = 0 } = request?.reportedUsage ?? {};
  return inputTokens + outputTokens;
}

/** A request is charged what its provider told, and no less than its estimate where it told nothing or was not heard to the end. */
async function expectBooks(path: string, served: readonly ServedRequest[], end: RunEnd): Promise<void> {
  const db = await openSqlite({ path });
  try {
    const turns = await db.read((ctx) => listTurns(ctx, owner));
    for (const { id, status } of turns) {
      const request = await db.read(() => readRequest(id));
      expect(booked[status], `a turn that is ${status}`).toContain(request?.status);
      const told = toldTokens(served.find(({ turnId }) => turnId === id));
      const charged = request?.chargedTokens ?? -1;
      const least = request?.status === 'unknown' ? Math.max(estimateTokens, told) : 0;
      if (request?.status === 'reported') expect(charged, `a turn that is ${status}`).toBe(told);
      else expect(charged, `a turn that is ${status}`).toBe(least);
    }
    const known = turns.map((turn) => turn.id);
    expect(served.filter(({ turnId }) => turnId === null || !known.includes(turnId))).toEqual([]);
    const operations = await db.read((ctx) => listOperations(ctx, owner));
    expect(operations.filter((operation) => operation.status === 'running')).toEqual([]);
    const stored = await db.read((ctx) => readHistory(ctx, owner));
    expect(stored.map((entry) => entry.key).toSorted()).toEqual(end.entries.map((entry) => entry.key).toSorted());
  } finally {
    await db.close();
  }
}
