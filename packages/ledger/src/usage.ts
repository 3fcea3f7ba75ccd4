import type { Usage } from '@stint/provider-hooks';
import { LedgerError } from './errors.js';
import { isCount } from './integers.js';
import { isWord, ownValue } from './names.js';
import { parseJson } from './stored-json.js';
import type { TokenAccounting } from './types.js';

const parts = [
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'totalTokens',
] as const;

/** @throws LedgerError `invalid_usage` unless every figure is an integer from 0; the hold stays open then. */
export function checkUsage(usage: Usage): void {
  if (!isObject(usage))
    throw invalid(
      'usage',
      `usage is of type ${typeof usage}; it must be an object of figures, or null if none is known`,
    );
  for (const part of parts) checkFigure(`usage.${part}`, usage[part]);
  if (usage.cacheWrite1hTokens !== undefined) checkFigure('usage.cacheWrite1hTokens', usage.cacheWrite1hTokens);
  checkCalls(usage.providerToolCalls);
  if (usage.serviceTier === undefined || (typeof usage.serviceTier === 'string' && isWord(usage.serviceTier))) return;
  throw invalid('usage.serviceTier', 'usage.serviceTier must be a word such as priority');
}

function checkCalls(calls: Usage['providerToolCalls']): void {
  if (calls === undefined || calls === null) return;
  if (!isObject(calls)) throw invalid('usage.providerToolCalls', 'usage.providerToolCalls must be counts by tool');
  for (const [tool, count] of Object.entries(calls)) checkFigure(`usage.providerToolCalls.${tool}`, count);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws LedgerError `invalid_usage` unless the cost is an integer from 0, null or absent */
export function checkCost(costMicros: unknown): void {
  if (costMicros !== undefined && costMicros !== null) checkFigure('costMicros', costMicros);
}

function checkFigure(name: string, value: unknown): void {
  if (!isCount(value)) throw invalid(name, `${name} is ${String(value)}; it must be an integer from 0 to 2^53-1`);
}

function invalid(name: string, problem: string): LedgerError {
  return new LedgerError('invalid_usage', `${problem}. The hold stays open.`, { details: { name } });
}

/** The tokens of a usage that a token cap counts; never less than its parts, whatever the total says. */
export function countedTokens(usage: Usage, accounting: TokenAccounting): number {
  const sum = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.outputTokens;
  const total = Math.max(sum, usage.totalTokens);
  return accounting === 'all' ? total : Math.max(0, total - usage.cacheReadTokens);
}

/** True if the usage says that anything was consumed. */
export function isMeasured(usage: Usage | null): usage is Usage {
  return usage !== null && countedTokens(usage, 'all') > 0;
}

/** True if both usages have the same figures. */
export function isSameUsage(left: Usage | null, right: Usage | null): boolean {
  if (left === null || right === null) return left === right;
  if (parts.some((part) => left[part] !== right[part])) return false;
  if ((left.cacheWrite1hTokens ?? 0) !== (right.cacheWrite1hTokens ?? 0)) return false;
  if (left.serviceTier !== right.serviceTier) return false;
  const leftCalls = left.providerToolCalls ?? {};
  const rightCalls = right.providerToolCalls ?? {};
  const tools = new Set([...Object.keys(leftCalls), ...Object.keys(rightCalls)]);
  return [...tools].every((tool) => (ownValue(leftCalls, tool) ?? 0) === (ownValue(rightCalls, tool) ?? 0));
}

type PackedUsage = readonly [
  number,
  number,
  number,
  number,
  number,
  number,
  (number | null)?,
  (Readonly<Record<string, number>> | null)?,
  string?,
];

/** Usage as a row keeps it: a list of input, output, cache read, cache write, reasoning, total, cache write 1 h, tool calls, tier. */
export function packUsage(usage: Usage | null): string | null {
  if (usage === null) return null;
  const packed: unknown[] = parts.map((part) => usage[part]);
  const extras = [usage.cacheWrite1hTokens, usage.providerToolCalls, usage.serviceTier];
  const last = extras.findLastIndex((extra) => extra !== undefined);
  for (const extra of extras.slice(0, last + 1)) packed.push(extra ?? null);
  return JSON.stringify(packed);
}

export function unpackUsage(text: string | null): Usage | null {
  if (text === null) return null;
  const [
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens,
    totalTokens,
    oneHour,
    calls,
    tier,
  ] = parseJson<PackedUsage>(text);
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens,
    totalTokens,
    ...(typeof oneHour === 'number' ? { cacheWrite1hTokens: oneHour } : {}),
    ...(calls == null ? {} : { providerToolCalls: calls }),
    ...(tier === undefined ? {} : { serviceTier: tier }),
  };
}
