import type { Clock, Gate, IdSource } from './context.js';
import type { DatabaseOptions } from './database.js';
import { StoreError } from './errors.js';
import { createIdSource } from './ids.js';

/** The options of both engines with their defaults. */
export interface ResolvedOptions {
  readonly role: string;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly leaseMs: number;
  readonly gate: Gate | undefined;
  readonly onLost: NonNullable<DatabaseOptions['onLost']>;
}

const defaultLeaseMs = 60_000;
/** Node fires timers of more than 2^31 - 1 ms at once; a third of this is far below. */
const longestLeaseMs = 2 ** 31 - 1;

/** Resolves once and freezes. @throws StoreError `options_refused` */
export function resolveOptions(options: DatabaseOptions, defaultClock: Clock): ResolvedOptions {
  const leaseMs = options.leaseMs ?? defaultLeaseMs;
  if (!Number.isSafeInteger(leaseMs) || leaseMs < 3 || leaseMs > longestLeaseMs) {
    throw new StoreError(
      'options_refused',
      `leaseMs is ${leaseMs}; give whole milliseconds from 3 to ${longestLeaseMs}`,
    );
  }
  const clock = options.clock ?? defaultClock;
  return Object.freeze({
    role: options.role ?? 'process',
    clock,
    ids: options.ids ?? createIdSource(clock),
    leaseMs,
    gate: options.gate,
    onLost: options.onLost ?? ((): void => undefined),
  });
}
