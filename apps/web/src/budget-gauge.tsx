import type { ExecutionControl } from '@stint/contracts';
import type { ReactElement } from 'react';
import { type BudgetRow, budgetRows } from './budget-rows.js';
import { formatCount } from './format.js';

/** What was spent, what is held for requests on their way, what nobody knows, and what is left, per limit. */
export function BudgetGauge({ control }: { readonly control: ExecutionControl }): ReactElement {
  return (
    <section className="card" aria-labelledby="budget-title">
      <h2 id="budget-title">Budget</h2>
      {budgetRows(control).map((row) => (
        <Gauge key={row.name} row={row} />
      ))}
      <p className="quiet">
        {control.inFlight === 1 ? '1 request' : `${formatCount(control.inFlight)} requests`} in flight
        {control.unmeasuredRequests > 0 && `, ${formatCount(control.unmeasuredRequests)} of unknown cost`}
      </p>
      {control.stopReason && <p className="stop">Stopped: {control.stopReason.message}</p>}
    </section>
  );
}

function Gauge({ row }: { readonly row: BudgetRow }): ReactElement {
  return (
    <div className="gauge" data-budget={row.name}>
      <div className="gauge-head">
        <strong>{row.label}</strong>
        <span>{row.limit === null ? 'no limit' : `limit ${row.show(row.limit)}`}</span>
      </div>
      {row.limit !== null && <Bar row={row} />}
      <dl className="gauge-figures">
        <Figure name="Spent" kind="spent" value={row.atLeast + row.show(row.spent)} />
        <Figure name="Held" kind="held" value={row.show(row.held)} />
        <Figure name="Unknown" kind="unknown" value={row.show(row.unknown)} />
        <Figure name="Left" kind="left" value={row.left === null ? 'no limit' : row.show(row.left)} />
      </dl>
    </div>
  );
}

/** What the limit is made of; without a limit there is nothing to draw. */
function Bar({ row }: { readonly row: BudgetRow }): ReactElement {
  const share = (amount: number): string => `${row.scale === 0 ? 0 : (amount / row.scale) * 100}%`;
  return (
    <svg className="gauge-bar" role="img" aria-label={describe(row)} width="100%" height="10">
      <rect className="fill-left" width="100%" height="10" rx="5" />
      <rect className="fill-spent" width={share(row.spent)} height="10" />
      <rect className="fill-held" x={share(row.spent)} width={share(row.held)} height="10" />
      <rect className="fill-unknown" x={share(row.spent + row.held)} width={share(row.unknown)} height="10" />
    </svg>
  );
}

function Figure({
  name,
  kind,
  value,
}: {
  readonly name: string;
  readonly kind: string;
  readonly value: string;
}): ReactElement {
  return (
    <div>
      <dt title={meanings[kind]}>
        <span className={`dot dot-${kind}`} />
        {name}
      </dt>
      <dd data-figure={kind}>{value}</dd>
    </div>
  );
}

const meanings: Readonly<Record<string, string>> = {
  spent: 'Settled by what the provider reported',
  held: 'Reserved for requests on their way; settled when they are answered',
  unknown: 'Of requests that nobody knows the end of; counted as spent until someone finds out',
  left: 'What may still be asked for',
};

const describe = (row: BudgetRow): string =>
  `${row.label}: ${row.show(row.spent)} spent, ${row.show(row.held)} held, ${row.show(row.unknown)} unknown, ${
    row.left === null ? 'no limit' : `${row.show(row.left)} left`
  }`;
