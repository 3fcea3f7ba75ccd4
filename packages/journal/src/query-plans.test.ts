import { fileURLToPath } from 'node:url';
import { explainStatements } from '@stint/storage/testing';
import { expect, test } from 'vitest';
import { journalMigrations } from './schema.js';

/** Statement, and why it may read what it scans whole. */
const boundedOtherwise: Readonly<Record<string, string>> = {
  'recovery.ts selectTurnProcesses': 'a partial index of the turns in flight now',
  'recovery.ts selectOperationProcesses': 'a partial index of the operations at work now',
};

test('every statement finds its rows by an index, but for those that are bounded otherwise', async () => {
  const plans = await explainStatements(fileURLToPath(new URL('.', import.meta.url)), [journalMigrations]);
  expect(plans.length).toBeGreaterThan(20);
  const scanning = plans.filter(({ scans }) => scans.length > 0).map(({ statement }) => statement);
  expect(scanning.toSorted()).toEqual(Object.keys(boundedOtherwise).toSorted());
});
