import type * as z from 'zod';
import { utf8Length } from './bytes.js';
import {
  agentFrameSchema,
  bridgeToAgentFrameSchema,
  bridgeToBrowserFrameSchema,
  browserFrameSchema,
  type AgentFrame,
  type BridgeToAgentFrame,
  type BridgeToBrowserFrame,
  type BrowserFrame,
} from './frames.js';
import { DTO_LIMITS, MAX_BROWSER_FRAME_BYTES, MAX_FRAME_BYTES } from './limits.js';
import { cutToBytes } from './bytes.js';

/** Why a frame could not be read. */
export interface FrameError {
  readonly code: 'too_large' | 'not_json' | 'unknown_frame' | 'invalid_frame';
  readonly message: string;
  /** The request's id where the frame had one, so that the answer can carry it. */
  readonly requestId: string | null;
}

export type Decoded<F> = { readonly ok: true; readonly frame: F } | { readonly ok: false; readonly error: FrameError };

/** @returns the frame as the text that goes over the socket. */
export function encodeFrame(frame: BrowserFrame | AgentFrame | BridgeToAgentFrame | BridgeToBrowserFrame): string {
  return JSON.stringify(frame);
}

/** Reads what a browser sent to the bridge. Strict; at most 256 KiB. */
export function decodeBrowserFrame(text: string): Decoded<BrowserFrame> {
  return decode(text, browserFrameSchema, MAX_BROWSER_FRAME_BYTES);
}

/** Reads what an agent sent to the bridge. Unknown keys are dropped. */
export function decodeAgentFrame(text: string): Decoded<AgentFrame> {
  return decode(text, agentFrameSchema, MAX_FRAME_BYTES);
}

/** Reads what the bridge sent to an agent. Strict. */
export function decodeBridgeToAgentFrame(text: string): Decoded<BridgeToAgentFrame> {
  return decode(text, bridgeToAgentFrameSchema, MAX_FRAME_BYTES);
}

/** Reads what the bridge sent to a browser. Unknown keys are dropped; a frame type of a newer bridge is `unknown_frame`: ignore it. */
export function decodeBridgeToBrowserFrame(text: string): Decoded<BridgeToBrowserFrame> {
  return decode(text, bridgeToBrowserFrameSchema, MAX_FRAME_BYTES);
}

const KNOWN_TYPES = new Set([
  'hello',
  'request',
  'response',
  'event',
  'progress',
  'presence',
  'attach',
  'attached',
  'resync',
  'heartbeat',
]);

function decode<F>(text: string, schema: z.ZodType<F>, maxBytes: number): Decoded<F> {
  if (text.length > maxBytes || utf8Length(text) > maxBytes) {
    return refuse('too_large', `The frame has more than ${maxBytes} bytes. Send less at once.`, null);
  }
  const parsed = parseJson(text);
  if (!parsed.ok) return refuse('not_json', 'The frame is not JSON. Send one JSON object a message.', null);
  const raw = parsed.value;
  const result = schema.safeParse(raw);
  if (result.success) return { ok: true, frame: result.data };
  const type = property(raw, 'type');
  if (typeof type !== 'string' || !KNOWN_TYPES.has(type)) {
    return refuse('unknown_frame', `The frame type ${describe(type)} is not known.`, requestIdOf(raw));
  }
  return refuse('invalid_frame', `The ${type} frame is not valid: ${describeIssues(result.error)}`, requestIdOf(raw));
}

function parseJson(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    // The text itself is not repeated: it may hold anything.
    return { ok: false };
  }
}

/** @returns one line that names each field at fault and what it must be; values are not repeated. */
export function describeIssues(error: z.ZodError): string {
  const lines = error.issues.slice(0, 5).map((issue) => `${issue.path.join('.') || 'it'}: ${issue.message}`);
  return cutToBytes(lines.join('; '), DTO_LIMITS.maxLineBytes - 128);
}

function refuse(code: FrameError['code'], message: string, requestId: string | null): { ok: false; error: FrameError } {
  return { ok: false, error: { code, message, requestId } };
}

function requestIdOf(raw: unknown): string | null {
  const id = property(raw, 'id');
  return typeof id === 'string' && id !== '' && id.length <= DTO_LIMITS.maxIdBytes ? id : null;
}

function property(raw: unknown, name: string): unknown {
  return typeof raw === 'object' && raw !== null && Object.hasOwn(raw, name) ? Reflect.get(raw, name) : undefined;
}

function describe(type: unknown): string {
  return typeof type === 'string' ? `"${cutToBytes(type, 64)}"` : 'that is missing';
}
