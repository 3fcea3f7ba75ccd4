import { workItemLimits as limits } from '@stint/work-items';
import { z } from 'zod';
import { utf8Bytes } from './text-bounds.js';

/** A text of 1 to `maxBytes` bytes of UTF-8 that is not blank. */
export function boundedText(maxBytes: number): z.ZodString {
  return z
    .string()
    .refine((text) => text.trim() !== '', 'must not be blank')
    .refine((text) => utf8Bytes(text) <= maxBytes, `must be at most ${maxBytes} bytes`);
}

/** An Action's id inside its item: lower-case words joined by single hyphens. */
export const slugSchema = z
  .string()
  .max(limits.slugLength)
  .regex(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/u, 'must be lower-case words joined by hyphens, such as "fix-parser"');

export const actionSpecSchema = z.strictObject({
  id: slugSchema,
  kind: z.enum(['work', 'review', 'deliver']).default('work'),
  objective: boundedText(limits.briefBytes),
  approach: boundedText(limits.briefBytes),
  expectedResult: boundedText(limits.briefBytes),
  dependencies: z.array(slugSchema).max(limits.dependencyCount).default([]),
  workspaceMode: z.enum(['read', 'shared']).default('read'),
  checkpoint: z.boolean().default(false),
});
/** One planned Action as the Coordinator states it. */
export type ActionSpec = z.infer<typeof actionSpecSchema>;

/** Additions have a lower bound of their own; this one holds for changes of every kind together. */
const mostMutations = 72;

const mutationSchema = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('add'), action: actionSpecSchema }),
  z.strictObject({ op: z.literal('replace'), id: slugSchema, action: actionSpecSchema }),
  z.strictObject({ op: z.literal('close'), id: slugSchema, reason: boundedText(1_000) }),
  z.strictObject({ op: z.literal('supersede'), id: slugSchema, reason: boundedText(1_000) }),
  z.strictObject({
    op: z.literal('patch_dependencies'),
    id: slugSchema,
    dependencies: z.array(slugSchema).max(limits.dependencyCount),
  }),
]);

/** What an item can deliver; the same words as its delivery target. */
export const deliveryKinds = ['response', 'workspace_files', 'pull_request', 'merge'] as const;

const finalOutputSchema = z
  .strictObject({
    kind: z.enum(deliveryKinds),
    text: boundedText(16_000).optional(),
    value: boundedText(16_000).optional(),
  })
  .refine(
    (output) => (output.text === undefined) !== (output.value === undefined),
    'needs exactly one of text or value',
  )
  .transform((output) => ({ kind: output.kind, value: output.text ?? output.value ?? '' }));

export const decisionSchema = z.discriminatedUnion('decision', [
  z.strictObject({ decision: z.literal('answer'), reply: boundedText(16_000) }),
  z.strictObject({
    decision: z.literal('plan'),
    reply: boundedText(16_000).optional(),
    mutations: z.array(mutationSchema).min(1).max(mostMutations),
  }),
  z.strictObject({ decision: z.literal('ask_human'), question: boundedText(4_000) }),
  z.strictObject({
    decision: z.literal('complete'),
    summary: boundedText(8_000),
    criteria: z
      .array(
        z.strictObject({
          id: z.string().min(1).max(64),
          evidenceRunIds: z.array(z.string().min(1).max(80)).min(1).max(16),
        }),
      )
      .max(24),
    outputs: z.array(finalOutputSchema).max(16),
    residualRisks: z.array(boundedText(2_000)).max(16).default([]),
  }),
]);
/** What the Coordinator decided, as parsed from its answer. */
export type Decision = z.infer<typeof decisionSchema>;

/** A parsed decision, or one sentence for the model that says what is wrong with its answer. */
export type ParsedDecision =
  | { readonly ok: true; readonly decision: Decision }
  | { readonly ok: false; readonly reason: string };

/** Parses an answer: one JSON document, bare or inside one Markdown fence. Never throws. */
export function parseDecision(answer: string): ParsedDecision {
  const document = parseJson(unfenced(answer));
  if (document === undefined) return { ok: false, reason: 'the answer is not one JSON document' };
  const parsed = decisionSchema.safeParse(document);
  return parsed.success ? { ok: true, decision: parsed.data } : { ok: false, reason: firstIssues(parsed.error) };
}

/** The first problems that a schema found, each with its path, as one bounded sentence. */
export function firstIssues(error: z.ZodError): string {
  return error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.map(String).join('.') || 'document'}: ${issue.message}`)
    .join('; ');
}

function unfenced(answer: string): string {
  const match = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/u.exec(answer);
  return match?.[1] ?? answer;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Not JSON: the caller answers with a refusal that the model reads.
    return undefined;
  }
}
