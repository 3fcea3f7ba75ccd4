import type { Body, Context, Database, Transaction } from '@stint/storage';
import { appendEntries, readHistory } from './history.js';
import { endOperation, resolveOperation, startOperation } from './operations.js';
import { recoverOperations, recoverTurns, unresolved } from './recovery.js';
import { resumeState } from './resume-state.js';
import { journalMigrations } from './schema.js';
import { listTurns, readTurn } from './turn-rows.js';
import { insertTurn, noteResponseId, recordRefused, recordResponse, recordUnknown, resolveTurn } from './turns.js';

type Method<F> = F extends (ctx: Context, ...args: infer Args) => Transaction<infer T>
  ? (...args: Args) => Promise<T>
  : never;

const writes = {
  insertTurn,
  noteResponseId,
  recordResponse,
  recordRefused,
  recordUnknown,
  resolveTurn,
  appendEntries,
  startOperation,
  endOperation,
  resolveOperation,
  recoverTurns,
  recoverOperations,
};
const reads = { readTurn, listTurns, readHistory, unresolved, resumeState };

type Methods<Bodies> = { readonly [Name in keyof Bodies]: Method<Bodies[Name]> };

/** The journal with each body in a transaction of its own, for users that compose nothing. */
export type Journal = Methods<typeof writes> & Methods<typeof reads>;

/** Creates the journal's tables if need be. */
export async function createJournal(db: Database): Promise<Journal> {
  await db.migrate(journalMigrations);
  return Object.freeze({
    ...methodsOf(writes, (body) => db.write(body)),
    ...methodsOf(reads, (body) => db.read(body)),
  }) as unknown as Journal;
}

type AnyBody = (ctx: Context, ...args: never[]) => Transaction<unknown>;

function methodsOf(
  bodies: Readonly<Record<string, unknown>>,
  drive: (body: Body<unknown>) => Promise<unknown>,
): object {
  return Object.fromEntries(
    Object.entries(bodies).map(([name, body]) => [
      name,
      (...args: never[]) => drive((ctx) => (body as AnyBody)(ctx, ...args)),
    ]),
  );
}
