import { MAX_FRAME_BYTES } from '@stint/contracts';
import { BridgeError } from './errors.js';

/** One line of the log. No field ever holds a token, a ticket, a cookie or what a person wrote. */
export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error';
  /** Noun and verb, such as `browser.connected`. */
  readonly event: string;
  readonly [field: string]: string | number | boolean | null;
}

export interface BridgeOptions {
  /** Port to listen on; 0 = any free one. */
  readonly port: number;
  /** Address to listen on; only loopback in local mode. @default '127.0.0.1' */
  readonly host?: '127.0.0.1';
  /** One person on this machine, signed in by a one-time link. @default 'local' */
  readonly mode?: 'local';
  /** Token the agent shows when it connects, at least 16 characters. It is kept as a hash. */
  readonly agentToken: string;
  /** Directory of the built page. @default the one this package carries */
  readonly pageDirectory?: string;
  /** Where log lines go. @default nowhere */
  readonly log?: (entry: LogEntry) => void;
  /** A peer that is silent for two of these is gone, ms. @default 15000 */
  readonly heartbeatMs?: number;
  /** How long a peer may take to introduce itself, ms. @default 10000 */
  readonly helloTimeoutMs?: number;
  /** How long an agent may take to answer, ms. @default 30000 */
  readonly requestTimeoutMs?: number;
  /** How long a sign-in link works, ms. @default 300000 */
  readonly ticketLifetimeMs?: number;
  /** How long a browser stays signed in, ms. @default 604800000 (7 days) */
  readonly sessionLifetimeMs?: number;
  /** Bytes that may wait for one browser, the message about to be sent included; at least one frame. @default 4 MiB */
  readonly maxBufferedBytes?: number;
  /** Requests of one browser that wait for their answer. @default 64 */
  readonly maxPendingRequests?: number;
}

/** Options with every default filled in. */
export type ResolvedOptions = Required<BridgeOptions>;

const MIN_TOKEN_LENGTH = 16;

/** Fills in defaults and refuses bad values by name. @throws BridgeError `invalid_option` */
export function resolveOptions(options: BridgeOptions, defaultPageDirectory: string): ResolvedOptions {
  const resolved: ResolvedOptions = Object.freeze({
    host: '127.0.0.1',
    mode: 'local',
    pageDirectory: defaultPageDirectory,
    log: () => undefined,
    heartbeatMs: 15_000,
    helloTimeoutMs: 10_000,
    requestTimeoutMs: 30_000,
    ticketLifetimeMs: 300_000,
    sessionLifetimeMs: 7 * 24 * 3_600_000,
    maxBufferedBytes: 4 * 1024 * 1024,
    maxPendingRequests: 64,
    ...options,
  });
  requireInteger('port', resolved.port, 0, 65_535);
  for (const name of POSITIVE_OPTIONS) requireInteger(name, resolved[name], 1, Number.MAX_SAFE_INTEGER);
  requireInteger('maxBufferedBytes', resolved.maxBufferedBytes, MAX_FRAME_BYTES, Number.MAX_SAFE_INTEGER);
  requireLocal('host', resolved.host, '127.0.0.1');
  requireLocal('mode', resolved.mode, 'local');
  if (resolved.agentToken.length < MIN_TOKEN_LENGTH) {
    throw new BridgeError(
      'invalid_option',
      `agentToken has fewer than ${MIN_TOKEN_LENGTH} characters. Make a random one.`,
    );
  }
  return resolved;
}

const POSITIVE_OPTIONS = [
  'heartbeatMs',
  'helloTimeoutMs',
  'requestTimeoutMs',
  'ticketLifetimeMs',
  'sessionLifetimeMs',
  'maxPendingRequests',
] as const;

function requireInteger(name: string, value: number, least: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new BridgeError('invalid_option', `${name} is ${value}; it must be an integer from ${least} to ${most}.`);
}

/** Callers without types may pass anything. */
function requireLocal(name: string, value: string, only: string): void {
  if (value === only) return;
  throw new BridgeError(
    'invalid_option',
    `${name} is "${value}"; this bridge runs for one person on this machine: use "${only}".`,
  );
}
