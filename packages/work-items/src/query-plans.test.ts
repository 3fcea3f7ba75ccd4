import { fileURLToPath } from 'node:url';
import { explainStatements } from '@stint/storage/testing';
import { expect, test } from 'vitest';
import { workItemsMigrations } from './schema.js';

/** Statement, and why it may read what it scans whole. */
const boundedOtherwise: Readonly<Record<string, string>> = {
  'events.ts numberFresh': 'the page of those events that it numbers',
  'item-records.ts selectHolds': 'one row for each directory at work now',
  'workspace-holds.ts selectLeftHolds': 'one row for each directory at work now',
  'items.ts selectPage': 'walks the primary key and ends at the page',
  'items.ts selectPageByStatus': 'walks the primary key and ends at the page',
};

test('every statement finds its rows by an index, but for those that are bounded otherwise', async () => {
  const plans = await explainStatements(fileURLToPath(new URL('.', import.meta.url)), [workItemsMigrations]);
  expect(plans.length).toBeGreaterThan(20);
  const scanning = plans.filter(({ scans }) => scans.length > 0).map(({ statement }) => statement);
  expect(scanning.toSorted()).toEqual(Object.keys(boundedOtherwise).toSorted());
});
