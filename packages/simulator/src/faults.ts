/** How far the client gets: no part of an answer, a part, or an answer that is whole (if odd). */
export type Reach = 'nothing' | 'part' | 'whole';

interface FaultFacts {
  /** The HTTP status the client sees; null when it sees none. */
  readonly status: number | null;
  readonly reach: Reach;
  readonly summary: string;
}

const facts = {
  rate_limit: { status: 429, reach: 'nothing', summary: '429 without Retry-After' },
  rate_limit_retry_after: { status: 429, reach: 'nothing', summary: '429 with Retry-After (option retryAfter)' },
  overloaded: { status: 529, reach: 'nothing', summary: '529, the provider is overloaded' },
  unauthorized: { status: 401, reach: 'nothing', summary: '401, the key is refused' },
  bad_request: { status: 400, reach: 'nothing', summary: '400, the request is refused' },
  server_error_before_bytes: { status: 500, reach: 'nothing', summary: '500 before any byte of an answer' },
  server_error_after_bytes: { status: 200, reach: 'part', summary: 'an error event in the middle of the answer' },
  reset_before_read: { status: null, reach: 'nothing', summary: 'connection reset before the body was read' },
  reset_after_read: { status: null, reach: 'nothing', summary: 'connection reset after the body was read' },
  stream_cut: { status: 200, reach: 'part', summary: 'connection reset in the middle of the answer' },
  stream_end_without_stop: { status: 200, reach: 'part', summary: 'a clean end before the stop event' },
  done_without_reason: { status: 200, reach: 'whole', summary: 'the done marker without a finish reason' },
  empty_body: { status: 200, reach: 'nothing', summary: 'status 200 and no body' },
  no_usage: { status: 200, reach: 'whole', summary: 'an answer without usage' },
  zero_usage: { status: 200, reach: 'whole', summary: 'an answer whose usage is all zero' },
  cumulative_usage: { status: 200, reach: 'whole', summary: 'usage so far in every event, the last one is the total' },
  malformed_json: { status: 200, reach: 'part', summary: 'one event (or the body) that is not JSON' },
  slow_drip: { status: 200, reach: 'whole', summary: 'the answer in small writes that split events and characters' },
  keep_alives_only: { status: 200, reach: 'nothing', summary: 'keep-alives and nothing else, until the client leaves' },
  huge_chunk: { status: 200, reach: 'whole', summary: 'one event of a mebibyte (option bytes)' },
  tool_arguments_cut: {
    status: 200,
    reach: 'part',
    summary: 'finish reason length in the middle of the last tool call',
  },
  redirect: { status: 307, reach: 'nothing', summary: '307 to /redirected/..., which answers and is logged' },
} as const satisfies Record<string, FaultFacts>;

/** The name of a fault. */
export type FaultName = keyof typeof facts;

/** A fault with its settings. */
export interface Fault {
  readonly name: FaultName;
  /** Value of Retry-After: seconds, a date, or nonsense. For `rate_limit_retry_after`. @default '1' */
  readonly retryAfter?: string | undefined;
  /** Milliseconds between writes, for `slow_drip` and `keep_alives_only`. @default 5 and 50 */
  readonly delayMs?: number | undefined;
  /** Size of the event, for `huge_chunk`. @default 1048576 */
  readonly bytes?: number | undefined;
}

/** Every fault, to generate a test matrix from. */
export const faultNames = Object.freeze(Object.keys(facts)) as readonly FaultName[];

/** What a client sees of a fault, to state what is expected of it. */
export function describeFault(name: FaultName): FaultFacts {
  return facts[name];
}

/**
 * Turns a name or a fault into a fault.
 * @throws TypeError for a name that is not in `faultNames`
 */
export function toFault(fault: FaultName | Fault): Fault {
  const resolved = typeof fault === 'string' ? { name: fault } : fault;
  if (!Object.hasOwn(facts, resolved.name)) {
    throw new TypeError(`Unknown fault '${String(resolved.name)}'. Known: ${faultNames.join(', ')}.`);
  }
  return resolved;
}
