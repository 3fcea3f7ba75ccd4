import { expect } from 'vitest';
import { type BuggyRepository, type BugFamily, makeBuggyRepository } from './buggy-repository.js';
import type { Random } from './random.js';
import { readStore } from './read-store.js';
import type { SimulatorProcess } from './simulator-process.js';
import { freshDataDirectory, type StintOptions } from './stint.js';

/** One drawn piece of work: a repository to mend and a fresh data directory. */
export interface Work {
  readonly repository: BuggyRepository;
  readonly options: StintOptions;
}

export const drawWork = (random: Random, family: BugFamily, simulator: SimulatorProcess): Work => ({
  repository: makeBuggyRepository(random, family),
  options: { dataDirectory: freshDataDirectory(), environment: simulator.environment },
});

/** The words of the `run` command for it. */
export const runWords = ({ repository }: Work, ...more: readonly string[]): string[] => [
  'run',
  'make the failing test pass',
  '--accept',
  'node --test passes',
  '--dir',
  repository.directory,
  '--model',
  'openai:drawn',
  '--json',
  ...more,
];

/** A request as the ledger has it, in the order of admission. */
export interface LedgerRow {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly estimate_tokens: number;
  readonly charged_tokens: number;
  readonly overshoot: number;
}

export const ledgerRows = ({ options }: Work): Promise<readonly LedgerRow[]> =>
  readStore<LedgerRow>(options.dataDirectory, 'SELECT * FROM ledger_requests ORDER BY reserved_at, id');

/** The id of the only item. */
export async function onlyItem({ options }: Work): Promise<string> {
  const items = await readStore<{ id: string }>(options.dataDirectory, 'SELECT id FROM work_items');
  expect(items).toHaveLength(1);
  return items[0]?.id ?? '';
}

/** No request may reach the endpoint twice under one turn id, and every one that did is booked. */
export async function expectEachSentOnce(work: Work, simulator: SimulatorProcess): Promise<void> {
  const sent = simulator.served().map(({ turnId }) => turnId);
  expect(new Set(sent).size).toBe(sent.length);
  const booked = new Set((await ledgerRows(work)).map(({ id }) => id));
  expect(sent.filter((id) => id === null || !booked.has(id))).toEqual([]);
}
