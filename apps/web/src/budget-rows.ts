import type { ExecutionControl } from '@stint/contracts';
import { formatCount, formatMoney } from './format.js';

/** One bar of the gauge. `scale` is what the whole bar stands for: the limit, or all that is charged where there is none. */
export interface BudgetRow {
  readonly name: 'tokens' | 'requests' | 'money';
  readonly label: string;
  readonly limit: number | null;
  readonly spent: number;
  readonly held: number;
  readonly unknown: number;
  readonly left: number | null;
  readonly scale: number;
  /** "at least " when the cost of some requests is not known. */
  readonly atLeast: string;
  readonly show: (amount: number) => string;
}

/** The bars worth showing: tokens and requests always, money when it is limited or known. */
export function budgetRows(control: ExecutionControl): readonly BudgetRow[] {
  const rows: BudgetRow[] = [
    row(
      control,
      'tokens',
      'Tokens',
      control.limits.maxTokens,
      control.left.tokens,
      (amount) => amount.tokens,
      formatCount,
    ),
    row(
      control,
      'requests',
      'Requests',
      control.limits.maxRequests,
      control.left.requests,
      (amount) => amount.requests,
      formatCount,
    ),
  ];
  const costs = control.charged.costMicros;
  if (control.limits.maxCostMicros !== null || (costs !== null && costs > 0))
    rows.push(
      row(
        control,
        'money',
        'Money',
        control.limits.maxCostMicros,
        control.left.costMicros,
        (amount) => amount.costMicros ?? 0,
        formatMoney,
      ),
    );
  return rows;
}

type Amounts = Pick<ExecutionControl, 'charged' | 'spent' | 'held' | 'unknown' | 'unmeasuredRequests'>;

function row(
  amounts: Amounts,
  name: BudgetRow['name'],
  label: string,
  limit: number | null,
  left: number | null,
  read: (amount: ExecutionControl['spent']) => number,
  show: (amount: number) => string,
): BudgetRow {
  const spent = read(amounts.spent);
  const held = read(amounts.held);
  const unknown = read(amounts.unknown);
  const scale = Math.max(limit ?? 0, spent + held + unknown);
  const atLeast = name === 'money' && amounts.unmeasuredRequests > 0 ? 'at least ' : '';
  return { name, label, limit, spent, held, unknown, left, scale, atLeast, show };
}
