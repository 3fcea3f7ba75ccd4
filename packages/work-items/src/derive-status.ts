import { freeingCommand } from './attention.js';
import type { Action, Attention, AttentionCode, ItemStatus, Question, WorkItem } from './records.js';

/** All that an item's status depends on. */
export interface StatusInput {
  readonly item: Pick<
    WorkItem,
    'id' | 'startedAt' | 'cancelledAt' | 'finalResult' | 'paused' | 'claimsHeld' | 'coordinatorTrouble'
  >;
  readonly actions: readonly Pick<Action, 'id' | 'status' | 'attention'>[];
  /** A Coordinator turn is thinking. */
  readonly thinking: boolean;
  /** Mailbox entries that are pending or claimed. */
  readonly openMailboxCount: number;
  /** Questions not answered yet, oldest first. */
  readonly openQuestions: readonly Pick<Question, 'id' | 'actionId' | 'text'>[];
}

export interface DerivedStatus {
  readonly status: ItemStatus;
  /** Set for waiting and needs_attention. */
  readonly attention: Attention | null;
}

/**
 * The status of an item. Decided ends come first, then what moves (running, ready), then who is asked, then what is
 * stuck and by which command it is freed. It runs at the end of every transaction that changed one of its inputs.
 */
export function deriveStatus(input: StatusInput): DerivedStatus {
  const { item } = input;
  if (item.finalResult !== null) return settled('done');
  if (item.cancelledAt !== null) return settled('cancelled');
  if (item.startedAt === null) return settled('draft');
  if (input.thinking || input.actions.some((action) => action.status === 'running')) return settled('running');
  if (item.paused) return stuck(input, 'paused', 'Paused by a person; nothing is spent until it is resumed.');
  if (movesByItself(input)) return settled('ready');
  return asked(input) ?? needsAttention(input);
}

function settled(status: ItemStatus): DerivedStatus {
  return { status, attention: null };
}

function movesByItself({ item, actions, openMailboxCount }: StatusInput): boolean {
  return openMailboxCount > 0 || (!item.claimsHeld && actions.some((action) => action.status === 'ready'));
}

function asked({ item, openQuestions }: StatusInput): DerivedStatus | undefined {
  const question = openQuestions[0];
  if (question === undefined) return undefined;
  const command = freeingCommand('question', { itemId: item.id, actionId: question.actionId, ref: question.id });
  return { status: 'waiting', attention: { code: 'question', message: question.text, command, ref: question.id } };
}

function needsAttention(input: StatusInput): DerivedStatus {
  const waiting = input.actions.find((action) => action.status === 'waiting' && action.attention !== null);
  if (waiting !== undefined) return { status: 'needs_attention', attention: waiting.attention };
  const trouble = input.item.coordinatorTrouble;
  if (trouble !== null) return stuck(input, trouble.code, trouble.message, trouble.ref);
  const failed = input.actions.find((action) => action.status === 'failed' && action.attention !== null);
  if (failed !== undefined) return { status: 'needs_attention', attention: failed.attention };
  return stuck(input, 'idle', 'Nothing is planned that could run, and nobody was asked.');
}

function stuck(input: StatusInput, code: AttentionCode, message: string, ref: string | null = null): DerivedStatus {
  const command = freeingCommand(code, { itemId: input.item.id, actionId: null, ref });
  return { status: 'needs_attention', attention: { code, message, command, ref } };
}

/** The stop of a budget account that covers the item, as the ledger tells it. */
export interface BudgetStop {
  readonly code: string;
  readonly message: string;
  /** The account that is stopped: the item's own or an ancestor. */
  readonly account: string;
}

/**
 * The status a reader shows when the item's account or an ancestor is stopped. The stop is not stored in the item: it
 * is the ledger's fact. An item that has ended, is a draft, is still running or was asked something shows that.
 */
export function withBudgetStop(
  item: Pick<WorkItem, 'id' | 'status' | 'attention'>,
  stop: BudgetStop | null,
): DerivedStatus {
  if (stop === null || (item.status !== 'ready' && item.status !== 'needs_attention')) {
    return { status: item.status, attention: item.attention };
  }
  const command = freeingCommand('budget', { itemId: item.id, actionId: null, ref: stop.account });
  return {
    status: 'needs_attention',
    attention: { code: 'budget', message: stop.message, command, ref: stop.account },
  };
}
