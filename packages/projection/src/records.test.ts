import type { OperationRecord as JournalOperation, TurnRecord as JournalTurn } from '@stint/journal';
import type { AccountSnapshot } from '@stint/ledger';
import type { ItemRecords as WorkItemRecords, WorkEvent } from '@stint/work-items';
import { expectTypeOf, test } from 'vitest';
import type { AccountRecord, EventRecord, ItemRecords, OperationRecord, TurnRecord } from './records.js';

test('the records of work-items, ledger and journal are what the projection reads', () => {
  expectTypeOf<WorkItemRecords>().toExtend<ItemRecords>();
  expectTypeOf<WorkEvent>().toExtend<EventRecord>();
  expectTypeOf<AccountSnapshot>().toExtend<AccountRecord>();
  expectTypeOf<JournalTurn>().toExtend<TurnRecord>();
  expectTypeOf<JournalOperation>().toExtend<OperationRecord>();
});
