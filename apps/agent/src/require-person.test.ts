import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { endOperation, insertTurn, journalMigrations, startOperation } from '@stint/journal';
import type { Database } from '@stint/storage';
import { freshSqlite } from '@stint/storage/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptyRequest } from './frozen-request.test.helper.js';
import { ancestors } from './process-ancestry.js';
import { requirePerson } from './require-person.js';

const owner = { kind: 'run', id: 'run-1' } as const;
const key = { turnId: 'turn-1', callIndex: 0 };
let store: ReturnType<typeof freshSqlite>;
let db: Database;
beforeEach(async () => {
  store = freshSqlite();
  db = await store.open();
  await db.migrate(journalMigrations);
});
afterEach(async () => {
  await db.close();
  await store.remove();
});

/** A real process group, as the shell tool starts one: a leader, and a process beneath it. */
async function startTool() {
  const beneath = `require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => 0, 1e6)'], { stdio: 'ignore' })`;
  const leader = spawn(
    process.execPath,
    ['-e', `const child = ${beneath}; console.log(child.pid); setInterval(() => 0, 1e6);`],
    {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const [pid] = (await once(leader.stdout, 'data')) as [Buffer];
  const group = leader.pid ?? 0;
  return {
    group,
    beneath: Number(String(pid)),
    end: async () => {
      process.kill(-group, 'SIGKILL');
      await once(leader, 'exit');
    },
  };
}

const runOperation = (group: number): Promise<void> =>
  db.write(function* (ctx) {
    yield* insertTurn(ctx, { id: key.turnId, owner, request: emptyRequest });
    const processGroup = { host: hostname(), processGroup: group };
    yield* startOperation(ctx, { ...key, owner, toolCallId: 'call-1', tool: 'shell', inputHash: 'h', processGroup });
  });

describe('a command that only a person may give', () => {
  it('refuses a process that descends from a tool that is running now, and changes nothing', async () => {
    const tool = await startTool();
    try {
      await runOperation(tool.group);
      for (const pid of [tool.group, tool.beneath])
        await expect(requirePerson(db, ancestors(pid))).rejects.toMatchObject({
          message: expect.stringContaining('Only a person may do this'),
        });
      await expect(requirePerson(db)).resolves.toBeUndefined();
    } finally {
      await tool.end();
    }
  });

  it('lets everyone pass once the tool has ended', async () => {
    const tool = await startTool();
    try {
      await runOperation(tool.group);
      await db.write((ctx) => endOperation(ctx, key, { effect: 'applied' }));
      await expect(requirePerson(db, ancestors(tool.beneath))).resolves.toBeUndefined();
    } finally {
      await tool.end();
    }
  });
});
