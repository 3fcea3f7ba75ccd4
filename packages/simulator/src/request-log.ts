import { appendFileSync, writeFileSync } from 'node:fs';
import type { FaultName } from './faults.js';
import type { FinishReason, ProtocolName, ReportedUsage } from './scenario.js';

/** One request the simulator served. */
export interface ServedRequest {
  /** 1 for the first request this server saw. */
  readonly ordinal: number;
  /** The `x-client-request-id` header, which Stint sets to the turn id. */
  readonly turnId: string | null;
  readonly protocol: ProtocolName;
  readonly path: string;
  /** null when the body was never read. */
  readonly model: string | null;
  readonly stream: boolean;
  /** The HTTP status sent; null when the connection was reset before one. */
  readonly status: number | null;
  readonly fault: FaultName | null;
  /** Counted from the texts (or set by the scenario); 0 when there was no answer. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The usage put into the answer; null when there was none. A client that left early may not have seen it. */
  readonly reportedUsage: ReportedUsage | null;
  readonly finishReason: FinishReason;
  /** Names of the tools the answer calls. */
  readonly toolCalls: readonly string[];
  /** True when the whole answer, stop event included, was handed to the connection. */
  readonly complete: boolean;
  /** A scenario's exception, or why a request was refused. */
  readonly error: string | null;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** null while the request is being answered. */
  readonly endedAt: number | null;
}

/** Keeps what was served, in order of arrival, and appends each finished request to a file of JSON lines. */
export class RequestLog {
  readonly #entries = new Map<number, ServedRequest>();
  readonly #path: string | null;

  constructor(path: string | null) {
    this.#path = path;
    if (path !== null) writeFileSync(path, '', { flag: 'a', mode: 0o600 }); // fail at once if it cannot be written
  }

  get path(): string | null {
    return this.#path;
  }

  open(entry: Pick<ServedRequest, 'turnId' | 'protocol' | 'path' | 'startedAt'>): number {
    const ordinal = this.#entries.size + 1;
    this.#entries.set(ordinal, { ...blank, ...entry, ordinal });
    return ordinal;
  }

  update(ordinal: number, change: Partial<ServedRequest>): void {
    const entry = this.#entries.get(ordinal);
    if (entry !== undefined) this.#entries.set(ordinal, { ...entry, ...change });
  }

  /** Ends an entry, once. */
  end(ordinal: number, change: Partial<ServedRequest>): void {
    if (this.#entries.get(ordinal)?.endedAt !== null) return;
    this.update(ordinal, change);
    if (this.#path !== null) appendFileSync(this.#path, `${JSON.stringify(this.#entries.get(ordinal))}\n`);
  }

  all(): readonly ServedRequest[] {
    return [...this.#entries.values()];
  }
}

const blank = {
  model: null,
  stream: false,
  status: null,
  fault: null,
  inputTokens: 0,
  outputTokens: 0,
  reportedUsage: null,
  finishReason: null,
  toolCalls: [],
  complete: false,
  error: null,
  endedAt: null,
} as const;
