// @ts-check
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount, ledgerMigrations, reserveRequest, settleRequest } from '@stint/ledger';
import { endOperation, insertTurn, journalMigrations, recordResponse, startOperation } from '@stint/journal';
import { hookModel } from '@stint/provider-hooks';
import { openSqlite } from '@stint/storage';
import { createRegistry, defineTool } from '@stint/tools';
import { runEngine } from '../dist/index.js';
import { microseconds, sideBySide } from './measure.mjs';

const Sqlite = createRequire(new URL('../../storage/package.json', import.meta.url))('better-sqlite3');

const owner = /** @type {const} */ ({ kind: 'run', id: 'bench' });
const usage = { inputTokens: { total: 10 }, outputTokens: { total: 5 } };

/** @param {number} turns */
function modelOf(turns) {
  let asked = 0;
  const doGenerate = async () => {
    asked += 1;
    const calls = asked <= turns;
    const content = calls
      ? [{ type: 'tool-call', toolCallId: `c${asked}`, toolName: 'write', input: `{"n":${asked}}` }]
      : [{ type: 'text', text: 'done' }];
    const unified = calls ? 'tool-calls' : 'stop';
    return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
  };
  return {
    specificationVersion: 'v3',
    provider: 'memory',
    modelId: 'm',
    supportedUrls: {},
    doGenerate,
    doStream: doGenerate,
  };
}

const tools = createRegistry([
  defineTool({ name: 'write', description: 'Writes', inputSchema: { type: 'object' }, execute: () => 'ok' }),
]);

/** One hook set over ledger and journal. @param {Awaited<ReturnType<typeof openSqlite>>} db */
function durableHooks(db) {
  return {
    /** @param {import('@stint/provider-hooks').FrozenRequest} request */
    prepare: async (request) => ({ id: crypto.randomUUID(), request }),
    /** @param {{ id: string, request: import('@stint/provider-hooks').FrozenRequest }} handle */
    start: ({ id, request }) =>
      db.write(function* (ctx) {
        yield* reserveRequest(ctx, {
          id,
          account: 'bench',
          kind: 'action',
          model: request.model,
          estimate: { tokens: 100, costMicros: null },
        });
        yield* insertTurn(ctx, { id, owner, request });
      }),
    /** @param {{ id: string }} handle @param {import('@stint/provider-hooks').TurnResponse} response */
    finish: ({ id }, response) =>
      db.write(function* (ctx) {
        yield* settleRequest(ctx, id, { usage: response.usage, complete: true });
        yield* recordResponse(ctx, id, response);
      }),
    fail: async () => undefined,
  };
}

/** Turns a second of a durable run. @param {number} turns @param {string} folder */
async function ours(turns, folder) {
  const db = await openSqlite({ path: join(folder, `${crypto.randomUUID()}.db`) });
  await db.migrate(ledgerMigrations);
  await db.migrate(journalMigrations);
  await db.write((ctx) => createAccount(ctx, { id: 'bench' }));
  const model = hookModel(/** @type {never} */ (modelOf(turns)), durableHooks(db));
  const us = await microseconds(async () => {
    const run = runEngine({
      model,
      prompt: 'go',
      tools,
      stream: false,
      limits: { maxRepeats: 100_000, maxTurns: 100_000 },
      operationStart: ({ turnId, callIndex, toolCallId, tool }) =>
        db.write((ctx) => startOperation(ctx, { turnId, callIndex, owner, toolCallId, tool, inputHash: 'h' })),
      operationEnd: ({ turnId, callIndex }, { effect, entry }) =>
        db.write((ctx) => endOperation(ctx, { turnId, callIndex }, { effect, entry })),
    });
    for await (const event of run) if (event.type === 'run-end' && event.reason !== 'completed') throw event.error;
  });
  await db.close();
  return turns / (us / 1e6);
}

/** A loop by hand with the same commits: one for start, answer, begin and end of the tool, each with the least it can write. @param {number} turns @param {string} folder */
async function byHand(turns, folder) {
  const db = new Sqlite(join(folder, `${crypto.randomUUID()}.db`));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec(`CREATE TABLE account (id TEXT PRIMARY KEY, held INTEGER); INSERT INTO account VALUES ('bench', 0);
    CREATE TABLE request (id TEXT PRIMARY KEY, status TEXT, tokens INTEGER);
    CREATE TABLE turn (id TEXT PRIMARY KEY, status TEXT, request TEXT, response TEXT);
    CREATE TABLE operation (id TEXT PRIMARY KEY, status TEXT, result TEXT)`);
  const hold = db.prepare('UPDATE account SET held = held + ? WHERE id = ?');
  const insertRequest = db.prepare("INSERT INTO request VALUES (?, 'reserved', ?)");
  const settle = db.prepare("UPDATE request SET status = 'reported', tokens = ? WHERE id = ?");
  const insertTurnRow = db.prepare("INSERT INTO turn VALUES (?, 'dispatching', ?, NULL)");
  const answer = db.prepare("UPDATE turn SET status = 'responded', response = ? WHERE id = ?");
  const begin = db.prepare("INSERT INTO operation VALUES (?, 'running', NULL)");
  const end = db.prepare("UPDATE operation SET status = 'applied', result = ? WHERE id = ?");
  const start = db.transaction((/** @type {string} */ id) => [
    hold.run(100, 'bench'),
    insertRequest.run(id, 100),
    insertTurnRow.run(id, 'request'),
  ]);
  const finish = db.transaction((/** @type {string} */ id, /** @type {string} */ text) => [
    hold.run(-85, 'bench'),
    settle.run(15, id),
    answer.run(text, id),
  ]);
  const model = modelOf(turns);
  const us = await microseconds(async () => {
    for (let turn = 0; turn <= turns; turn += 1) {
      const id = crypto.randomUUID();
      start(id);
      const { content } = await model.doGenerate();
      finish(id, JSON.stringify(content));
      if (turn === turns) break;
      begin.run(`${id}/0`);
      end.run('ok', `${id}/0`);
    }
  });
  db.close();
  return turns / (us / 1e6);
}

/** @param {number} rounds */
export async function durableRows(rounds) {
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-'));
  try {
    const hand = await sideBySide(
      rounds,
      () => ours(200, folder),
      () => byHand(200, folder),
    );
    const flat = await sideBySide(
      rounds,
      () => ours(400, folder),
      () => ours(20, folder),
    );
    return [
      {
        name: 'durable turn, 200 turns, against a loop by hand',
        unit: '1/s',
        ...hand,
        ratio: hand.value / hand.baseline,
        target: '>= 0.7',
        met: hand.value >= 0.7 * hand.baseline,
      },
      {
        name: 'durable turn, 400 turns, against 20 turns',
        unit: '1/s',
        ...flat,
        ratio: flat.value / flat.baseline,
        target: '>= 0.8',
        met: flat.value >= 0.8 * flat.baseline,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
