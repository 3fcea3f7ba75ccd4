import type { PendingInput } from '@stint/engine';
import type { Context, Database, Transaction } from '@stint/storage';
import {
  acknowledgeInputs,
  bindInputs,
  closePendingInput,
  pendingInputs,
  type RunFence,
  unbindInputs,
} from '@stint/work-items';
import { outcomeReminder } from './action-prompt.js';
import type { OutcomeCollector } from './action-tools.js';
import type { TurnInputs } from './turn-hooks.js';

/** How often a model that stops without an outcome is reminded of it. */
const mostReminders = 2;

/** Ids of reminders start so; they are this process's own words and bind no record. */
const reminderPrefix = 'reminder:';

/** What a Run takes up between requests: a person's inputs, and reminders of the missing outcome. */
export interface RunInputs extends TurnInputs {
  /** Inputs that no turn carries yet, oldest first. */
  drain(): Promise<readonly PendingInput[]>;
  /** True if the loop may end; false if something is to be taken up first. */
  close(): Promise<boolean>;
}

export function createRunInputs(options: {
  readonly db: Database;
  readonly fence: RunFence;
  readonly collector: OutcomeCollector;
}): RunInputs {
  const { db, fence, collector } = options;
  let reminders = 0;
  let due = false;
  return {
    async drain() {
      const inputs = await db.write((ctx) => pendingInputs(ctx, fence));
      if (inputs.length > 0) collector.outcome = null; // what was submitted before did not know of them
      const reminder = due ? [{ id: `${reminderPrefix}${fence.runId}:${reminders}`, message: outcomeReminder }] : [];
      due = false;
      return [...inputs.map(({ id, text }) => ({ id, message: text })), ...reminder];
    },
    async close() {
      if (!(await db.write((ctx) => closePendingInput(ctx, fence)))) return false;
      if (collector.outcome !== null || reminders === mostReminders) return true;
      reminders += 1;
      due = true;
      return false;
    },
    bind: (ctx, turnId, inputIds) => bindOwn(ctx, fence, { turnId, inputIds }),
    *acknowledge(ctx, turnId) {
      yield* acknowledgeInputs(ctx, turnId);
    },
    *unbind(ctx, turnId) {
      yield* unbindInputs(ctx, turnId);
    },
  };
}

function* bindOwn(
  ctx: Context,
  fence: RunFence,
  { turnId, inputIds }: { readonly turnId: string; readonly inputIds: readonly string[] },
): Transaction<void> {
  yield* bindInputs(ctx, fence, { turnId, inputIds: inputIds.filter((id) => !id.startsWith(reminderPrefix)) });
}
