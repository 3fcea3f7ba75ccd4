import {
  checkOutcome as checkStored,
  isWorkItemsError,
  type Outcome as HandedOver,
  workItemLimits,
} from '@stint/work-items';
import { z } from 'zod';
import { boundedText, deliveryKinds, firstIssues } from './decision.js';
import { type ReferenceKind, referenceProblem } from './safe-reference.js';

const checkSchema = z.strictObject({
  criterionId: z.string().min(1).max(64).describe('Id of the acceptance criterion, such as c1'),
  status: z.enum(['passed', 'failed', 'deferred', 'not_applicable']),
  evidence: z.string().max(2_000).default('').describe('What shows it: a test result, a file, a sentence'),
});
/** One acceptance criterion as a Run judged it. */
export type OutcomeCheck = z.infer<typeof checkSchema>;

/** The arguments of `submit_outcome`. */
export const outcomeSchema = z.strictObject({
  status: z
    .enum(['completed', 'waiting', 'retryable', 'failed'])
    .describe(
      'completed: the expected result is there; waiting: only a person can go on; retryable: try again; failed: cannot be done',
    ),
  summary: boundedText(4_000).describe('What was done and found'),
  evidence: z
    .array(
      z.strictObject({
        kind: z.enum(['text', 'file', 'test', 'link', 'pr', 'commit']),
        value: boundedText(2_000),
      }),
    )
    .max(32)
    .default([])
    .describe('What shows that the summary is true; at least one entry to be completed'),
  checks: z.array(checkSchema).max(24).default([]).describe('One entry for each acceptance criterion'),
  outputs: z
    .array(z.strictObject({ kind: z.enum(deliveryKinds), value: boundedText(16_000) }))
    .max(16)
    .default([])
    .describe('What is handed over: the response text, or a path relative to the workspace'),
  question: boundedText(4_000).optional().describe('Only when waiting: what the person is asked'),
  residualRisks: z.array(boundedText(2_000)).max(16).default([]),
});
/** What a Run hands over when it ends by `submit_outcome`. */
export type Outcome = z.infer<typeof outcomeSchema>;

/** What an outcome is judged against. */
export interface OutcomeDuty {
  readonly kind: 'work' | 'review' | 'deliver';
  readonly criterionIds: readonly string[];
  readonly deliveryTarget: Outcome['outputs'][number]['kind'] | null;
}

/** An accepted outcome, or a sentence for the model that says what to correct. */
export type CheckedOutcome =
  | { readonly ok: true; readonly outcome: Outcome }
  | { readonly ok: false; readonly reason: string };

/** Parses and judges the arguments of `submit_outcome`. Pure; never throws. */
export function checkOutcome(input: unknown, duty: OutcomeDuty): CheckedOutcome {
  const parsed = outcomeSchema.safeParse(input);
  if (!parsed.success) return { ok: false, reason: firstIssues(parsed.error) };
  const reason = outcomeProblem(parsed.data, duty);
  return reason === null ? { ok: true, outcome: parsed.data } : { ok: false, reason };
}

function outcomeProblem(outcome: Outcome, duty: OutcomeDuty): string | null {
  return (
    referencesProblem(outcome) ??
    checksProblem(outcome.checks, duty.criterionIds) ??
    waitingProblem(outcome) ??
    (outcome.status === 'completed' ? completedProblem(outcome, duty) : null) ??
    storingProblem(outcome)
  );
}

/** What the records would refuse is refused here, where the model can mend it: a Run whose outcome cannot be stored could not end. */
function storingProblem(outcome: Outcome): string | null {
  try {
    checkStored(handedOver(outcome));
    return outcome.question === undefined ? null : questionProblem(outcome.question);
  } catch (error) {
    if (isWorkItemsError(error)) return error.message;
    throw error;
  }
}

function questionProblem(question: string): string | null {
  const bytes = Buffer.byteLength(question, 'utf8');
  return bytes <= workItemLimits.messageBytes
    ? null
    : `question: has ${bytes} bytes; at most ${workItemLimits.messageBytes} are kept`;
}

function referencesProblem(outcome: Outcome): string | null {
  for (const { kind, value } of outcome.evidence) {
    const problem = referenceProblem(kind, value);
    if (problem !== null) return `evidence: ${problem}`;
  }
  return outputsProblem(outcome.outputs);
}

/** The problem of the first output whose value is not what its kind demands, or null. */
export function outputsProblem(outputs: Outcome['outputs']): string | null {
  for (const { kind, value } of outputs) {
    const problem = referenceProblem(referenceKindOfOutput[kind], value);
    if (problem !== null) return `outputs: ${problem}`;
  }
  return null;
}

const referenceKindOfOutput: Readonly<Record<Outcome['outputs'][number]['kind'], ReferenceKind>> = {
  response: 'text',
  workspace_files: 'file',
  pull_request: 'pr',
  merge: 'commit',
};

function checksProblem(checks: readonly OutcomeCheck[], criterionIds: readonly string[]): string | null {
  const seen = new Set<string>();
  for (const check of checks) {
    if (!criterionIds.includes(check.criterionId))
      return `checks: there is no criterion "${check.criterionId}"; the criteria are ${criterionIds.join(', ') || '(none)'}`;
    if (seen.has(check.criterionId)) return `checks: criterion "${check.criterionId}" is given twice`;
    if (check.status === 'passed' && check.evidence.trim() === '')
      return `checks: criterion "${check.criterionId}" passed without evidence`;
    seen.add(check.criterionId);
  }
  return null;
}

function waitingProblem(outcome: Outcome): string | null {
  const asks = outcome.question !== undefined;
  if (outcome.status === 'waiting' && !asks) return 'question: a waiting outcome must ask the person something';
  if (outcome.status !== 'waiting' && asks) return 'question: only a waiting outcome asks; use status "waiting"';
  return null;
}

function completedProblem(outcome: Outcome, duty: OutcomeDuty): string | null {
  if (outcome.evidence.length === 0) return 'evidence: a completed outcome needs at least one entry';
  if (duty.kind === 'work') return null;
  return missingCheckProblem(outcome, duty) ?? (duty.kind === 'deliver' ? deliveryProblem(outcome, duty) : null);
}

function missingCheckProblem(outcome: Outcome, duty: OutcomeDuty): string | null {
  const missing = duty.criterionIds.filter((id) => !outcome.checks.some((check) => check.criterionId === id));
  return missing.length === 0
    ? null
    : `checks: a ${duty.kind} Action judges every criterion; missing: ${missing.join(', ')}`;
}

function deliveryProblem(outcome: Outcome, duty: OutcomeDuty): string | null {
  const target = duty.deliveryTarget;
  if (target === null || outcome.outputs.some((output) => output.kind === target)) return null;
  return `outputs: the delivery target is ${target}, and no output is of that kind`;
}

/** What the records keep of a completed Run. */
export function handedOver({ summary, evidence, checks, outputs, residualRisks }: Outcome): HandedOver {
  return { summary, evidence, checks, outputs, residualRisks };
}
