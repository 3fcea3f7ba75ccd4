import { eventSchema } from '@stint/contracts';
import { expect, test } from 'vitest';
import { toEvent } from './event.js';
import { ITEM_ID, sampleSources } from './sources.test.helper.js';
import { toWorkItemSummary } from './work-item-summary.js';

const record = { itemId: ITEM_ID, seq: 3, type: 'action.completed', actionId: null, runId: null, at: 5 };

test('an event carries the row of the board, bounded and redacted', () => {
  const summary = toWorkItemSummary(sampleSources());
  const text = `read /etc/passwd ${'x'.repeat(10_000)}`;
  const event = toEvent({ storeId: 's', event: { ...record, text }, summary }, { workspaceRoot: null });
  expect(event.text.startsWith('read [path] x')).toBe(true);
  expect(Buffer.byteLength(event.text)).toBeLessThanOrEqual(2_048);
  expect(eventSchema.parse(event)).toEqual(event);
});

test('case P15 an event of a type nobody knows keeps its number and its words', () => {
  const event = toEvent(
    { storeId: 's', event: { ...record, type: 'moon.landed', text: 'hello' }, summary: null },
    { workspaceRoot: null },
  );
  expect(event).toMatchObject({ seq: 3, type: 'moon.landed', text: 'hello' });
});
