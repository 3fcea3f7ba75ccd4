import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listOperations, listTurns, readHistory, unresolved } from '@stint/journal';
import { callsWithResults, startSimulator, type Scenario, type Simulator } from '@stint/simulator';
import { openSqlite } from '@stint/storage';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { crashRun, owner, type CrashRun } from './crash-run.test.helper.js';
import { repairHistory } from './repair-history.js';
import { checkValid, lines } from './scripted-model.test.helper.js';

const child = fileURLToPath(new URL('../dist/crash-run.test.helper.js', import.meta.url));
const turnCount = 10;
const salt = Math.random().toString(36).slice(2, 8);
/** Every passing of every point, not one at random: `STINT_SWEEP=all`. */
const isWholeSweep = process.env['STINT_SWEEP'] === 'all';

/** A step with a reading and a writing call, ten times; the model `cuts` loses each answer in its middle, once. */
const scenario: Scenario = (request) => {
  const last = request.messages.at(-1);
  const isContinued = last?.role === 'user' && last.text.startsWith('Your answer was interrupted');
  const fault = request.model === 'cuts' && !isContinued ? { fault: 'stream_cut' as const } : {};
  const step = callsWithResults(request, 'write').length;
  if (step >= turnCount) return { text: `finished ${salt}`, pieceCharacters: 4, ...fault };
  return {
    text: `this is step ${step}`,
    pieceCharacters: 4,
    toolCalls: [
      { name: 'look', input: { step } },
      { name: 'write', input: { line: `${salt}-${step}` } },
    ],
    ...fault,
  };
};

let simulator: Simulator;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stint-crash-'));
  simulator = await startSimulator({ scenario });
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
  /** Requests to the provider beyond those of an uninterrupted run. */
  readonly extraRequests?: number;
  /** The effect of the call in flight is missing: it never began. */
  readonly effectMissing?: true;
  /** Passings of this point in an uninterrupted run. @default one a turn with calls */
  readonly passings?: number;
}

interface Kind {
  readonly model: string;
  readonly isAskable: boolean;
  /** Differs from the first kind in a few points only. @default false */
  readonly isVariant?: boolean;
  /** Requests of an uninterrupted run. */
  readonly requests: number;
  readonly rightEnds: Readonly<Record<string, RightEnd>>;
}

const answers = turnCount + 1;
/** Points between requests and in tools; where nothing was in flight the end is that of an uninterrupted run. */
const inTools: Readonly<Record<string, RightEnd>> = {
  'read tool:before': {},
  'read tool:during': {},
  'read tool:after': {},
  'write tool:before': {},
  'operation:started': { asksAboutCall: true, effectMissing: true },
  'write tool:during': { asksAboutCall: true, effectMissing: true },
  'write tool:after': { asksAboutCall: true },
  'operation:done': { asksAboutCall: true },
  'operation:ended': {},
};

const kinds: Readonly<Record<string, Kind>> = {
  'a provider that cannot be asked': {
    model: 'm',
    isAskable: false,
    requests: answers,
    rightEnds: {
      'turn:prepared': { passings: answers },
      'turn:started': { asksAboutTurn: true, passings: answers },
      'turn:streaming': { asksAboutTurn: true, extraRequests: 1, passings: answers },
      'turn:answered': { asksAboutTurn: true, extraRequests: 1, passings: answers },
      'turn:finished': { passings: answers },
      ...inTools,
    },
  },
  'a provider that keeps its answers': {
    model: 'm',
    isAskable: true,
    isVariant: true,
    requests: answers,
    rightEnds: {
      'turn:prepared': { passings: answers },
      // Not a byte has come back, so there is no id to ask for.
      'turn:started': { asksAboutTurn: true, passings: answers },
      'turn:identified': { passings: answers },
      'turn:streaming': { passings: answers },
      'turn:answered': { passings: answers },
      'turn:finished': { passings: answers },
    },
  },
  'a provider whose streams are cut': {
    model: 'cuts',
    isAskable: false,
    isVariant: true,
    requests: 2 * answers,
    rightEnds: {
      'turn:failing': { asksAboutTurn: true, extraRequests: 1, passings: answers },
      'turn:failed': { extraRequests: 1, passings: answers },
    },
  },
};

/** The end of each kind of run that nobody interrupted. */
const uninterrupted = new Map<Kind, { readonly text: string; readonly history: readonly string[] }>();

function occurrencesOf({ passings = turnCount }: RightEnd): readonly number[] {
  const all = Array.from({ length: passings }, (_, index) => index + 1);
  if (isWholeSweep) return all;
  return [1 + Math.floor(Math.random() * passings)];
}

/** All points, or of a kind that differs from the first one in a few only two at random. */
function pointsOf({ rightEnds, isVariant = false }: Kind): readonly (readonly [string, RightEnd])[] {
  const all = Object.entries(rightEnds);
  if (isWholeSweep || !isVariant) return all;
  const first = Math.floor(Math.random() * all.length);
  return [first, (first + 1) % all.length].flatMap((index) => all.slice(index, index + 1));
}

describe.each(Object.entries(kinds))('%s', (_name, kind) => {
  beforeAll(async () => {
    const run = runOf(kind, 'none', '', 0);
    const before = simulator.requests().length;
    const { text } = await crashRun(run);
    expect(simulator.requests().length - before).toBe(kind.requests);
    uninterrupted.set(kind, { text, history: (await read(run)).history });
  });

  test.each(pointsOf(kind))(
    'case E01, case Y20: killed at %s, the run goes on without paying or acting twice',
    async (point, right) => {
      for (const occurrence of occurrencesOf(right)) await killAndResume({ kind, point, occurrence, right });
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
  expect(end, what).toMatchObject({ reason: 'completed', text: whole?.text });
  checkValid(end.entries.map((entry) => entry.message));
  expect(served, what).toHaveLength(kind.requests + (right.extraRequests ?? 0));
  expect(new Set(served.map((request) => request.turnId)).size, what).toBe(served.length);
  for (const request of served) expect(turnIds, what).toContain(request.turnId);
  expect(turns.filter((status) => status === 'responded')).toHaveLength(answers);
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
    for (const [point, { passings = turnCount }] of Object.entries(kind.rightEnds))
      if (point !== 'turn:streaming') expect(own.get(point), point).toBe(passings);
    for (const point of own.keys()) passed.add(point);
  }
  const swept = Object.values(kinds).flatMap((kind) => Object.keys(kind.rightEnds));
  expect([...passed].toSorted()).toEqual([...new Set(swept)].toSorted());
});

const unknownOutcome = 'result: Interrupted; the outcome is unknown. Check what the call did before you repeat it.';

function expectEffects(run: CrashRun, right: RightEnd, occurrence: number): void {
  const effects = readFileSync(run.effectsPath, 'utf8').trim().split('\n');
  const all = Array.from({ length: turnCount }, (_, step) => `${salt}-${step}`);
  expect(effects).toEqual(right.effectMissing ? all.filter((_, step) => step !== occurrence - 1) : all);
}

function runOf({ model, isAskable }: Kind, name: string, point: string, occurrence: number): CrashRun {
  const base = join(folder, `${name}-${Math.random()}`.replaceAll(/[^\w-]/g, '_'));
  return {
    storePath: `${base}.db`,
    effectsPath: `${base}.txt`,
    url: simulator.url,
    model,
    isAskable,
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
