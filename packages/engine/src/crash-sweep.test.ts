import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listOperations, listTurns, readHistory, unresolved } from '@stint/journal';
import { startSimulator, turnsTaken, type Simulator } from '@stint/simulator';
import { openSqlite } from '@stint/storage';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crashRun, owner, type CrashRun } from './crash-run.test.helper.js';
import { repairHistory } from './repair-history.js';
import { checkValid, lines } from './scripted-model.test.helper.js';

const child = fileURLToPath(new URL('../dist/crash-run.test.helper.js', import.meta.url));
const turnCount = 10;
const salt = Math.random().toString(36).slice(2, 8);

let simulator: Simulator;
let folder: string;
let uninterrupted: readonly string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stint-crash-'));
  simulator = await startSimulator({
    scenario: (request) => {
      const step = turnsTaken(request);
      if (step >= turnCount) return { text: `finished ${salt}` };
      return {
        text: `step ${step}`,
        toolCalls: [
          { name: 'look', input: { step } },
          { name: 'write', input: { line: `${salt}-${step}` } },
        ],
      };
    },
  });
  const run = runOf('none', '', 0);
  await crashRun(run);
  uninterrupted = (await read(run)).history;
});
afterAll(async () => {
  await simulator.close();
  rmSync(folder, { recursive: true });
});

/** What a crash at a point leaves, and what the resumed run must make of it. */
interface RightEnd {
  /** The request that was in flight is unknown, and a person is asked. */
  readonly asksAboutTurn?: true;
  /** The call that was in flight is unknown, and a person is asked. */
  readonly asksAboutCall?: true;
  /** Requests to the provider beyond the eleven of an uninterrupted run. */
  readonly extraRequests?: number;
  /** The effect of the call in flight is missing: it never began. */
  readonly effectMissing?: true;
}

/** Where nothing was in flight the end is that of an uninterrupted run: equal history, same requests, same effects. */
const rightEnds: Readonly<Record<string, RightEnd>> = {
  'turn:prepared': {},
  'turn:started': { asksAboutTurn: true },
  'turn:streaming': { asksAboutTurn: true, extraRequests: 1 },
  'turn:answered': { asksAboutTurn: true, extraRequests: 1 },
  'turn:finished': {},
  'read tool:before': {},
  'read tool:during': {},
  'read tool:after': {},
  'write tool:before': {},
  'operation:started': { asksAboutCall: true, effectMissing: true },
  'write tool:during': { asksAboutCall: true, effectMissing: true },
  'write tool:after': { asksAboutCall: true },
  'operation:done': { asksAboutCall: true },
};

test.each(Object.entries(rightEnds))(
  'case E01, case Y20: killed at %s, the run goes on without paying or acting twice',
  async (point, right) => {
    const occurrence = 1 + Math.floor(Math.random() * turnCount);
    const run = runOf(point, point, occurrence);
    const before = simulator.requests().length;
    expect(await killed(run), `${point} #${occurrence}`).toBe('SIGKILL');
    const end = await crashRun({ ...run, point: '' });
    const { history, turns, operations, open, turnIds } = await read(run);
    const served = simulator.requests().slice(before);

    expect(end).toMatchObject({ reason: 'completed', text: `finished ${salt}` });
    checkValid(end.entries.map((entry) => entry.message));
    expect(served).toHaveLength(turnCount + 1 + (right.extraRequests ?? 0));
    expect(new Set(served.map((request) => request.turnId)).size).toBe(served.length);
    for (const request of served) expect(turnIds).toContain(request.turnId);
    expect(turns.filter((status) => status === 'responded')).toHaveLength(turnCount + 1);
    expect(turns.filter((status) => status === 'unknown')).toHaveLength(right.asksAboutTurn ? 1 : 0);
    expect(operations.filter((status) => status === 'unknown')).toHaveLength(right.asksAboutCall ? 1 : 0);
    expect(open).toEqual({ turns: right.asksAboutTurn ? 1 : 0, operations: right.asksAboutCall ? 1 : 0 });
    expectEffects(run, right, occurrence);
    expect(history).toEqual(
      uninterrupted.map((line) =>
        right.asksAboutCall && line === `result: wrote ${salt}-${occurrence - 1}` ? unknownOutcome : line,
      ),
    );
  },
);

test('case E01: two crashes in a row give the same history, and a third process finds the run finished', async () => {
  const run = runOf('twice', 'operation:done', 2);
  expect(await killed(run)).toBe('SIGKILL');
  expect(await killed({ ...run, point: 'turn:answered', occurrence: 1 })).toBe('SIGKILL');
  await crashRun({ ...run, point: '' });
  const once = await read(run);
  const before = simulator.requests().length;
  expect((await crashRun({ ...run, point: '' })).text).toBe(`finished ${salt}`);
  expect(simulator.requests().length).toBe(before);
  expect((await read(run)).history).toEqual(once.history);
});

const unknownOutcome = 'result: Interrupted; the outcome is unknown. Check what the call did before you repeat it.';

function expectEffects(run: CrashRun, right: RightEnd, occurrence: number): void {
  const effects = readFileSync(run.effectsPath, 'utf8').trim().split('\n');
  const all = Array.from({ length: turnCount }, (_, step) => `${salt}-${step}`);
  expect(effects).toEqual(right.effectMissing ? all.filter((_, step) => step !== occurrence - 1) : all);
}

function runOf(name: string, point: string, occurrence: number): CrashRun {
  const base = join(folder, `${name}-${Math.random()}`.replaceAll(/[^\w-]/g, '_'));
  return { storePath: `${base}.db`, effectsPath: `${base}.txt`, url: simulator.url, point, occurrence };
}

async function killed(run: CrashRun): Promise<unknown> {
  expect(existsSync(child), 'run tsc -b first').toBe(true);
  const ended = spawn(process.execPath, [child, JSON.stringify(run)], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code, signal] = (await once(ended, 'exit')) as [number | null, string | null];
  return signal ?? code;
}

async function read(run: CrashRun) {
  const db = await openSqlite({ path: run.storePath });
  try {
    return await db.read(function* (ctx) {
      const entries = yield* readHistory(ctx, owner);
      const turns = yield* listTurns(ctx, owner);
      const operations = yield* listOperations(ctx, owner);
      const open = yield* unresolved(ctx, owner);
      return {
        history: lines(repairHistory(entries).map((entry) => entry.message)),
        turns: turns.map((turn) => turn.status),
        turnIds: turns.map((turn) => turn.id),
        operations: operations.map((operation) => operation.status),
        open: { turns: open.turns.length, operations: open.operations.length },
      };
    });
  } finally {
    await db.close();
  }
}
