import type { WorkItemDetail } from '@stint/contracts';
import { type ReactElement, useCallback } from 'react';
import { ActionPanel } from './action-panel.js';
import { BudgetDialog } from './budget-dialog.js';
import { BudgetGauge } from './budget-gauge.js';
import { Conversation } from './conversation.js';
import { FinalResult } from './final-result.js';
import { formatAge, formatStatus } from './format.js';
import { GoalProgress } from './goal-progress.js';
import { ItemCommands } from './item-commands.js';
import { Needs } from './needs.js';
import { Plan } from './plan.js';
import { navigate } from './router.js';
import { StatusBadge } from './status-badge.js';
import { useNow, usePage } from './use-page.js';

/** One work item, live. */
export function ItemPage({
  itemId,
  selected,
}: {
  readonly itemId: string;
  readonly selected: string | null;
}): ReactElement {
  const { item, trouble } = usePage();
  if (item?.id !== itemId) return <p className="center quiet">{trouble ?? 'Loading…'}</p>;
  return <Item item={item} selected={selected} />;
}

function Item({ item, selected }: { readonly item: WorkItemDetail; readonly selected: string | null }): ReactElement {
  const now = useNow();
  const select = useCallback((action: string) => navigate({ page: 'item', itemId: item.id, action }), [item.id]);
  const action = item.actions.find(({ id }) => id === selected);
  return (
    <article data-item-status={item.status}>
      <Heading item={item} now={now} />
      <div className="columns">
        <div>
          <Needs item={item} />
          {item.finalResult && <FinalResult result={item.finalResult} />}
          <Plan actions={item.actions} selected={selected} onSelect={select} />
          {action && <ActionPanel action={action} />}
          {item.goalProgress && <GoalProgress progress={item.goalProgress} />}
          <Conversation page={item.conversation} now={now} />
        </div>
        <aside>
          <BudgetGauge control={item.control} />
          <BudgetDialog item={item} />
          <Facts item={item} />
        </aside>
      </div>
    </article>
  );
}

function Heading({ item, now }: { readonly item: WorkItemDetail; readonly now: number }): ReactElement {
  return (
    <div className="heading">
      <div className="heading-line">
        <h1>{item.contract.title}</h1>
        <StatusBadge status={item.status} />
        <ItemCommands item={item} />
      </div>
      {item.contract.goal !== item.contract.title && <p className="goal">{item.contract.goal}</p>}
      <p className="quiet" data-activity>
        {activityOf(item)} · updated {formatAge(item.updatedAt, now)}
      </p>
    </div>
  );
}

/** What goes on, in one line. */
export function activityOf(item: WorkItemDetail): string {
  const running = item.actions.filter(({ status }) => status === 'running').map(({ slug }) => slug);
  if (running.length > 0) return `Running ${running.join(', ')}`;
  if (item.coordinator.status === 'thinking') return 'The Coordinator is thinking';
  if (item.reason) return item.reason.message;
  return formatStatus(item.status);
}

function Facts({ item }: { readonly item: WorkItemDetail }): ReactElement {
  const { contract, statistics } = item;
  return (
    <section className="card" aria-labelledby="facts-title">
      <h2 id="facts-title">Facts</h2>
      <dl className="facts">
        <dt>Model</dt>
        <dd>{contract.model ?? 'the default'}</dd>
        <dt>Works in</dt>
        <dd>{contract.workDir ?? 'no directory'}</dd>
        <dt>Delivers</dt>
        <dd>{contract.deliveryTarget?.replaceAll('_', ' ') ?? 'not chosen yet'}</dd>
        <dt>Runs</dt>
        <dd>{statistics.runs}</dd>
        <dt>Tool calls</dt>
        <dd>
          {statistics.toolCalls}
          {statistics.failedToolCalls > 0 && `, ${statistics.failedToolCalls} failed`}
        </dd>
      </dl>
    </section>
  );
}
