import { isCount } from './integers.js';
import { textTokens, type TextTokenOptions } from './text-tokens.js';

/** A model's answer when neither the request nor the price book says how long it may be. */
const unknownOutputTokens = 16_384;
/** What Anthropic's adapter of the AI SDK takes for thinking that is switched on without a budget. */
const defaultThinkingTokens = 1024;

/** What an allowance reads of a request's settings. */
export interface OutputSettings {
  readonly maxOutputTokens?: number | undefined;
  readonly providerOptions?: unknown;
}

/**
 * The most tokens that an answer may have: the request's maximum, else the model's ceiling, and the budget for thinking, which adapters of
 * the AI SDK add to the maximum that they send, up to the ceiling; beside them a predicted answer, of which what was guessed wrong is billed too.
 */
export function outputAllowance(
  settings: OutputSettings | undefined,
  ceiling: number | undefined,
  rules: TextTokenOptions = {},
): number {
  return answerAllowance(settings, ceiling) + predictedTokens(settings?.providerOptions, rules);
}

function answerAllowance(settings: OutputSettings | undefined, ceiling: number | undefined): number {
  const thinking = thinkingBudget(settings?.providerOptions);
  const most = settings?.maxOutputTokens;
  if (most === undefined) return ceiling ?? unknownOutputTokens + thinking;
  return ceiling !== undefined && most <= ceiling ? Math.min(most + thinking, ceiling) : most + thinking;
}

/** `{ anthropic: { thinking: { type: 'enabled', budgetTokens } } }`, `{ bedrock: { reasoningConfig: { budgetTokens } } }`. */
function thinkingBudget(providerOptions: unknown): number {
  let budget = 0;
  for (const options of valuesOf(providerOptions)) {
    for (const part of valuesOf(options)) {
      const { type, budgetTokens } = part as { type?: unknown; budgetTokens?: unknown };
      if (isCount(budgetTokens)) budget = Math.max(budget, budgetTokens);
      else if (type === 'enabled') budget = Math.max(budget, defaultThinkingTokens);
    }
  }
  return budget;
}

/** `{ openai: { prediction: { type: 'content', content } } }`. */
function predictedTokens(providerOptions: unknown, rules: TextTokenOptions): number {
  const predictions = valuesOf(providerOptions).map((options) => (options as { prediction?: unknown }).prediction);
  return predictions.reduce(
    (sum: number, each) => sum + (each == null ? 0 : textTokens(JSON.stringify(each), rules)),
    0,
  );
}

function valuesOf(value: unknown): readonly object[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).filter((member): member is object => typeof member === 'object' && member !== null);
}
