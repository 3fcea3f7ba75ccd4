import type { Answer } from '../scenario.js';
import type { ActionPrompt } from './action-prompt.js';

type CheckStatus = 'passed' | 'failed' | 'deferred' | 'not_applicable';

/** What an Action hands over, before it is put into the words of `submit_outcome`. */
export interface Result {
  readonly summary: string;
  readonly evidence: readonly { readonly kind: 'text' | 'file' | 'test'; readonly value: string }[];
  /** The same judgement for every criterion: what was seen concerns all of them. */
  readonly check: { readonly status: CheckStatus; readonly evidence: string };
  readonly outputs?: readonly { readonly kind: string; readonly value: string }[];
  readonly reasoning: string;
}

/** Submits a completed outcome, with a check for every criterion of the prompt. */
export function submitCompleted(prompt: ActionPrompt, result: Result): Answer {
  const { summary, evidence, check, outputs = [], reasoning } = result;
  const input = {
    status: 'completed',
    summary: cut(summary, 3_000),
    evidence: evidence.slice(0, 32).map(({ kind, value }) => ({ kind, value: cut(value, 1_800) })),
    checks: checksFor(prompt, check.status, check.evidence),
    outputs: outputs.slice(0, 16).map(({ kind, value }) => ({ kind, value: cut(value, 12_000) })),
    ...(prompt.kind === 'review' ? { reviewDecision: 'approved' } : {}),
    residualRisks: [],
  };
  return { reasoning, toolCalls: [{ name: 'submit_outcome', input }] };
}

/** Submits that the Action cannot go on. The summary begins with `stuck`. */
export function submitStuck(prompt: ActionPrompt, reason: string): Answer {
  const input = {
    status: 'failed',
    summary: cut(`stuck: ${reason}`, 3_000),
    evidence: [{ kind: 'text', value: cut(reason, 1_800) }],
    checks: checksFor(prompt, 'failed', reason),
    outputs: [],
    residualRisks: [],
  };
  return { reasoning: `I cannot go on: ${reason}`, toolCalls: [{ name: 'submit_outcome', input }] };
}

function checksFor({ criteria }: ActionPrompt, status: CheckStatus, evidence: string) {
  return criteria.map(({ id }) => ({ criterionId: id, status, evidence: cut(evidence, 1_800) }));
}

function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const characters = Array.from(text);
  while (Buffer.byteLength(characters.join('')) > bytes - 3) characters.length = Math.floor(characters.length * 0.9);
  return `${characters.join('')}…`;
}
