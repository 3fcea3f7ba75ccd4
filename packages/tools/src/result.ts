import { type ErrorEffect, ToolError, isToolError, messageOf } from './errors.js';
import { cutAfter, cutBefore } from './bounded-text.js';
import type { OutputStore } from './output-store.js';
import { isReply } from './reply.js';
import type { Tool } from './tool.js';

/** Outcome of a call. Every call has exactly one; a call never rejects. */
export interface ToolResult {
  readonly ok: boolean;
  /** Text for the model, at most the tool's `outputLimitBytes`. */
  readonly output: string;
  /** Size of the whole output in bytes. */
  readonly outputBytes: number;
  /** Handle of the whole output when `output` is only a part of it; `read_file` and `grep` accept it as a path. */
  readonly outputHandle?: string;
  /** Stable code of the failure. */
  readonly code?: string;
  /** What a failed call left behind; always there when `ok` is false. */
  readonly errorEffect?: ErrorEffect;
  /** The call may go through later unchanged. */
  readonly retryable?: boolean;
  /** A time-out left the world in an unknown state: no further call may follow in this run. */
  readonly fatal?: boolean;
  /** JSON-safe facts for programs, not shown to the model; left out when larger than `outputLimitBytes`. */
  readonly structured?: unknown;
}

/** A result before its text is bounded. */
export interface RawResult extends Omit<ToolResult, 'outputBytes'> {
  readonly outputBytes?: number;
}

/** The result of a returned value, by the tool's `errorOutput` rule. */
export function resultOfValue(tool: Tool, value: unknown): RawResult {
  if (isReply(value)) {
    const { text, failure, ...facts } = value;
    return failure === undefined
      ? { ok: true, output: text, ...facts }
      : { ok: false, output: text, ...facts, ...failure };
  }
  const output = asText(value);
  const envelope = tool.errorOutput === null ? undefined : errorEnvelope(value);
  if (envelope === undefined)
    return { ok: true, output, ...(typeof value === 'object' && value !== null ? { structured: value } : {}) };
  const code = typeof envelope['code'] === 'string' ? envelope['code'] : 'tool_failed';
  return { ok: false, output, code, errorEffect: envelope['errorEffect'] === 'none' ? 'none' : 'unknown' };
}

/** The result of a thrown value. A read-only call that fails changed nothing. */
export function resultOfError(error: unknown, readOnly: boolean): RawResult {
  const known = isToolError(error) ? error : new ToolError('tool_failed', messageOf(error), { cause: error });
  const errorEffect = readOnly ? 'none' : known.errorEffect;
  return {
    ok: false,
    output: known.message,
    code: known.code,
    errorEffect,
    ...(known.retryable ? { retryable: true } : {}),
  };
}

/** A failure made by the registry itself. */
export function failure(code: string, output: string, errorEffect: ErrorEffect = 'none'): ToolResult {
  return { ok: false, output, outputBytes: Buffer.byteLength(output), code, errorEffect };
}

/**
 * Bounds the text to `limitBytes`: head, a marker with the sizes and the handle of the whole, tail. If the whole cannot
 * be kept the marker says so; the call itself still counts.
 */
export async function boundResult(raw: RawResult, limitBytes: number, outputs: OutputStore): Promise<ToolResult> {
  const length = Buffer.byteLength(raw.output);
  const outputBytes = raw.outputBytes ?? length;
  const { structured, ...rest } = raw;
  const facts = { ...rest, outputBytes, ...(jsonBytes(structured) <= limitBytes ? { structured } : {}) };
  if (length <= limitBytes) return facts;
  const bytes = Buffer.from(raw.output, 'utf8');
  const kept =
    raw.outputHandle ?? (await outputs.save(bytes).catch((error: unknown) => ({ problem: messageOf(error) })));
  const where =
    typeof kept === 'string'
      ? `the whole is ${kept}; read it with read_file`
      : `the rest could not be kept: ${kept.problem.slice(0, 120)}`;
  const marker = (left: number) => `\n[... ${left} of ${bytes.length} bytes left out; ${where} ...]\n`;
  const room = limitBytes - Buffer.byteLength(marker(bytes.length));
  const headEnd = cutBefore(bytes, Math.ceil(room * 0.75));
  const tailStart = cutAfter(bytes, bytes.length - Math.floor(room * 0.25));
  const output = bytes.toString('utf8', 0, headEnd) + marker(tailStart - headEnd) + bytes.toString('utf8', tailStart);
  return { ...facts, output, ...(typeof kept === 'string' ? { outputHandle: kept } : {}) };
}

/** Size as JSON; infinite for nothing and for what JSON cannot hold, so that both are left out. */
function jsonBytes(value: unknown): number {
  try {
    const json: string | undefined = JSON.stringify(value);
    return json === undefined ? Number.POSITIVE_INFINITY : Buffer.byteLength(json);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  const json: string | undefined = JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'bigint' ? part.toString() : part,
  );
  return json ?? ''; // undefined, a function, a symbol
}

/** The object (or the object its JSON text holds) if it has a non-empty own string `error`. */
function errorEnvelope(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const object = typeof value === 'string' ? parsedObject(value) : value;
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, 'error')) return undefined;
  const { error } = object as Record<string, unknown>;
  return typeof error === 'string' && error !== '' ? (object as Record<string, unknown>) : undefined;
}

function parsedObject(text: string): unknown {
  if (!/^\s*\{/.test(text) || text.length > 1_000_000) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // text that only looks like JSON is plain output
  }
}
