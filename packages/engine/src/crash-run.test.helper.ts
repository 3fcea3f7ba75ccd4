import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hookModel } from '@stint/provider-hooks';
import { openaiCompatible } from '@stint/provider-hooks/openai-compatible';
import { openSqlite, type Database } from '@stint/storage';
import { createRegistry, defineTool, type ToolRegistry } from '@stint/tools';
import { durableHooks, prepareStore, recover, runDurable, type Gate } from './durable-run.test.helper.js';
import type { RunEnd } from './types.js';

export const owner = { kind: 'run', id: 'ten-turns' } as const;

export interface CrashRun {
  readonly storePath: string;
  readonly effectsPath: string;
  readonly url: string;
  /** Ends the process at the n-th passing of this point; empty for none. */
  readonly point: string;
  readonly occurrence: number;
}

/** A ten-turn run with a reading and a writing call a turn, from wherever the store says it is. */
export async function crashRun(run: CrashRun, gate: Gate = killer(run)): Promise<RunEnd> {
  const db = await openSqlite({ path: run.storePath, leaseMs: 60_000 });
  try {
    await prepareStore(db);
    await recover(db);
    return await runToEnd(db, run, gate);
  } finally {
    await db.close();
  }
}

async function runToEnd(db: Database, { url, effectsPath }: CrashRun, gate: Gate): Promise<RunEnd> {
  const bare = openaiCompatible({ name: 'sim', baseURL: url, apiKey: 'made-up' }).chatModel('m');
  const model = hookModel(bare, durableHooks(db, owner, gate));
  const events = await runDurable(db, owner, { model, gate, tools: toolsOf(effectsPath, gate) });
  return events.at(-1) as RunEnd;
}

function toolsOf(effectsPath: string, gate: Gate): ToolRegistry {
  const look = defineTool({
    name: 'look',
    description: 'Looks',
    readOnly: true,
    inputSchema: { type: 'object' },
    execute: () => {
      for (const when of ['before', 'during', 'after']) gate(`read tool:${when}`);
      return 'seen';
    },
  });
  const write = defineTool({
    name: 'write',
    description: 'Writes a line',
    inputSchema: { type: 'object' },
    execute: ({ line }) => {
      gate('write tool:during');
      appendFileSync(effectsPath, `${String(line)}\n`);
      gate('write tool:after');
      return `wrote ${String(line)}`;
    },
  });
  return createRegistry([look, write]);
}

function killer({ point, occurrence }: CrashRun): Gate {
  let passed = 0;
  return (name) => {
    if (name !== point) return;
    passed += 1;
    if (passed === occurrence) process.kill(process.pid, 'SIGKILL');
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await crashRun(JSON.parse(process.argv[2] ?? '{}') as CrashRun);
}
