import { CONTRACT_LIMITS, type OperationInput, type Settings, utf8Length } from '@stint/contracts';
import { figure } from './figure.js';
import { formatCount, formatMoney } from './format.js';

/** The new-item form as it is typed: text everywhere, '' = not given. */
export interface ItemForm {
  readonly goal: string;
  readonly criteria: string;
  readonly workDir: string;
  readonly model: string;
  readonly tokens: string;
  readonly requests: string;
  readonly dollars: string;
  readonly delivery: string;
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** What must be mended before the form can be sent; each line says which field and how. */
export function problemsOf(form: ItemForm): readonly string[] {
  const lines = linesOf(form.criteria);
  const problems: string[] = [];
  if (utf8Length(form.goal) > CONTRACT_LIMITS.maxGoalBytes)
    problems.push(`The goal is longer than ${CONTRACT_LIMITS.maxGoalBytes} bytes.`);
  if (lines.length > CONTRACT_LIMITS.maxCriteria)
    problems.push(`At most ${CONTRACT_LIMITS.maxCriteria} criteria; there are ${lines.length}.`);
  const long = lines.findIndex((line) => utf8Length(line) > CONTRACT_LIMITS.maxCriterionBytes);
  if (long >= 0) problems.push(`Criterion ${long + 1} is longer than ${CONTRACT_LIMITS.maxCriterionBytes} bytes.`);
  for (const [name, text] of [
    ['Tokens', form.tokens],
    ['Requests', form.requests],
    ['Dollars', form.dollars],
  ] as const)
    if (Number.isNaN(figure(text)))
      problems.push(`${name} must be a number of 0 or more, such as 20000 or 0.50, not "${text}".`);
  if (form.delivery === 'workspace_files' && form.workDir === '')
    problems.push('Changed files need a directory to work in.');
  return problems;
}

/** The form as the `create` operation takes it; only for a form without problems. */
export function inputOf(form: ItemForm, clientMessageId: string, start: boolean): OperationInput<'create'> {
  const budget = {
    maxTokens: figure(form.tokens),
    maxRequests: figure(form.requests),
    maxCostMicros: figure(form.dollars, 1_000_000),
  };
  const preselected = form.workDir ? 'workspace_files' : 'response';
  return {
    clientMessageId,
    goal: form.goal.trim(),
    acceptanceCriteria: linesOf(form.criteria),
    workDir: form.workDir || null,
    deliveryTarget: form.delivery === 'response' || form.delivery === 'workspace_files' ? form.delivery : preselected,
    ...(form.model ? { model: form.model } : {}),
    budget: Object.fromEntries(Object.entries(budget).filter(([, value]) => value !== undefined)),
    start,
  };
}

/** What the budget buys, in plain words. */
export function budgetInWords(form: ItemForm, settings: Settings | null): string {
  const tokens = figure(form.tokens) ?? settings?.defaultLimits.maxTokens;
  const requests = figure(form.requests) ?? settings?.defaultLimits.maxRequests;
  const money = figure(form.dollars, 1_000_000);
  const parts = [
    tokens === undefined || tokens === null
      ? null
      : `at most ${formatCount(tokens)} tokens (about ${formatCount(Math.round(tokens * 0.75))} words read and written)`,
    requests === undefined || requests === null ? null : `at most ${formatCount(requests)} requests to the model`,
    money === undefined ? null : `at most ${formatMoney(money)}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? 'No limit of its own.' : `Buys ${parts.join(', ')}.`;
}
