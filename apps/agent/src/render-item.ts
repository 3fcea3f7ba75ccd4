import type { ExecutionControl, WorkItemDetail, WorkItemSummary } from '@stint/contracts';

const count = new Intl.NumberFormat('en-US');
const show = (value: number | null): string => (value === null ? 'no limit' : count.format(value));
const money = (micros: number | null): string =>
  micros === null ? 'unknown' : `$${(micros / 1_000_000).toFixed(micros > 0 && micros < 10_000 ? 6 : 2)}`;

/** One line an item, for `stint list`. */
export function renderSummary(item: WorkItemSummary): string {
  const goal = item.goalProgress ? `${item.goalProgress.completed}/${item.goalProgress.total} criteria` : 'no criteria';
  const actions = `${item.actions.completed}/${item.actions.total} actions`;
  return `${item.id}  ${item.status.padEnd(15)} ${goal}, ${actions}, ${show(item.control.spent.tokens)} tokens  ${item.title}`;
}

/** The whole of `stint show`. */
export function renderDetail(item: WorkItemDetail): string {
  return [
    `${item.contract.title}`,
    `  ${item.id}  ${item.status}${item.reason ? `: ${item.reason.message}` : ''}`,
    ...section('Criteria', criteriaLines(item)),
    ...section('Plan', item.actions.map(actionLine)),
    ...section(
      'Needs you',
      item.needs.map((need) => `${need.text}\n    ${need.command}`),
    ),
    ...section('Budget', budgetLines(item.control)),
    ...section('Result', item.finalResult ? resultLines(item) : []),
  ].join('\n');
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];

const marks: Readonly<Record<string, string>> = { passed: '[x]', failed: '[!]' };

const criteriaLines = (item: WorkItemDetail): readonly string[] =>
  (item.goalProgress?.criteria ?? []).map(
    (criterion) =>
      `${marks[criterion.status] ?? '[ ]'} ${criterion.text}${criterion.evidence ? ` (${criterion.evidence})` : ''}`,
  );

const actionLine = (action: WorkItemDetail['actions'][number]): string =>
  `${action.status.padEnd(10)} ${action.slug}: ${action.headline}${action.reason ? ` (${action.reason.message})` : ''}`;

/** What was resolved on, for the end of `stint run`. */
export function resultLines(item: WorkItemDetail): readonly string[] {
  const result = item.finalResult;
  if (!result) return [];
  return [
    result.summary,
    ...result.criteria.map(
      (criterion) =>
        `${marks[criterion.status] ?? '[ ]'} ${criterion.text}${criterion.evidence ? `: ${criterion.evidence}` : ''}`,
    ),
    ...result.outputs.map((output) => `${output.kind}: ${output.value}`),
    ...result.residualRisks.map((risk) => `risk: ${risk}`),
  ];
}

/** Limits, spent, held, unknown and left, one line a limit. */
export function budgetLines(control: ExecutionControl): readonly string[] {
  const { limits, spent, held, unknown, left } = control;
  const figures = (amount: 'tokens' | 'requests', limit: number | null): string =>
    `${amount}: limit ${show(limit)}, spent ${show(spent[amount])}, held ${show(held[amount])}, unknown ${show(unknown[amount])}, left ${show(left[amount])}`;
  return [
    figures('tokens', limits.maxTokens),
    figures('requests', limits.maxRequests),
    `money: limit ${limits.maxCostMicros === null ? 'none' : money(limits.maxCostMicros)}, spent ${control.unmeasuredRequests > 0 && spent.costMicros !== null ? 'at least ' : ''}${money(spent.costMicros)}`,
    ...(control.stopReason ? [`stopped: ${control.stopReason.message}`] : []),
  ];
}

/** What the work took so far, in a few words; what nobody knows the end of is named, since it counts. */
export function spentInWords({ spent, unknown }: ExecutionControl): string {
  const paid = `${count.format(spent.requests)} requests, ${count.format(spent.tokens)} tokens${spent.costMicros ? `, ${money(spent.costMicros)}` : ''}`;
  return unknown.requests === 0
    ? paid
    : `${paid}, and ${count.format(unknown.tokens)} tokens of ${unknown.requests} unknown`;
}
