import { randomUUID } from 'node:crypto';
import { setImmediate as immediate, setTimeout as wait } from 'node:timers/promises';
import { ToolError, messageOf, refusal } from './errors.js';
import { type HeldCommand, defaultShellPath, holdCommand } from './held-command.js';
import { OutputCapture } from './output-capture.js';
import type { OutputStore } from './output-store.js';
import { DEFAULT_GUARD_PATHS } from './process-guard.js';
import type { ProcessRecord } from './process-record.js';
import { describeProcesses } from './process-tree.js';
import { type ToolReply, reply } from './reply.js';
import { type Environment, shellEnvironment } from './shell-environment.js';
import { type Tool, type ToolContext, defineTool } from './tool.js';
import type { WorkspaceState } from './workspace-state.js';

/** Options of the shell tool. */
export interface ShellOptions {
  /** Where allowed variables are taken from. @default a minimal environment */
  readonly environment?: Environment;
  /** Names of further variables that commands may see. @default [] */
  readonly environmentAllow?: readonly string[];
  /** @default '/bin/bash' if there is one, else '/bin/sh' */
  readonly shellPath?: string;
  /** Limit of a command that names none, ms. @default 90_000 */
  readonly timeoutMs?: number;
  /** Time between TERM and KILL, ms, at most 5_000. @default 1_000 */
  readonly killGraceMs?: number;
  /**
   * Interpreters (perl or python) the first of which is put above every command on Linux, to be given what leaves its
   * parent; `[]`: none, and processes are then only looked for by their marks.
   * @default ['/usr/bin/perl', '/usr/bin/python3', '/usr/local/bin/python3']
   */
  readonly guardPaths?: readonly string[];
  /** Most output bytes kept in the output file. @default 67_108_864 (64 MiB) */
  readonly keptOutputBytes?: number;
  /** Awaited with the identity of the process group before the command begins; a rejection means: not run. */
  readonly onProcess?: (process: ProcessRecord) => Promise<void> | void;
}

/** Input of `shell`. */
interface ShellInput {
  readonly command: string;
  readonly timeoutMs?: number;
}

const MAX_TIMEOUT_MS = 600_000;
/** Well below the time a call has to settle. */
const MAX_KILL_GRACE_MS = 5_000;
/** Time in which output that is on its way when the last process has ended usually arrives. */
const DRAIN_MS = 1_000;
/** How many times that long it is waited for while it goes on, or its pipe still runs: on a busy machine it may be late. */
const DRAIN_ROUNDS = 3;
/** The same under a guard, which has seen to it that nobody holds the pipe open for ever. */
const GUARDED_DRAIN_ROUNDS = 10;

const description = `Runs a command in a shell in the workspace and returns its exit code and its output (standard output and error in one). \
Nobody can answer prompts: standard input is at its end and there is no terminal. Every process the command starts is ended when it ends, at the time limit \
(timeoutMs, at most ${MAX_TIMEOUT_MS}) and when the call is stopped: do not leave anything running in the background.`;

/** The tool `shell`. */
export function shellTool(state: WorkspaceState, options: ShellOptions = {}): Tool {
  checkOptions(options);
  return defineTool({
    name: 'shell',
    description,
    inputSchema: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1 },
        timeoutMs: { type: 'integer', minimum: 1, maximum: MAX_TIMEOUT_MS },
      },
      required: ['command'],
      additionalProperties: false,
    },
    destructive: true,
    errorOutput: null,
    timeoutMs: (input) => (typeof input['timeoutMs'] === 'number' ? input['timeoutMs'] : (options.timeoutMs ?? 90_000)),
    source: 'built-in',
    outputs: state.outputs,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    execute: (input, context) => runCommand(state, options, input as unknown as ShellInput, context),
  });
}

function checkOptions({ killGraceMs = 0, timeoutMs = 1, keptOutputBytes = 0 }: ShellOptions): void {
  const isWithin = (value: number, least: number, most: number) =>
    Number.isSafeInteger(value) && value >= least && value <= most;
  if (!isWithin(killGraceMs, 0, MAX_KILL_GRACE_MS))
    throw refusal('invalid_option', `killGraceMs is ${killGraceMs}; it must be 0 to ${MAX_KILL_GRACE_MS}.`);
  if (!isWithin(timeoutMs, 1, MAX_TIMEOUT_MS))
    throw refusal('invalid_option', `timeoutMs is ${timeoutMs}; it must be 1 to ${MAX_TIMEOUT_MS}.`);
  if (!isWithin(keptOutputBytes, 0, Number.MAX_SAFE_INTEGER))
    throw refusal('invalid_option', `keptOutputBytes is ${keptOutputBytes}; it must be a whole number.`);
}

async function runCommand(
  state: WorkspaceState,
  options: ShellOptions,
  input: ShellInput,
  context: ToolContext,
): Promise<ToolReply> {
  const kept = await createOutput(context);
  try {
    const capture = new OutputCapture(kept.file, options.keptOutputBytes ?? 64 * 1024 * 1024);
    const held = await hold(state, options, input, context, capture);
    return await runHeld(held, capture, { options, context, outputs: context.outputs, handle: kept.handle });
  } catch (error) {
    await context.outputs.remove(kept.handle);
    throw error;
  } finally {
    await kept.file.close();
  }
}

async function createOutput({ outputs }: ToolContext): ReturnType<OutputStore['create']> {
  try {
    return await outputs.create();
  } catch (cause) {
    throw refusal('not_started', `The command was not run: its output could not be kept (${messageOf(cause)}).`, cause);
  }
}

async function runHeld(held: HeldCommand, capture: OutputCapture, facts: Following): Promise<ToolReply> {
  try {
    await announce(held, facts.options, facts.context);
    return await follow(held, capture, facts);
  } finally {
    held.tree.unwatch();
    held.dispose();
  }
}

function hold(
  state: WorkspaceState,
  options: ShellOptions,
  input: ShellInput,
  context: ToolContext,
  capture: OutputCapture,
): Promise<HeldCommand> {
  const operationId = randomUUID();
  const { environment, environmentAllow: allow } = options;
  return holdCommand({
    command: input.command,
    cwd: state.workspace.root,
    shellPath: options.shellPath ?? defaultShellPath(),
    callId: context.callId,
    operationId,
    onOutput: (bytes) => capture.add(bytes),
    guardPaths: options.guardPaths ?? DEFAULT_GUARD_PATHS,
    environment: shellEnvironment(operationId, {
      ...(environment === undefined ? {} : { environment }),
      ...(allow === undefined ? {} : { allow }),
    }),
  });
}

/** Tells the group to whoever records it. If that fails, or the call was stopped meanwhile, the command never begins. */
async function announce(held: HeldCommand, options: ShellOptions, context: ToolContext): Promise<void> {
  try {
    await options.onProcess?.(held.record);
    await context.onProcess?.(held.record);
    context.signal.throwIfAborted();
  } catch (cause) {
    await held.tree.end(0);
    throw new ToolError('not_started', `The command was not run: ${messageOf(cause)}`, { errorEffect: 'none', cause });
  }
}

interface Following {
  readonly options: ShellOptions;
  readonly context: ToolContext;
  readonly outputs: OutputStore;
  readonly handle: string;
}

async function follow(held: HeldCommand, capture: OutputCapture, facts: Following): Promise<ToolReply> {
  const { options, context } = facts;
  const startedAt = performance.now();
  held.tree.watch();
  held.release();
  context.gate?.('tool:during');
  const end = await Promise.race([held.ended, aborted(context.signal)]);
  const durationMs = Math.round(performance.now() - startedAt);
  const graceMs = options.killGraceMs ?? 1_000;
  if (end === 'aborted') {
    const running = await busy(held);
    const { survivors } = await held.tree.end(graceMs);
    await within(DRAIN_MS, held.outputEnded);
    const allEnded = await isProven(held, survivors);
    const title = stoppedTitle(running, durationMs, allEnded);
    return finish(capture, facts, { title, survivors, structured: { exitCode: null, durationMs, allEnded } });
  }
  const { exitCode } = end;
  const { ended } = await held.tree.end(Math.min(graceMs, 200), held.isOwn);
  const isWhole = (await Promise.race([isDrained(held, capture), aborted(context.signal)])) === true;
  const { survivors } = await held.tree.end(0);
  await within(DRAIN_MS, held.outputEnded);
  const allEnded = await isProven(held, survivors);
  const title = exitCode === null ? `the shell was killed after ${durationMs} ms` : exitTitle(exitCode, durationMs);
  return finish(capture, facts, {
    title: title + leftBehind(ended) + (isWhole ? '' : '; the end of its output may be missing'),
    survivors,
    structured: { exitCode, durationMs, allEnded },
  });
}

/** Waits until the output of a command that has ended is all there. False if that was given up. */
async function isDrained(held: HeldCommand, capture: OutputCapture): Promise<boolean> {
  const end = Promise.race([held.outputEnded, held.leaderGone]).then(() => true);
  for (let round = 0; round < (held.isGuarded ? GUARDED_DRAIN_ROUNDS : DRAIN_ROUNDS); round += 1) {
    const before = capture.totalBytes;
    if (await within(DRAIN_MS, end)) return true;
    await immediate(); // a busy process sees that the time is over before it sees what has come meanwhile
    if (capture.totalBytes === before && !(await held.isPiping())) return true;
  }
  return false;
}

/** True if it is proven, not only seen, that nothing is left. */
async function isProven({ leaderGone }: HeldCommand, survivors: readonly number[]): Promise<boolean> {
  return survivors.length === 0 && (await within(DRAIN_MS, leaderGone)) === true;
}

function aborted(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('aborted');
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true });
  });
}

/** What the command was busy with. */
async function busy(held: HeldCommand): Promise<string> {
  return describeProcesses((await held.tree.living()).filter((entry) => !held.isOwn(entry)));
}

/** What the promise gives, or undefined after the limit. */
async function within<T>(limitMs: number, promise: Promise<T>): Promise<T | undefined> {
  const controller = new AbortController();
  const limit = wait(limitMs, undefined, { signal: controller.signal }).catch(() => undefined); // the catch is its cancelling
  const value = await Promise.race([promise, limit]);
  controller.abort();
  return value;
}

interface Ending {
  readonly title: string;
  readonly survivors: readonly number[];
  readonly structured: Readonly<Record<string, unknown>>;
}

async function finish(
  capture: OutputCapture,
  { outputs, handle }: Following,
  { title, survivors, structured }: Ending,
): Promise<ToolReply> {
  const survived = survivors.length === 0 ? '' : `; processes that could not be ended: ${survivors.join(', ')}`;
  const facts = { ...structured, survivors };
  const body = capture.totalBytes === 0 ? '(no output)' : capture.text();
  if (capture.isWhole) {
    await outputs.remove(handle);
    return reply({ text: `${title}${survived}\n${body}`, structured: facts });
  }
  const part = capture.keptBytes < capture.totalBytes ? `, first ${capture.keptBytes} bytes` : '';
  const where =
    capture.keptBytes === 0
      ? 'The rest could not be kept.'
      : `All ${capture.totalBytes} bytes: ${handle}${part} (read_file, grep).`;
  return reply({
    text: `${title}.${survived} ${where}\n${body}`,
    outputHandle: handle,
    outputBytes: capture.totalBytes,
    structured: facts,
  });
}

function exitTitle(exitCode: number, durationMs: number): string {
  const signal = exitCode > 128 && exitCode < 160 ? ` (signal ${exitCode - 128})` : '';
  return `exit code ${exitCode}${signal} after ${durationMs} ms`;
}

function stoppedTitle(running: string, durationMs: number, allEnded: boolean): string {
  const busyWith = running === '' ? '' : ` while waiting for ${running}`;
  return `Stopped after ${durationMs} ms${busyWith}; every process ${allEnded ? '' : 'that was seen '}was ended`;
}

function leftBehind(ended: readonly number[]): string {
  return ended.length === 0
    ? ''
    : `; ended ${ended.length} process${ended.length === 1 ? '' : 'es'} left in the background`;
}
