import { randomUUID } from 'node:crypto';
import { startDeadline, type Deadline } from './deadline.js';
import { isToolError, messageOf } from './errors.js';
import type { OutputStore } from './output-store.js';
import type { ProcessRecord } from './process-record.js';
import { boundResult, failure, resultOfError, resultOfValue, type RawResult, type ToolResult } from './result.js';
import {
  DEFAULT_TIMEOUT_MS,
  type InputFact,
  type Tool,
  type ToolContext,
  type ToolProgress,
  type WorkspaceFacts,
} from './tool.js';

/** What a caller gives with a call. */
export interface CallContext {
  /** Stops the call when it aborts. */
  readonly signal: AbortSignal;
  /** Id of the call, e.g. the provider's. @default a random one */
  readonly toolCallId?: string;
  readonly workspace?: WorkspaceFacts;
  /** Named points at which a test may end the process. */
  readonly gate?: (point: string) => void;
  /** Awaited with the process group before a command runs in it; a rejection means: not run. */
  readonly onProcess?: (process: ProcessRecord) => Promise<void> | void;
  /** Told each progress report of the tool. */
  readonly onProgress?: (progress: ToolProgress) => void;
}

/** What the registry knows about a call whose input is valid. */
export interface CallFacts {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly concurrencySafe: boolean;
  /** Neither read-only nor run-scoped: journal it before it starts. */
  readonly hasExternalEffect: boolean;
}

/** How long a tool may take to end after its signal aborted, before the call settles without it, unless a registry says otherwise. */
export const SETTLE_GRACE_MS = 10_000;

/** Facts of a call by its validated input. A fact that throws gets the dangerous answer. */
export function callFacts(tool: Tool, input: unknown): CallFacts {
  const readOnly = factOf(tool.readOnly, input, false);
  return {
    readOnly,
    destructive: !readOnly && factOf(tool.destructive, input, true),
    concurrencySafe: factOf(tool.concurrencySafe, input, false),
    hasExternalEffect: !readOnly && tool.sideEffectScope === 'external',
  };
}

/** What a registry gives to every call. */
export interface CallSettings {
  readonly outputs: OutputStore;
  /** Time a tool has to end after its signal aborted. */
  readonly settleGraceMs: number;
}

/** Runs one call with validated input to its one result. Never rejects, whatever the tool and the caller do. */
export async function runCall(
  tool: Tool,
  input: unknown,
  given: Partial<CallContext> | undefined,
  settings: CallSettings,
): Promise<ToolResult> {
  const context = completeContext(given);
  if (context === undefined)
    return failure('invalid_context', `${tool.name} was not run: the context of the call has no usable signal.`);
  if (context.signal.aborted) return failure('aborted', `Not run: ${messageOf(context.signal.reason)}`);
  const facts = callFacts(tool, input);
  try {
    return await runLimited({ tool, facts, settleGraceMs: settings.settleGraceMs }, input, context, settings);
  } catch (error) {
    return { ...resultOfError(error, facts.readOnly), outputBytes: Buffer.byteLength(messageOf(error)) };
  }
}

/** Undefined if what stands for the signal is none. */
function completeContext(given: Partial<CallContext> = {}): CallContext | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { signal = new AbortController().signal } = given;
  return signal instanceof AbortSignal || isSignal(signal) ? { ...given, signal } : undefined;
}

/** A signal of another realm or library. */
function isSignal(value: unknown): value is AbortSignal {
  if (typeof value !== 'object' || value === null) return false;
  const { aborted, addEventListener, removeEventListener } = value as Partial<AbortSignal>;
  return (
    typeof aborted === 'boolean' && typeof addEventListener === 'function' && typeof removeEventListener === 'function'
  );
}

async function runLimited(
  facts: Omit<Running, 'deadline'>,
  input: unknown,
  context: CallContext,
  { outputs }: CallSettings,
): Promise<ToolResult> {
  const { tool } = facts;
  const deadline = startDeadline({
    timeoutMs: limitOf(tool, input),
    absoluteTimeoutMs: tool.absoluteTimeoutMs,
    signal: context.signal,
  });
  try {
    const raw = await settle({ ...facts, deadline }, execute(tool, input, toolContext(context, deadline, outputs)));
    return await boundResult(raw, tool.outputLimitBytes, outputs);
  } finally {
    deadline.dispose();
  }
}

interface Running {
  readonly tool: Tool;
  readonly deadline: Deadline;
  readonly facts: CallFacts;
  readonly settleGraceMs: number;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown } | 'stuck';

async function settle(running: Running, finished: Promise<Outcome>): Promise<RawResult> {
  const { tool, deadline, facts, settleGraceMs } = running;
  const outcome = await untilStuck(deadline, finished, settleGraceMs);
  if (deadline.cause() !== undefined || outcome === 'stuck') return interrupted(running, outcome);
  return 'error' in outcome ? resultOfError(outcome.error, facts.readOnly) : valueResult(tool, outcome.value, facts);
}

/** The value's result; a value that cannot be shown (a cycle, say) is a failure after the effect. */
function valueResult(tool: Tool, value: unknown, facts: CallFacts): RawResult {
  try {
    const raw = resultOfValue(tool, value);
    return !raw.ok && facts.readOnly ? { ...raw, errorEffect: 'none' } : raw;
  } catch (error) {
    return resultOfError(error, facts.readOnly);
  }
}

async function execute(tool: Tool, input: unknown, context: ToolContext): Promise<Outcome> {
  try {
    return { value: await tool.execute(input, context) };
  } catch (error) {
    return { error };
  }
}

/** What the tool came to; `stuck` if it does not end within its grace after the deadline fired. */
function untilStuck(deadline: Deadline, finished: Promise<Outcome>, settleGraceMs: number): Promise<Outcome> {
  return new Promise((resolve) => {
    let isOver = false;
    let timer: NodeJS.Timeout | undefined;
    void deadline.fired.then(() => {
      if (!isOver) timer = setTimeout(resolve, settleGraceMs, 'stuck');
    });
    void finished.then((outcome) => {
      isOver = true;
      clearTimeout(timer);
      resolve(outcome);
    });
  });
}

/**
 * The result after time-out or abort. The effect is unknown unless the call could have none, or the tool proved by a
 * `ToolError` with effect `none` that nothing happened. An unknown effect after a time-out is fatal.
 */
function interrupted(running: Running, outcome: Outcome): RawResult {
  const { tool, deadline, facts } = running;
  const timedOut = deadline.cause() === 'timeout';
  const error = outcome !== 'stuck' && 'error' in outcome ? outcome.error : undefined;
  const proven = isToolError(error) && error.errorEffect === 'none';
  const errorEffect = facts.readOnly || proven ? 'none' : 'unknown';
  const fatal = timedOut && errorEffect === 'unknown' && tool.sideEffectScope !== 'run';
  const said = timedOut ? `${tool.name} did not end within ${deadline.limitMs()} ms.` : `${tool.name} was stopped.`;
  return {
    ok: false,
    output: [said, lastWords(running, outcome)].filter((part) => part !== '').join('\n'),
    code: timedOut ? 'timeout' : 'aborted',
    errorEffect,
    ...(fatal ? { fatal: true } : {}),
    ...replyFacts(tool, outcome),
  };
}

function lastWords({ tool, deadline, settleGraceMs }: Running, outcome: Outcome): string {
  if (outcome === 'stuck')
    return `It did not react within ${settleGraceMs} ms of being told to stop and may still be at work.`;
  if ('value' in outcome) return valueText(tool, outcome.value);
  return outcome.error === deadline.signal.reason ? '' : messageOf(outcome.error);
}

function valueText(tool: Tool, value: unknown): string {
  try {
    return resultOfValue(tool, value).output;
  } catch {
    return ''; // the value cannot be shown; the result already says that the call was stopped
  }
}

function replyFacts(tool: Tool, outcome: Outcome): Partial<RawResult> {
  if (outcome === 'stuck' || 'error' in outcome) return {};
  try {
    const { outputHandle, structured } = resultOfValue(tool, outcome.value);
    return {
      ...(outputHandle === undefined ? {} : { outputHandle }),
      ...(structured === undefined ? {} : { structured }),
    };
  } catch {
    return {}; // as above
  }
}

function toolContext(context: CallContext, deadline: Deadline, outputs: OutputStore): ToolContext {
  const { toolCallId = randomUUID(), workspace, gate, onProcess, onProgress } = context;
  return {
    get signal() {
      return deadline.signal;
    },
    callId: toolCallId,
    outputs,
    reportProgress(progress = {}) {
      deadline.extend();
      tell(onProgress, progress);
    },
    ...(workspace === undefined ? {} : { workspace }),
    ...(gate === undefined ? {} : { gate }),
    ...(onProcess === undefined ? {} : { onProcess }),
  };
}

/** A listener that throws is the caller's trouble, not the tool's: the call goes on. */
function tell(onProgress: CallContext['onProgress'], progress: ToolProgress): void {
  try {
    onProgress?.(progress);
  } catch (error) {
    process.emitWarning(`A listener for the progress of a tool threw: ${messageOf(error)}`, { code: 'STINT_PROGRESS' });
  }
}

/** A limit that cannot be worked out is the usual one. */
function limitOf(tool: Tool, input: unknown): number {
  if (typeof tool.timeoutMs === 'number') return tool.timeoutMs;
  try {
    const limitMs: unknown = tool.timeoutMs(input);
    return typeof limitMs === 'number' && !Number.isNaN(limitMs) ? limitMs : DEFAULT_TIMEOUT_MS;
  } catch {
    return DEFAULT_TIMEOUT_MS;
  }
}

function factOf(fact: InputFact<unknown>, input: unknown, dangerous: boolean): boolean {
  if (typeof fact === 'boolean') return fact;
  try {
    const answer: unknown = fact(input);
    return typeof answer === 'boolean' ? answer : dangerous;
  } catch {
    return dangerous; // a fact nobody can establish is taken for the dangerous one
  }
}
