import type { HookedModel } from '@stint/provider-hooks';
import { EngineError } from './errors.js';
import { createRunControl, type RunControl } from './run-control.js';
import type { EngineOptions, EnginePorts, LimitOptions, RetryOptions } from './types.js';

/** The options of a run with every default filled in. */
export interface ResolvedOptions extends EngineOptions {
  readonly models: readonly HookedModel[];
  readonly control: RunControl;
  readonly retry: Required<RetryOptions>;
  readonly limits: Required<LimitOptions>;
  readonly ports: Required<EnginePorts>;
}

/** Checks the options once; throws `invalid_options` that names the option, the value and what it must be. */
export function resolveOptions(options: EngineOptions): ResolvedOptions {
  const retry = { maxTries: 4, baseDelayMs: 1_000, maxDelayMs: 30_000, deferAfterMs: 60_000, ...options.retry };
  const limits = {
    maxTurns: 500,
    maxRepeats: 10,
    maxContinuations: 3,
    parallelTools: 4,
    ...timeouts,
    ...options.limits,
  };
  check('retry.maxTries', retry.maxTries, 1);
  check('limits.maxTurns', limits.maxTurns, 1);
  check('limits.maxRepeats', limits.maxRepeats, 2);
  check('limits.maxContinuations', limits.maxContinuations, 0);
  check('limits.parallelTools', limits.parallelTools, 1);
  for (const name of ['hookTimeoutMs', 'compactTimeoutMs'] as const) check(`limits.${name}`, limits[name], 1);
  for (const name of ['baseDelayMs', 'maxDelayMs', 'deferAfterMs'] as const) check(`retry.${name}`, retry[name], 0);
  if (options.contextTokens !== undefined) check('contextTokens', options.contextTokens, 1);
  return Object.freeze({
    ...options,
    models: [options.model, ...(options.fallbackModels ?? [])],
    control: options.control ?? createRunControl(),
    retry,
    limits,
    ports: { now: Date.now, random: Math.random, sleep, ...options.ports },
  });
}

const timeouts = { hookTimeoutMs: 30_000, compactTimeoutMs: 300_000 };

function check(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new EngineError('invalid_options', `${name} is ${value}; it must be an integer of at least ${least}.`);
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}
