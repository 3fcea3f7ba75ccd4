import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { listTurns } from '@stint/journal';
import { hookModel, type HookedModel } from '@stint/provider-hooks';
import { openai, openaiPastAnswers } from '@stint/provider-hooks/openai';
import { openaiCompatible } from '@stint/provider-hooks/openai-compatible';
import { openSqlite, type Database } from '@stint/storage';
import { createRegistry, defineTool, type ToolRegistry } from '@stint/tools';
import {
  askableHooks,
  askProvider,
  durableHooks,
  prepareStore,
  recover,
  runDurable,
  type Gate,
} from './durable-run.test.helper.js';
import { stepsBefore, typedInputs } from './crash-points.test.helper.js';
import { createRunControl, type RunControl } from './run-control.js';
import { lines } from './scripted-model.test.helper.js';
import type { EngineOptions, PendingInput, RunEnd } from './types.js';

export const owner = { kind: 'run', id: 'ten-turns' } as const;

export interface CrashRun {
  readonly storePath: string;
  readonly effectsPath: string;
  readonly url: string;
  /** Model that the simulator is asked for. */
  readonly model: string;
  /** The provider keeps answers, and is asked for those that were lost. */
  readonly isAskable: boolean;
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
    if (run.isAskable) await askProvider(db, owner, openaiPastAnswers({ baseURL: run.url, apiKey }));
    return await runToEnd(db, run, gate);
  } finally {
    await db.close();
  }
}

const apiKey = 'made-up';

async function runToEnd(db: Database, run: CrashRun, gate: Gate): Promise<RunEnd> {
  const control = createRunControl();
  const events = await runDurable(db, owner, {
    model: modelOf(db, run, gate),
    gate,
    control,
    tools: toolsOf(run.effectsPath, gate, control),
    ports: { sleep: async () => undefined },
    ...(run.model === 'typed' ? typedOptions(db, gate) : {}),
  });
  return events.at(-1) as RunEnd;
}

function modelOf(db: Database, { url, model, isAskable }: CrashRun, gate: Gate): HookedModel {
  const settings = { baseURL: url, apiKey };
  if (isAskable) return hookModel(openai(settings).responses(model), askableHooks(db, owner, gate));
  return hookModel(openaiCompatible({ name: 'sim', ...settings }).chatModel(model), durableHooks(db, owner, gate));
}

/** Inputs that stand in the store as answered or not, and a context that the steps do not fit in. */
function typedOptions(db: Database, gate: Gate): Partial<EngineOptions> {
  const pending = async (): Promise<readonly PendingInput[]> => {
    const answered = (await db.read((ctx) => listTurns(ctx, owner))).filter(({ status }) => status === 'responded');
    const done = new Set(answered.flatMap(({ inputIds }) => inputIds));
    return typedInputs.filter(({ id, after }) => after <= answered.length && !done.has(id));
  };
  return {
    contextTokens: 700,
    drainInput: async () => {
      gate('input:draining');
      const inputs = await pending();
      gate('input:drained');
      return inputs;
    },
    closePendingInput: async () => {
      gate('input:closing');
      const isClosed = (await pending()).length === 0;
      gate('input:closed');
      return isClosed;
    },
    compact: async ({ entries }) => {
      gate('history:compacting');
      const texts = entries.map(({ message }) => ({
        role: message.role,
        text: lines([message])[0]?.replace(/^user: /, '') ?? '',
      }));
      const steps = stepsBefore(texts) + texts.filter(({ text }) => text.startsWith('result: wrote')).length;
      gate('history:compacted');
      return { summary: `Steps done: ${steps}`, keep: 0 };
    },
  };
}

function toolsOf(effectsPath: string, gate: Gate, control: RunControl): ToolRegistry {
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
  const submit = defineTool({
    name: 'submit',
    description: 'Ends the run',
    sideEffectScope: 'run',
    inputSchema: { type: 'object' },
    execute: () => {
      control.requestEndTurn();
      return 'submitted';
    },
  });
  return createRegistry([look, write, submit]);
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
