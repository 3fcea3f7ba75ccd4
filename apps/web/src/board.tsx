import type { WorkItemSummary } from '@stint/contracts';
import type { ReactElement } from 'react';
import { formatAge, formatMoney, formatShort } from './format.js';
import { type Lane, lanesOf } from './lanes.js';
import { Link } from './link.js';
import { navigate } from './router.js';
import { StatusBadge } from './status-badge.js';
import { useNow, usePage } from './use-page.js';

/** All work items in three lanes. */
export function Board({ search, lane }: { readonly search: string; readonly lane: string | null }): ReactElement {
  const { board, boardLoaded } = usePage();
  const lanes = lanesOf(board.values(), search);
  return (
    <>
      <div className="board-tools">
        <input
          type="search"
          placeholder="Search title, status or directory"
          aria-label="Search work items"
          value={search}
          onChange={(event) => navigate({ page: 'board', search: event.target.value, lane }, { replace: true })}
        />
        {lanes.map(({ id, title, items }) => (
          <button
            key={id}
            type="button"
            className={`chip${lane === id ? ' chip-on' : ''}`}
            aria-pressed={lane === id}
            onClick={() => navigate({ page: 'board', search, lane: lane === id ? null : id })}
          >
            {title} <span className="count">{items.length}</span>
          </button>
        ))}
      </div>
      {boardLoaded && board.size === 0 && <Empty />}
      <div className="board">
        {lanes
          .filter(({ id }) => lane === null || lane === id)
          .map((shown) => (
            <LaneColumn key={shown.id} lane={shown} />
          ))}
      </div>
    </>
  );
}

function Empty(): ReactElement {
  return (
    <div className="center">
      <p>No work items yet.</p>
      <Link to={{ page: 'new' }} className="button primary">
        Hand over the first one
      </Link>
    </div>
  );
}

function LaneColumn({ lane }: { readonly lane: Lane }): ReactElement {
  return (
    <section aria-labelledby={`lane-${lane.id}`} data-lane={lane.id}>
      <h2 id={`lane-${lane.id}`}>
        {lane.title} <span className="count">{lane.items.length}</span>
      </h2>
      {lane.items.map((item) => (
        <ItemCard key={item.id} item={item} />
      ))}
    </section>
  );
}

function ItemCard({ item }: { readonly item: WorkItemSummary }): ReactElement {
  const now = useNow();
  const { spent, left } = item.control;
  return (
    <Link to={{ page: 'item', itemId: item.id, action: null }} className="card item-card">
      <div className="item-card-head">
        <strong>{item.title}</strong>
        <StatusBadge status={item.status} />
      </div>
      {item.need && <div className="need-line">{item.need.text}</div>}
      {!item.need && item.reason && <div className="need-line">{item.reason.message}</div>}
      <div className="quiet">
        {item.goalProgress && `${item.goalProgress.completed}/${item.goalProgress.total} criteria · `}
        {item.actions.completed}/{item.actions.total} actions · {formatShort(spent.tokens)} tokens
        {left.tokens !== null && ` of ${formatShort(spent.tokens + left.tokens)}`}
        {spent.costMicros !== null && spent.costMicros > 0 && ` · ${formatMoney(spent.costMicros)}`} ·{' '}
        {formatAge(item.updatedAt, now)}
      </div>
    </Link>
  );
}
