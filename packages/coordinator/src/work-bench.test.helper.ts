import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { journalMigrations, listTurns, type TurnRecord } from '@stint/journal';
import { ledgerMigrations, type Limits, snapshotAccount } from '@stint/ledger';
import { openai, openaiPastAnswers } from '@stint/provider-hooks/openai';
import { openaiCompatible } from '@stint/provider-hooks/openai-compatible';
import { startSimulator, type Scenario, type Simulator, type SimulatorOptions } from '@stint/simulator';
import { all, type Clock, type Database, type Gate, openSqlite } from '@stint/storage';
import { type ItemRecords, readItemRecords, workItemsMigrations } from '@stint/work-items';
import { accountOf } from './account.js';
import { createCommands, type Commands } from './commands.js';
import { type Coordinator, createCoordinator } from './create-coordinator.js';
import type { CoordinatorOptions } from './options.js';

/** A store, a simulator and a folder with a failing test, with all that a test asks of them. */
export interface Bench extends AsyncDisposable {
  readonly db: Database;
  readonly simulator: Simulator;
  readonly commands: Commands;
  /** Folder of store, work directory and logs. */
  readonly folder: string;
  /** A work directory with one source file and its failing test. */
  readonly workDir: string;
  readonly bug: Bug;
  coordinator(options?: Partial<CoordinatorOptions>): Coordinator;
  /** Creates and starts an item on the work directory; answers its id. */
  item(options?: ItemOptions): Promise<string>;
  records(itemId: string): Promise<ItemRecords>;
  /** Resolves with the records as soon as `holds` does; checks after each commit. */
  until(itemId: string, holds: (records: ItemRecords) => boolean): Promise<ItemRecords>;
  snapshot(itemId: string): Promise<Awaited<ReturnType<typeof readAccount>>>;
  /** Every provider turn of an item, of its Runs and of its Coordinator. */
  turns(itemId: string): Promise<readonly TurnRecord[]>;
}

export interface ItemOptions {
  readonly limits?: Limits;
  readonly onUnknownRequest?: 'ask' | 'retry';
  readonly withoutWorkDir?: boolean;
  readonly maxAttempts?: number;
}

export interface BenchOptions {
  readonly scenario?: Scenario | string;
  readonly faults?: SimulatorOptions['faults'];
  readonly gate?: Gate;
  readonly leaseMs?: number;
  /** @default Date.now */
  readonly clock?: Clock;
  /** Model name, `default` or a variant such as `parallel`. @default 'default' */
  readonly model?: string;
  /** The provider keeps its answers, and is asked for them after a crash. @default false */
  readonly keepsAnswers?: boolean;
}

/** One wrong operator; names and values are drawn at random. */
export interface Bug {
  readonly file: string;
  readonly wrong: string;
  readonly right: string;
}

const readAccount = (db: Database, itemId: string) => db.read((ctx) => snapshotAccount(ctx, accountOf(itemId)));

export async function openBench(options: BenchOptions = {}): Promise<Bench> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stint-coordinator-')));
  const { workDir, bug } = writeProject(folder);
  const db = await openStore(folder, { leaseMs: options.leaseMs, clock: options.clock });
  const simulator = await startSimulator({ scenario: options.scenario, faults: options.faults });
  const commands = createCommands(db);
  const open: Coordinator[] = [];
  const bench: Bench = {
    db,
    simulator,
    commands,
    folder,
    workDir,
    bug,
    coordinator(more = {}) {
      const coordinator = createCoordinator({ ...coordinatorOptions(db, simulator.url, options), ...more });
      open.push(coordinator);
      return coordinator;
    },
    item: (item = {}) => createItem(commands, workDir, item),
    records: (itemId) => readRecords(db, itemId),
    until: (itemId, holds) => waitFor(db, itemId, holds),
    snapshot: (itemId) => readAccount(db, itemId),
    turns: (itemId) => readAllTurns(db, itemId),
    async [Symbol.asyncDispose]() {
      for (const coordinator of open) await coordinator.stop();
      await simulator.close();
      await db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return bench;
}

/** Opens the bench's store file with all tables. */
export async function openStore(
  folder: string,
  options: { readonly leaseMs?: number | undefined; readonly clock?: Clock | undefined; readonly gate?: Gate } = {},
): Promise<Database> {
  const { leaseMs, clock, gate } = options;
  const db = await openSqlite({
    path: join(folder, 'stint.db'),
    synchronous: 'normal',
    ...(leaseMs !== undefined && { leaseMs }),
    ...(clock !== undefined && { clock }),
    ...(gate !== undefined && { gate }),
  });
  for (const migrations of [ledgerMigrations, journalMigrations, workItemsMigrations]) await db.migrate(migrations);
  return db;
}

/** Options of a coordinator that asks the simulator at this address, with short waits. */
export function coordinatorOptions(
  db: Database,
  url: string,
  options: { readonly model?: string; readonly gate?: Gate; readonly keepsAnswers?: boolean } = {},
): CoordinatorOptions {
  const { model = 'default', keepsAnswers = false } = options;
  const settings = { baseURL: url, apiKey: 'made-up-key' };
  const provider = openaiCompatible({ name: 'simulated', ...settings });
  return {
    db,
    resolveModel: () => (keepsAnswers ? openai(settings).responses(model) : provider.chatModel(model)),
    ...(keepsAnswers && { pastAnswersOf: () => openaiPastAnswers(settings) }),
    pollMs: 50,
    sweepMs: 200,
    retry: { baseDelayMs: 5, maxDelayMs: 20 },
    ...(options.gate !== undefined && { gate: options.gate }),
    ...(process.env['STINT_TEST_LOG'] !== undefined && { log: (line) => console.error(line) }),
  };
}

async function createItem(commands: Commands, workDir: string, item: ItemOptions): Promise<string> {
  const { limits, onUnknownRequest, withoutWorkDir = false, maxAttempts } = item;
  const place = withoutWorkDir
    ? { deliveryTarget: 'response' as const }
    : { deliveryTarget: 'workspace_files' as const, workDir, workspaceKey: `bench:${workDir}` };
  const { itemId } = await commands.create({
    start: true,
    contract: {
      goal: 'Make the failing test pass',
      acceptanceCriteria: ['node --test passes'],
      ...place,
      ...(onUnknownRequest !== undefined && { onUnknownRequest }),
      ...(maxAttempts !== undefined && { maxAttempts }),
    },
    ...(limits !== undefined && { limits }),
  });
  return itemId;
}

async function readRecords(db: Database, itemId: string): Promise<ItemRecords> {
  const records = await db.read((ctx) => readItemRecords(ctx, itemId));
  if (records === undefined) throw new Error(`No item ${itemId}`);
  return records;
}

async function waitFor(db: Database, itemId: string, holds: (records: ItemRecords) => boolean): Promise<ItemRecords> {
  const deadline = AbortSignal.timeout(30_000);
  for (;;) {
    const changed = nextCommit(db, deadline);
    const records = await readRecords(db, itemId);
    if (holds(records)) return records;
    if (deadline.aborted) throw new Error(`Item ${itemId} did not get there: ${JSON.stringify(summary(records))}`);
    await changed;
  }
}

function nextCommit(db: Database, deadline: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const unlisten = db.listen('work', done);
    const timer = setTimeout(done, 250);
    deadline.addEventListener('abort', done, { once: true });
    function done(): void {
      unlisten();
      clearTimeout(timer);
      deadline.removeEventListener('abort', done);
      resolve();
    }
  });
}

/** What a failing test prints of an item. */
export function summary({ item, actions, runs, openMailbox }: ItemRecords): unknown {
  return {
    status: item.status,
    attention: item.attention,
    actions: actions.map(({ slug, status, attention }) => ({ slug, status, attention })),
    runs: runs.map(({ actionId, status, reason }) => ({ actionId, status, reason })),
    mailbox: openMailbox.map(({ kind, status, failures }) => ({ kind, status, failures })),
  };
}

async function readAllTurns(db: Database, itemId: string): Promise<readonly TurnRecord[]> {
  const { runs } = await readRecords(db, itemId);
  return await db.read(function* (ctx) {
    const found: TurnRecord[] = [];
    for (const { id } of runs) found.push(...(yield* listTurns(ctx, { kind: 'run', id })));
    for (const id of yield* coordinatorTurnIds(itemId))
      found.push(...(yield* listTurns(ctx, { kind: 'coordinator', id })));
    return found;
  });
}

function* coordinatorTurnIds(itemId: string) {
  const rows = yield* all<{ id: string }>(
    'SELECT id FROM work_coordinator_turns WHERE item_id = ? ORDER BY started_at',
    [itemId],
  );
  return rows.map((row) => row.id);
}

/** A module with one wrong operator and a test that tells the right value. */
function writeProject(folder: string): { readonly workDir: string; readonly bug: Bug } {
  const workDir = join(folder, 'project');
  const name = `f${Math.floor(Math.random() * 1e6).toString(36)}`;
  const [a, b] = [2 + Math.floor(Math.random() * 40), 50 + Math.floor(Math.random() * 40)];
  const bug: Bug = { file: join(workDir, `${name}.mjs`), wrong: 'a - b', right: 'a + b' };
  mkdirSync(workDir);
  writeFileSync(bug.file, `export function ${name}(a, b) {\n  return ${bug.wrong};\n}\n`);
  writeFileSync(
    join(workDir, `${name}.test.mjs`),
    `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { ${name} } from './${name}.mjs';\n\ntest('${name} adds', () => {\n  assert.equal(${name}(${a}, ${b}), ${a + b});\n});\n`,
  );
  return { workDir, bug };
}
