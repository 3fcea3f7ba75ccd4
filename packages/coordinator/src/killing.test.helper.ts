import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { assertNothingStuck, type ItemRecords } from '@stint/work-items';
import { expect } from 'vitest';
import type { Bench } from './work-bench.test.helper.js';

const child = fileURLToPath(new URL('../dist/serve.test.helper.js', import.meta.url));

export interface ServeOptions {
  /** The gate point at which the process kills itself; `*` counts every point, `sql` every statement. @default never */
  readonly point?: string;
  /** How often the point is passed before. @default 1 */
  readonly occurrence?: number;
  readonly leaseMs?: number;
  /** The provider keeps its answers. @default false */
  readonly keepsAnswers?: boolean;
}

/** Serves the bench's store in another process; it serves when this resolves. */
export async function serveElsewhere(bench: Bench, options: ServeOptions = {}): Promise<ChildProcess> {
  const { point = '', occurrence = 1, leaseMs = 60_000, keepsAnswers = false } = options;
  const args = [
    child,
    bench.folder,
    bench.simulator.url,
    point,
    String(occurrence),
    String(leaseMs),
    keepsAnswers ? 'keeps' : '',
  ];
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const serving = once(createInterface({ input: server.stdout }), 'line');
  await Promise.race([serving, once(server, 'exit')]);
  return server;
}

/** Resolves when the process is gone: at once if it is. */
export async function gone(server: ChildProcess): Promise<void> {
  if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
}

export async function kill(server: ChildProcess): Promise<void> {
  server.kill('SIGKILL');
  await gone(server);
}

/** Resolves when the process sleeps, until SIGCONT; never in the middle of a transaction, whose lock would stop everyone. */
export async function putToSleep(server: ChildProcess): Promise<void> {
  if (server.stdout === null) throw new Error('the process has no stdout to say that it falls asleep');
  const asleep = once(server.stdout, 'data');
  server.kill('SIGUSR2');
  await asleep;
}

/** Serves in another process until that kills itself at the n-th passing of the point. */
export async function serveUntilKilled(
  bench: Bench,
  point: string,
  occurrence: number,
  keepsAnswers = false,
): Promise<void> {
  const server = await serveElsewhere(bench, { point, occurrence, keepsAnswers });
  await gone(server);
  const { exitCode, signalCode } = server;
  expect({ exitCode, signalCode }, `the child must die at ${point} #${occurrence}`).toEqual({
    exitCode: null,
    signalCode: 'SIGKILL',
  });
}

export const stands = ({ item }: ItemRecords): boolean => item.status !== 'running' && item.status !== 'ready';

/** Serves here until the item stands still. */
export async function serveOn(bench: Bench, itemId: string): Promise<ItemRecords> {
  const coordinator = bench.coordinator();
  coordinator.start();
  const records = await bench.until(itemId, stands);
  await coordinator.stop();
  assertNothingStuck(records);
  return records;
}

/** Does what the offered command does: a person who knows the truth. */
export async function resolveAsked(bench: Bench, { item, openQuestions }: ItemRecords): Promise<void> {
  const { code = '', ref } = item.attention ?? {};
  const itemId = item.id;
  const actionId = item.attention?.command.split(' ').at(-1) ?? '';
  if (code === 'unknown_turn') await bench.commands.resolveTurn({ turnId: ref ?? '', finding: { kind: 'retry' } });
  else if (code === 'unknown_operation')
    await bench.commands.resolveOperation({
      operationId: ref ?? '',
      effect: isRepaired(bench) ? 'applied' : 'no_effect',
    });
  else if (code === 'question') {
    const [question] = openQuestions;
    const answer = { itemId, questionId: question?.id ?? '', text: 'Try it again, please.' };
    await bench.commands.answer({ ...answer, clientMessageId: `answer-${question?.id}` });
  } else if (code === 'interrupted_delivery' || code === 'exhausted' || code === 'failed_action')
    await bench.commands.retry({ itemId, actionId });
  else await bench.commands.resume({ itemId });
}

export function isRepaired({ bug }: Bench): boolean {
  return readFileSync(bug.file, 'utf8').includes(bug.right);
}

/** No turn id was served twice, every request is in the books, and nothing is held any more. */
export async function expectHonestBooks(bench: Bench, itemId: string): Promise<void> {
  const served = bench.simulator.requests().map((request) => request.turnId);
  const turns = await bench.turns(itemId);
  const account = await bench.snapshot(itemId);
  expect(new Set(served).size).toBe(served.length);
  const ids = new Set(turns.map((turn) => turn.id));
  expect(served.filter((id) => id === null || !ids.has(id))).toEqual([]);
  expect(account.usage.requests).toBe(turns.filter((turn) => turn.status !== 'cancelled').length);
  expect({ inFlight: account.inFlight, held: account.held.tokens }).toEqual({ inFlight: 0, held: 0 });
}
