import { type Context, one, run, type Transaction } from '@stint/storage';
import { applied, appliedBefore, type CommandResult, refuseStale } from './commands.js';
import { checkContract } from './contract.js';
import { WorkItemsError } from './errors.js';
import { writeEvent } from './events.js';
import type { ItemCommand } from './item-commands.js';
import { lockItem } from './lock.js';
import { wakeCoordinator } from './mailbox.js';
import { refuseEnded } from './messages.js';
import type { Criterion, DeliveryTarget, WorkItem } from './records.js';
import { settleItem } from './settle-item.js';

const updateItem = `UPDATE work_items SET title = ?, goal = ?, criteria = ?, criteria_issued = ?, delivery_target = ?,
  work_dir = ?, workspace_key = ?, revision = ?, claims_held = ?, updated_at = ? WHERE id = ?`;
const countRunning = "SELECT COUNT(*) AS count FROM work_runs WHERE item_id = ? AND status = 'running'";

export interface ContractChange {
  readonly title?: string;
  readonly goal?: string;
  /** All criteria. One whose text stays keeps its id; a new text gets an id that was never used. */
  readonly acceptanceCriteria?: readonly string[];
  readonly deliveryTarget?: DeliveryTarget;
  readonly workDir?: string | null;
  readonly workspaceKey?: string | null;
}

/**
 * A person changes the contract. All but the title moves `revision`, wakes the Coordinator and holds claims until its
 * decision is applied. Throws `workspace_in_use` for another directory while a Run is running.
 */
export function* updateContract(
  ctx: Context,
  command: ItemCommand & { readonly change: ContractChange },
): Transaction<CommandResult> {
  const item = yield* lockItem(ctx, command.itemId);
  refuseEnded(item, 'change its contract');
  const stale = refuseStale(item, command.expectedRevision);
  if (stale !== null) return stale;
  const next = changedContract(item, command.change);
  if (next.workspaceKey !== item.workspaceKey) yield* refuseWhileRunning(item);
  const moves = movesRevision(item, next);
  if (!moves && next.title === item.title) return appliedBefore;
  yield* writeContract(ctx, item, next, moves);
  if (moves && item.startedAt !== null) yield* wakeForContract(ctx, item);
  yield* settleItem(ctx, item.id);
  return applied;
}

type NextContract = Pick<
  WorkItem,
  'title' | 'goal' | 'acceptanceCriteria' | 'criteriaIssued' | 'deliveryTarget' | 'workDir' | 'workspaceKey'
>;

function changedContract(item: WorkItem, change: ContractChange): NextContract {
  const checked = checkContract({
    title: change.title ?? item.title,
    goal: change.goal ?? item.goal,
    acceptanceCriteria: change.acceptanceCriteria ?? item.acceptanceCriteria.map((criterion) => criterion.text),
    deliveryTarget: change.deliveryTarget ?? item.deliveryTarget,
    workDir: change.workDir === undefined ? item.workDir : change.workDir,
    workspaceKey: change.workspaceKey === undefined ? item.workspaceKey : change.workspaceKey,
  });
  const { title, goal, deliveryTarget, workDir, workspaceKey } = checked;
  const criteria = keepCriterionIds(item, checked.acceptanceCriteria);
  return { title, goal, deliveryTarget, workDir, workspaceKey, ...criteria };
}

/** An id means one text for ever, so that a check made on an old contract counts only for what it checked. */
function keepCriterionIds(
  item: WorkItem,
  wanted: readonly Criterion[],
): Pick<NextContract, 'acceptanceCriteria' | 'criteriaIssued'> {
  const old = new Map(item.acceptanceCriteria.map((criterion) => [criterion.text, criterion.id]));
  let issued = item.criteriaIssued;
  const acceptanceCriteria = wanted.map(({ text }) => {
    const kept = old.get(text);
    old.delete(text);
    if (kept !== undefined) return { id: kept, text };
    issued += 1;
    return { id: `c${issued}`, text };
  });
  return { acceptanceCriteria, criteriaIssued: issued };
}

function movesRevision(item: WorkItem, next: NextContract): boolean {
  return (
    next.goal !== item.goal ||
    next.deliveryTarget !== item.deliveryTarget ||
    next.workDir !== item.workDir ||
    next.workspaceKey !== item.workspaceKey ||
    JSON.stringify(next.acceptanceCriteria) !== JSON.stringify(item.acceptanceCriteria)
  );
}

function* refuseWhileRunning(item: WorkItem): Transaction<void> {
  const running = yield* one<{ count: number }>(countRunning, [item.id]);
  if (Number(running?.count ?? 0) === 0) return;
  const message = `Work item ${item.id} has a Run at work in ${item.workDir ?? 'no directory'}; pause it, then change the directory`;
  throw new WorkItemsError('workspace_in_use', message, { retryable: true });
}

function* writeContract(ctx: Context, item: WorkItem, next: NextContract, moves: boolean): Transaction<void> {
  const held = item.claimsHeld || (moves && item.startedAt !== null);
  yield* run(updateItem, [
    next.title,
    next.goal,
    JSON.stringify(next.acceptanceCriteria),
    next.criteriaIssued,
    next.deliveryTarget,
    next.workDir,
    next.workspaceKey,
    item.revision + (moves ? 1 : 0),
    held ? 1 : 0,
    ctx.now,
    item.id,
  ]);
  yield* writeEvent(ctx, { itemId: item.id, type: 'contract.changed', text: next.title });
}

/** The revision moves with every such change, under the item's lock: with the item's id it is an identity. */
function* wakeForContract(ctx: Context, item: WorkItem): Transaction<void> {
  const sourceKey = `contract_changed:${item.id}:${item.revision + 1}`;
  yield* wakeCoordinator(ctx, { itemId: item.id, kind: 'contract_changed', sourceKey });
}
