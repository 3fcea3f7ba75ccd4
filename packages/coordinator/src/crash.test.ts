import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { assertNothingStuck, type ItemRecords } from '@stint/work-items';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Bench, openBench, summary } from './work-bench.test.helper.js';

const child = fileURLToPath(new URL('../dist/serve.test.helper.js', import.meta.url));

/** Serves the bench's store in another process until that kills itself at the n-th passing of the point. */
async function serveUntilKilled(bench: Bench, point: string, occurrence: number): Promise<void> {
  const server: ChildProcess = spawn(
    process.execPath,
    [child, bench.folder, bench.simulator.url, point, String(occurrence)],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const [code, signal] = (await once(server, 'exit')) as [number | null, string | null];
  expect({ code, signal }, `the child must die at ${point} #${occurrence}`).toEqual({ code: null, signal: 'SIGKILL' });
}

const stands = ({ item }: ItemRecords): boolean => item.status !== 'running' && item.status !== 'ready';

/** Serves here until the item stands still. */
async function serveOn(bench: Bench, itemId: string): Promise<ItemRecords> {
  const coordinator = bench.coordinator();
  coordinator.start();
  const records = await bench.until(itemId, stands);
  await coordinator.stop();
  assertNothingStuck(records);
  return records;
}

let undisturbed = 0;

beforeAll(async () => {
  await using bench = await openBench();
  const itemId = await bench.item();
  expect((await serveOn(bench, itemId)).item.status).toBe('done');
  undisturbed = bench.simulator.requests().length;
});

/**
 * The right end of a kill at each point, and how many requests more than undisturbed the server sees. `unaided`: done
 * without anyone. `unknown_turn`: the request may have been paid, a person says to send it again. `unknown_operation`:
 * the tool may have acted, a person says whether it did; the model may then look once more.
 */
const table: readonly (readonly [string, number, 'unaided' | 'unknown_turn' | 'unknown_operation', number])[] = [
  ['turn:prepared', 1, 'unaided', 0],
  ['turn:started', 1, 'unknown_turn', 0],
  ['turn:streaming', 1, 'unknown_turn', 1],
  ['turn:answered', 1, 'unknown_turn', 1],
  ['turn:finished', 1, 'unaided', 0],
  ['turn:prepared', 2, 'unaided', 0],
  ['turn:started', 2, 'unknown_turn', 0],
  ['turn:answered', 2, 'unknown_turn', 1],
  ['turn:finished', 2, 'unaided', 0],
  ['turn:started', 4, 'unknown_turn', 0],
  ['turn:finished', 4, 'unaided', 0],
  ['tool:before', 1, 'unaided', 0],
  ['tool:during', 1, 'unaided', 0],
  ['tool:after', 1, 'unaided', 0],
  ['operation:started', 1, 'unknown_operation', 0],
  ['operation:done', 1, 'unknown_operation', 0],
  ['operation:done', 2, 'unknown_operation', 1],
  ['outcome:before', 1, 'unaided', 0],
  ['outcome:after', 1, 'unaided', 0],
  ['outcome:before', 2, 'unaided', 0],
];

describe('after kill -9', () => {
  it.each(table)('at %s (passing %i) the right end is %s', async (point, occurrence, end, more) => {
    await using bench = await openBench();
    const itemId = await bench.item();
    await serveUntilKilled(bench, point, occurrence);
    let records = await serveOn(bench, itemId);
    if (end !== 'unaided') {
      expect(records.item, JSON.stringify(summary(records))).toMatchObject({
        status: 'needs_attention',
        attention: { code: end },
      });
      await resolve(bench, records);
      records = await serveOn(bench, itemId);
    }
    expect(records.item.status, JSON.stringify(summary(records))).toBe('done');
    expect(readFileSync(bench.bug.file, 'utf8')).toContain(bench.bug.right);
    await expectHonestBooks(bench, itemId);
    expect(bench.simulator.requests().length - undisturbed).toBe(more);
  });
});

/** What the offered command does: send a request again; take an operation as applied, if it was. */
async function resolve(bench: Bench, { item }: ItemRecords): Promise<void> {
  const ref = item.attention?.ref ?? '';
  if (item.attention?.code === 'unknown_turn')
    await bench.commands.resolveTurn({ turnId: ref, finding: { kind: 'retry' } });
  else await bench.commands.resolveOperation({ operationId: ref, effect: isRepaired(bench) ? 'applied' : 'no_effect' });
}

function isRepaired({ bug }: Bench): boolean {
  return readFileSync(bug.file, 'utf8').includes(bug.right);
}

/** No turn id was served twice, every request is in the books, and nothing is held any more. */
async function expectHonestBooks(bench: Bench, itemId: string): Promise<void> {
  const served = bench.simulator.requests().map((request) => request.turnId);
  const turns = await bench.turns(itemId);
  const account = await bench.snapshot(itemId);
  expect(new Set(served).size).toBe(served.length);
  const ids = new Set(turns.map((turn) => turn.id));
  expect(served.filter((id) => id === null || !ids.has(id))).toEqual([]);
  expect(account.usage.requests).toBe(turns.filter((turn) => turn.status !== 'cancelled').length);
  expect({ inFlight: account.inFlight, held: account.held.tokens }).toEqual({ inFlight: 0, held: 0 });
}
