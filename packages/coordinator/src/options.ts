import type { EngineEvent, LimitOptions, RetryOptions } from '@stint/engine';
import type { LanguageModelLike } from '@stint/provider-hooks';
import type { Clock, Database, Gate } from '@stint/storage';
import type { Tool } from '@stint/tools';
import type { Action, WorkItem } from '@stint/work-items';
import { maxConcurrentActionsRange, defaultMaxConcurrentActions } from '@stint/work-items';
import type { PastAnswersOf } from './past-answers-of.js';
import { errorFacts } from './error-facts.js';
import { CoordinatorError } from './errors.js';
import type { Pricing } from './pricing.js';
import type { WatchOptions } from './watch-claim.js';

/** Asks the application for a model. The coordinator puts its hooks around it: give it bare, or of `hookProvider`. */
export interface ModelRequest {
  readonly item: WorkItem;
  readonly purpose: 'coordinator' | 'action';
}

/** Asks the application for tools beside the built-in ones. */
export interface ToolsRequest {
  readonly item: WorkItem;
  readonly action: Action;
}

/** What a running Action shows live: the engine's events, with the Run they belong to. Nothing of it is stored. */
export interface RunProgress {
  readonly itemId: string;
  readonly actionId: string;
  readonly runId: string;
  readonly event: EngineEvent;
}

/** One line of the log. `message` is for people; the other fields name what it is about. No secrets, no content. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly [field: string]: unknown;
}

export interface CoordinatorOptions {
  /** An open database whose migrations of ledger, journal and work-items have run. */
  readonly db: Database;
  /** Throw an error with `code: 'provider_not_configured'` for a model that cannot be had. */
  readonly resolveModel: (request: ModelRequest) => LanguageModelLike | Promise<LanguageModelLike>;
  /** How requests are estimated and priced. @default `pricingBy()`: the ledger's estimate and price book */
  readonly pricing?: Pricing;
  /** Past answers of providers that keep them: asked after a crash, before a person is. @default none is asked */
  readonly pastAnswersOf?: PastAnswersOf;
  /** Further tools of an Action; in read mode only read-only ones are offered. @default none */
  readonly tools?: (request: ToolsRequest) => readonly Tool[];
  /** Serve only these items; recovery stays global. @default all */
  readonly itemIds?: readonly string[];
  /** Machine id: Actions of workspaces on other machines are passed over. @default any machine */
  readonly machine?: string;
  /** Folder for whole tool outputs. @default a private temporary folder */
  readonly dataDir?: string;
  /** Where commands of the `shell` tool take allowed variables from (PATH). @default a minimal environment */
  readonly toolEnvironment?: Readonly<Record<string, string | undefined>>;
  /** Runs of this process at a time, 1 to 12. @default 3 */
  readonly maxConcurrentActions?: number;
  /** Coordinator turns of this process at a time, 1 to 12; an item has one at most. @default 3 */
  readonly maxCoordinatorTurns?: number;
  /** Longest time between two looks for work, ms; notifications wake earlier. @default 1000 */
  readonly pollMs?: number;
  /** Time between two sweeps for what dead processes left, ms. @default 5000 */
  readonly sweepMs?: number;
  readonly retry?: RetryOptions;
  readonly limits?: LimitOptions;
  /** Called at the named points at which crash tests end the process. @default nothing */
  readonly gate?: Gate;
  /** @default the database's */
  readonly clock?: Clock;
  readonly onProgress?: (progress: RunProgress) => void;
  /** @default nothing is logged */
  readonly log?: (line: LogLine) => void;
}

/** Options with every default filled in. */
export interface Services
  extends Omit<
    CoordinatorOptions,
    'itemIds' | 'machine' | 'dataDir' | 'toolEnvironment' | 'retry' | 'limits' | 'pastAnswersOf'
  > {
  readonly pastAnswersOf: PastAnswersOf | undefined;
  readonly pricing: Pricing;
  readonly tools: (request: ToolsRequest) => readonly Tool[];
  readonly itemIds: readonly string[] | undefined;
  readonly machine: string | undefined;
  readonly dataDir: string | undefined;
  readonly toolEnvironment: CoordinatorOptions['toolEnvironment'] | undefined;
  readonly maxConcurrentActions: number;
  readonly maxCoordinatorTurns: number;
  readonly pollMs: number;
  readonly sweepMs: number;
  readonly retry: RetryOptions;
  readonly limits: LimitOptions;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly onProgress: (progress: RunProgress) => void;
  readonly log: (line: LogLine) => void;
}

/** Fills in defaults. @throws CoordinatorError `invalid_option` */
export function resolveOptions(options: CoordinatorOptions, defaults: { readonly pricing: Pricing }): Services {
  const { itemIds, machine, dataDir, toolEnvironment } = options;
  return Object.freeze({
    db: options.db,
    resolveModel: options.resolveModel,
    pastAnswersOf: options.pastAnswersOf,
    itemIds,
    machine,
    dataDir,
    toolEnvironment,
    pricing: options.pricing ?? defaults.pricing,
    tools: options.tools ?? (() => []),
    maxConcurrentActions: slots('maxConcurrentActions', options.maxConcurrentActions),
    maxCoordinatorTurns: slots('maxCoordinatorTurns', options.maxCoordinatorTurns),
    pollMs: positive('pollMs', options.pollMs ?? 1_000),
    sweepMs: positive('sweepMs', options.sweepMs ?? 5_000),
    retry: options.retry ?? {},
    limits: options.limits ?? {},
    gate: options.gate ?? (() => undefined),
    clock: options.clock ?? options.db.clock,
    onProgress: options.onProgress ?? (() => undefined),
    log: options.log ?? (() => undefined),
  });
}

/** How claims are watched. */
export function watchOptions({ db, pollMs, log }: Services): WatchOptions {
  return {
    db,
    pollMs,
    onError: (error) => log({ level: 'warn', message: 'A look at a claim failed', ...errorFacts(error) }),
  };
}

function slots(name: string, value: number | undefined): number {
  const { minimum, maximum } = maxConcurrentActionsRange;
  const count = value ?? defaultMaxConcurrentActions;
  if (Number.isInteger(count) && count >= minimum && count <= maximum) return count;
  throw new CoordinatorError('invalid_option', `${name} is ${count}; give an integer from ${minimum} to ${maximum}`);
}

function positive(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new CoordinatorError('invalid_option', `${name} is ${value}; give a positive integer of milliseconds`);
}
