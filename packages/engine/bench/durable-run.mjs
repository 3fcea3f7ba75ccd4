// @ts-check
/** Stint's durable loop: every hook and every mark of a tool's call is one transaction over ledger and journal. */
import { join } from 'node:path';
import {
  appendEntries,
  endOperation,
  insertTurn,
  journalMigrations,
  recordResponse,
  startOperation,
} from '@stint/journal';
import { createAccount, ledgerMigrations, reserveRequest, settleRequest } from '@stint/ledger';
import { hookModel } from '@stint/provider-hooks';
import { openPostgres, openSqlite } from '@stint/storage';
import { question } from '../../../bench/peers/work.mjs';
import { runEngine } from '../dist/index.js';
import { modelOf } from './memory-model.mjs';
import { endOf, limits, toolsOf } from './memory-run.mjs';

/** @typedef {import('@stint/storage').Database} Database */
/** @typedef {import('@stint/journal').TurnOwner} TurnOwner */
/** @typedef {import('@stint/provider-hooks').FrozenRequest} FrozenRequest */

const account = 'bench';
const estimate = { tokens: 100, costMicros: null };

/** @param {Database} db @param {TurnOwner} owner */
function durableHooks(db, owner) {
  return {
    prepare: async (/** @type {FrozenRequest} */ request) => ({ id: crypto.randomUUID(), request }),
    start: (/** @type {{ id: string, request: FrozenRequest }} */ { id, request }) =>
      db.write(function* (ctx) {
        yield* reserveRequest(ctx, { id, account, kind: 'action', model: request.model, estimate });
        yield* insertTurn(ctx, { id, owner, request });
      }),
    finish: (
      /** @type {{ id: string }} */ { id },
      /** @type {import('@stint/provider-hooks').TurnResponse} */ response,
    ) =>
      db.write(function* (ctx) {
        yield* settleRequest(ctx, id, { usage: response.usage, complete: true });
        yield* recordResponse(ctx, id, response);
      }),
    fail: async () => undefined,
  };
}

/** @param {Database} db @param {TurnOwner} owner @returns {Partial<import('../dist/index.js').EngineOptions>} */
const durableMarks = (db, owner) => ({
  operationStart: ({ turnId, callIndex, toolCallId, tool }) =>
    db.write((ctx) => startOperation(ctx, { turnId, callIndex, owner, toolCallId, tool, inputHash: 'h' })),
  operationEnd: ({ turnId, callIndex }, { effect, entry }) =>
    db.write((ctx) => endOperation(ctx, { turnId, callIndex }, { effect, entry })),
  appendEntries: (entries) => db.write((ctx) => appendEntries(ctx, owner, entries)),
});

/** A store with the tables and an account without limits. @param {Database} db @returns {Promise<import('../../../bench/peers/work.mjs').Side>} */
export async function openDurable(db) {
  await db.migrate(ledgerMigrations);
  await db.migrate(journalMigrations);
  await db.write((ctx) => createAccount(ctx, { id: account }));
  /** @type {import('../../../bench/peers/work.mjs').Work} */
  let current;
  const tools = toolsOf(() => current);
  return {
    run(work) {
      current = work;
      const owner = { kind: /** @type {const} */ ('run'), id: crypto.randomUUID() };
      const model = hookModel(modelOf(work), durableHooks(db, owner));
      const marks = durableMarks(db, owner);
      return endOf(runEngine({ model, prompt: question, tools, stream: false, limits, ...marks }));
    },
    close: () => db.close(),
  };
}

/** On Postgres where there is a URL, else in a SQLite file that waits for the disk at each commit. @param {import('../../../bench/peers/work.mjs').Place} place */
export async function open({ folder, postgres }) {
  const db = await (postgres === undefined
    ? openSqlite({ path: join(folder, `${crypto.randomUUID()}.db`) })
    : openPostgres({ url: postgres }));
  return await openDurable(db);
}
