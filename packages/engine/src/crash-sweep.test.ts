import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listOperations, listTurns, readHistory, unresolved } from '@stint/journal';
import { startSimulator, type Simulator } from '@stint/simulator';
import { openSqlite } from '@stint/storage';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Kind, kinds, type RightEnd, scenarioOf, stepCount } from './crash-points.test.helper.js';
import { crashRun, owner, type CrashRun } from './crash-run.test.helper.js';
import { repairHistory } from './repair-history.js';
import { checkValid, lines } from './scripted-model.test.helper.js';
import type { RunEnd } from './types.js';

const child = fileURLToPath(new URL('../dist/crash-run.test.helper.js', import.meta.url));
const salt = Math.random().toString(36).slice(2, 8);
/** Every passing of every point, not the first, middle and last: `STINT_SWEEP=all`. */
const isWholeSweep = process.env['STINT_SWEEP'] === 'all';

let simulator: Simulator;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stint-crash-'));
  simulator = await startSimulator({ scenario: scenarioOf(salt) });
});
afterAll(async () => {
  await simulator.close();
  rmSync(folder, { recursive: true });
});

/** The end of each kind of run that nobody interrupted. */
const uninterrupted = new Map<Kind, Pick<RunEnd, 'text' | 'reason'> & { readonly history: readonly string[] }>();

/** The first, the middle and the last passing; of a variant the last, and the one before it where every other one differs. */
function occurrencesOf({ isVariant }: Kind, { passings = stepCount, atSecond }: RightEnd): readonly number[] {
  const all = Array.from({ length: passings }, (_, index) => index + 1);
  if (isWholeSweep) return all;
  const sample = isVariant ? [atSecond ? passings - 1 : passings] : [1, Math.ceil(passings / 2)];
  return all.filter((passing) => passing === passings || sample.includes(passing));
}

function endAt({ atSecond = {}, ...right }: RightEnd, occurrence: number): RightEnd {
  return occurrence % 2 === 0 ? { ...right, ...atSecond } : right;
}

describe.each(Object.entries(kinds))('%s', (_name, kind) => {
  beforeAll(async () => {
    const run = runOf(kind, 'none', '', 0);
    const before = simulator.requests().length;
    const { text, reason } = await crashRun(run);
    expect(simulator.requests().length - before).toBe(kind.requests);
    uninterrupted.set(kind, { text, reason, history: (await read(run)).history });
  });

  test.each(Object.entries(kind.rightEnds))(
    'case E01, case Y20: killed at %s, the run goes on without paying or acting twice',
    async (point, right) => {
      for (const occurrence of occurrencesOf(kind, right))
        await killAndResume({ kind, point, occurrence, right: endAt(right, occurrence) });
    },
    isWholeSweep ? 300_000 : 60_000,
  );
});

interface Kill {
  readonly kind: Kind;
  readonly point: string;
  readonly occurrence: number;
  readonly right: RightEnd;
}

async function killAndResume({ kind, point, occurrence, right }: Kill): Promise<void> {
  const what = `${point} #${occurrence}`;
  const run = runOf(kind, point, point, occurrence);
  const before = simulator.requests().length;
  expect(await killed(run), what).toBe('SIGKILL');
  const end = await crashRun({ ...run, point: '' });
  const { history, turns, operations, open, turnIds } = await read(run);
  const served = simulator.requests().slice(before);

  const whole = uninterrupted.get(kind);
  expect(end, what).toMatchObject({ reason: whole?.reason, text: whole?.text });
  checkValid(end.entries.map((entry) => entry.message));
  expect(served, what).toHaveLength(kind.requests + (right.extraRequests ?? 0));
  expect(new Set(served.map((request) => request.turnId)).size, what).toBe(served.length);
  for (const request of served) expect(turnIds, what).toContain(request.turnId);
  expect(turns.filter((status) => status === 'responded')).toHaveLength(kind.answers);
  expect(open, what).toEqual({ turns: right.asksAboutTurn ? 1 : 0, operations: right.asksAboutCall ? 1 : 0 });
  expect(operations.filter((status) => status === 'unknown')).toHaveLength(right.asksAboutCall ? 1 : 0);
  expectEffects(run, right, occurrence);
  const told = `result: wrote ${salt}-${occurrence - 1}`;
  expect(history, what).toEqual(
    whole?.history.map((line) => (right.asksAboutCall && line === told ? unknownOutcome : line)),
  );
}

test('case E01: two crashes in a row give the same history, and a third process finds the run finished', async () => {
  const kind = kinds['a provider that cannot be asked'] as Kind;
  const run = runOf(kind, 'twice', 'operation:done', 2);
  expect(await killed(run)).toBe('SIGKILL');
  expect(await killed({ ...run, point: 'turn:answered', occurrence: 1 })).toBe('SIGKILL');
  await crashRun({ ...run, point: '' });
  const once = await read(run);
  const before = simulator.requests().length;
  expect((await crashRun({ ...run, point: '' })).text).toBe(`finished ${salt}`);
  expect(simulator.requests().length).toBe(before);
  expect((await read(run)).history).toEqual(once.history);
});

test('every boundary of the journal is a point of the sweep', async () => {
  const passed = new Set<string>();
  for (const kind of Object.values(kinds)) {
    const own = new Map<string, number>();
    await crashRun(runOf(kind, 'seen', '', 0), (point) => void own.set(point, (own.get(point) ?? 0) + 1));
    for (const [point, { passings = stepCount }] of Object.entries(kind.rightEnds))
      if (point !== 'turn:streaming') expect(own.get(point), point).toBe(passings);
    for (const point of own.keys()) passed.add(point);
  }
  const swept = Object.values(kinds).flatMap((kind) => Object.keys(kind.rightEnds));
  expect([...passed].toSorted()).toEqual([...new Set(swept)].toSorted());
});

const unknownOutcome = 'result: Interrupted; the outcome is unknown. Check what the call did before you repeat it.';

function expectEffects(run: CrashRun, right: RightEnd, occurrence: number): void {
  const effects = readFileSync(run.effectsPath, 'utf8').trim().split('\n');
  const all = Array.from({ length: stepCount }, (_, step) => `${salt}-${step}`);
  expect(effects).toEqual(right.effectMissing ? all.filter((_, step) => step !== occurrence - 1) : all);
}

function runOf({ model, isAskable }: Kind, name: string, point: string, occurrence: number): CrashRun {
  const base = join(folder, `${name}-${Math.random()}`.replaceAll(/[^\w-]/g, '_'));
  return {
    storePath: `${base}.db`,
    effectsPath: `${base}.txt`,
    url: simulator.url,
    model,
    isAskable: isAskable ?? false,
    point,
    occurrence,
  };
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
