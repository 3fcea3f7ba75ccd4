import type { ErrorEffect } from './errors.js';

const REPLY = Symbol.for('@stint/tools.reply');

/** What a tool may return to say more than text: facts for the registry that plain output cannot carry. */
export interface ToolReply {
  /** Text for the model. */
  readonly text: string;
  /** Handle of the whole output, if the tool kept it itself. */
  readonly outputHandle?: string;
  /** Size of the whole output. @default size of `text` */
  readonly outputBytes?: number;
  /** JSON-safe facts for programs (exit code, counts), not shown to the model. */
  readonly structured?: unknown;
  /** Present if the call failed. */
  readonly failure?: { readonly code: string; readonly errorEffect: ErrorEffect };
}

/** Marks a value as a {@link ToolReply}, so that a tool's own object is never mistaken for one. */
export function reply(value: ToolReply): ToolReply {
  return Object.defineProperty({ ...value }, REPLY, { value: true });
}

/** True for what {@link reply} of any copy of the package made. */
export function isReply(value: unknown): value is ToolReply {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[REPLY] === true;
}
