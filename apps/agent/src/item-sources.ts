import { accountOf, shownStopIn, unknownsOfRun, withStandingStop } from '@stint/coordinator';
import {
  countByOwner,
  type OperationRecord,
  readOperations,
  readTurn,
  type TurnOwner,
  type TurnRecord,
} from '@stint/journal';
import { type AccountSnapshot, runTotals, snapshotAccount } from '@stint/ledger';
import { type ActionCounts, addRun, noCounts, type RunCounts, type WorkItemSources } from '@stint/projection';
import type { Context, Transaction } from '@stint/storage';
import { type ItemRecords, listRunIds, readItemRecords, withBudgetStop } from '@stint/work-items';
import { budgetRemedy } from './budget-remedy.js';

/** All that a DTO of one item is made from, in one snapshot; undefined if there is no such item. */
export function* readItemSources(
  ctx: Context,
  storeId: string,
  itemId: string,
  options: { readonly messagesBefore?: number } = {},
): Transaction<WorkItemSources | undefined> {
  const records = yield* readItemRecords(ctx, itemId, { ...options, runs: 'newest' });
  if (records === undefined) return undefined;
  const account = yield* snapshotAccount(ctx, accountOf(itemId));
  return {
    storeId,
    records,
    derived: derivedOf(records, withStandingStop(records.item, account)),
    account,
    ...(yield* readCounts(ctx, itemId)),
    ...(yield* readUnknown(ctx, records)),
  };
}

/**
 * Status and attention with the budget's stop, and the command that lets the item go on. A stop for failures in a row is the provider's trouble, not a limit of money.
 */
function derivedOf({ item }: ItemRecords, account: AccountSnapshot): NonNullable<WorkItemSources['derived']> {
  const derived = withBudgetStop(item, shownStopIn(item, account));
  if (derived.attention?.code !== 'budget') return derived;
  const code = account.stopReason?.code === 'failures_exhausted' ? 'provider' : 'budget';
  const command = budgetRemedy(item.id, account) ?? derived.attention.command;
  return { ...derived, attention: { ...derived.attention, code, command } };
}

/** What each Run and each Action took: a few statements, however many Runs there are. */
function* readCounts(ctx: Context, itemId: string): Transaction<Pick<WorkItemSources, 'runCounts' | 'actionCounts'>> {
  const runs = yield* listRunIds(ctx, itemId);
  const ids = runs.map(({ id }) => id);
  const totals = yield* runTotals(ctx, accountOf(itemId), ids);
  const counts = yield* countByOwner(
    ctx,
    ids.map((id): TurnOwner => ({ kind: 'run', id })),
  );
  const runCounts = new Map<string, RunCounts>();
  const actionCounts = new Map<string, ActionCounts>();
  for (const { id, actionId } of runs) {
    const { requests = 0, tokens = 0 } = totals.get(id) ?? {};
    const { loops = 0, toolCalls = 0, failedToolCalls = 0 } = counts.get(id) ?? {};
    const took = { requests, tokens, loops, toolCalls, failedToolCalls };
    runCounts.set(id, took);
    actionCounts.set(actionId, addRun(actionCounts.get(actionId) ?? noCounts, took));
  }
  return { runCounts, actionCounts };
}

type Unknown = Pick<WorkItemSources, 'unknownTurns' | 'unknownOperations'>;

/** Turns and operations that a person has to settle: those of the last Run of each Action that waits, and the Coordinator's. */
function* readUnknown(ctx: Context, { item, actions, runs }: ItemRecords): Transaction<Unknown> {
  const unknownTurns: TurnRecord[] = [];
  const unknownOperations: OperationRecord[] = [];
  for (const action of actions.filter(({ status }) => status === 'waiting')) {
    const last = runs.findLast(({ actionId }) => actionId === action.id);
    for (const { kind, id } of last ? yield* unknownsOfRun(ctx, last) : []) {
      if (kind === 'operation') unknownOperations.push(...(yield* findOperation(ctx, id)));
      else unknownTurns.push(...(yield* findTurn(ctx, id)));
    }
  }
  const trouble = item.coordinatorTrouble;
  if (trouble?.code === 'unknown_turn' && trouble.ref !== null)
    unknownTurns.push(...(yield* findTurn(ctx, trouble.ref)));
  return { unknownTurns, unknownOperations };
}

function* findTurn(ctx: Context, id: string): Transaction<readonly TurnRecord[]> {
  const turn = yield* readTurn(ctx, id);
  return turn ? [turn] : [];
}

function* findOperation(ctx: Context, id: string): Transaction<readonly OperationRecord[]> {
  const operations = yield* readOperations(ctx, id.slice(0, id.lastIndexOf('/')));
  return operations.filter((operation) => operation.id === id);
}
