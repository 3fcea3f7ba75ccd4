import { snapshotAccount } from '@stint/ledger';
import type { Context, Transaction } from '@stint/storage';
import { type Action, type ItemRecords, type MailboxEntry, readItemRecords } from '@stint/work-items';
import { accountOf } from './account.js';
import { type ConversationEntry, coordinatorSnapshot, type Trigger } from './coordinator-prompt.js';
import { CoordinatorError } from './errors.js';
import { contractOf, type PlanAction } from './plan-view.js';

/** Newest messages that a snapshot is made of; the bound in bytes decides how many are shown. */
const messageLimit = 100;

/** Reads everything the Coordinator is shown about an item, as one bounded JSON text. @throws CoordinatorError `not_found` */
export function* readSnapshot(ctx: Context, itemId: string, entry: MailboxEntry): Transaction<string> {
  const records = yield* readItemRecords(ctx, itemId, { messageLimit, runs: 'newest' });
  if (records === undefined) throw new CoordinatorError('not_found', `There is no work item ${itemId}.`);
  const { remaining } = yield* snapshotAccount(ctx, accountOf(itemId));
  return coordinatorSnapshot({
    trigger: triggerOf(entry, records),
    contract: contractOf(records.item),
    plan: records.actions.map((action) => planActionOf(action, records)),
    conversation: conversationOf(records),
    budget: { requestsLeft: remaining.requests, tokensLeft: remaining.tokens, costMicrosLeft: remaining.costMicros },
  });
}

function triggerOf(entry: MailboxEntry, records: ItemRecords): Trigger {
  const actionId = entry.payload['actionId'];
  const messageId = entry.payload['messageId'];
  const said = records.messages.find((message) => message.id === messageId);
  return {
    kind: entry.kind,
    ...(said !== undefined && { text: said.text }),
    ...(typeof actionId === 'string' && { action: slugOf(actionId) }),
  };
}

function slugOf(actionId: string): string {
  return actionId.slice(actionId.indexOf('/') + 1);
}

/** The Action for the Coordinator. Checks of criteria that the contract no longer has do not count and are left out. */
function planActionOf(action: Action, { item }: ItemRecords): PlanAction {
  const { slug, kind, status, objective, dependencies, workspaceMode, checkpoint, outcome, outcomeRunId } = action;
  const known = new Set(item.acceptanceCriteria.map((criterion) => criterion.id));
  const result =
    outcome === null || outcomeRunId === null
      ? null
      : {
          runId: outcomeRunId,
          summary: outcome.summary,
          outputs: outcome.outputs,
          checks: outcome.checks.filter((check) => known.has(check.criterionId)),
        };
  const note = action.attention?.message ?? action.closingReason;
  return { slug, kind, status, objective, dependencies, workspaceMode, checkpoint, result, note };
}

function conversationOf(records: ItemRecords): readonly ConversationEntry[] {
  return records.messages.map(({ role, text, createdAt }) => ({
    from: role === 'user' ? 'person' : 'coordinator',
    text,
    at: createdAt,
  }));
}
