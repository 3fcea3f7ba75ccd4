import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { messageOf, refusal, systemCode } from './errors.js';
import { type OutputPipe, openOutputPipe } from './output-pipe.js';
import { guardCommand } from './process-guard.js';
import type { ProcessRecord } from './process-record.js';
import { type ProcessEntry, currentBootId, hasProc, openTarget, readProcess } from './process-table.js';
import { ProcessTree } from './process-tree.js';

/**
 * The holder of the command: tells its number on descriptor 4, waits for `go` on descriptor 3, then runs the command with
 * its output in a pipe and tells its exit code. It stands between the command and this process, so that the command's
 * parent has the clean environment too. If this process dies before `go`, it reads the end of the pipe and runs nothing.
 */
const HOLDER = `printf 'holder %s\\n' "$$" >&4
IFS= read -r go <&3 || exit 125
[ "$go" = go ] || exit 125
exec 3<&-
{ "$1" -c "$2" 2>&1 4>&-; printf '%s\\n' "$?" >&4; } | { exec 4>&- 5>&-; PATH="/usr/bin:/bin:$PATH" exec cat; }`;

/** Exit code of a guard that has seen the end of everything below it. */
const GUARD_PROOF = 0;

/** How the command ended: its exit code, or null when its leader was killed before it could tell. */
export interface CommandEnd {
  readonly exitCode: number | null;
}

/** A command whose group exists and whose command has not begun. */
export interface HeldCommand {
  readonly record: ProcessRecord;
  readonly tree: ProcessTree;
  /** Resolves when nobody can write output any more and all of it has been given to `onOutput`. */
  readonly outputEnded: Promise<void>;
  /** True if a guard stands above the command. */
  readonly isGuarded: boolean;
  /** True while output may still be on its way to this process, once the command has ended. */
  isPiping(): Promise<boolean>;
  /** Lets the command begin. */
  release(): void;
  /** Resolves when the command itself has ended, whatever it left behind. */
  readonly ended: Promise<CommandEnd>;
  /**
   * Resolves when the leader has ended: true if its end proves that nothing the command started is left, since it was a
   * guard and nobody ended it.
   */
  readonly leaderGone: Promise<boolean>;
  /** True for processes that run the command, not of the command: leader, holder, and the holder's own children. */
  readonly isOwn: (entry: ProcessEntry) => boolean;
  /** Closes what is still open on this side. */
  dispose(): void;
}

/** What to hold. */
export interface HoldOptions {
  readonly command: string;
  readonly cwd: string;
  readonly environment: Record<string, string>;
  readonly shellPath: string;
  readonly callId: string;
  readonly operationId: string;
  /** Given standard output and standard error in the order they were written; the bytes are good until it returns. */
  readonly onOutput: (bytes: Buffer) => void;
  /** Interpreters that can be a guard. */
  readonly guardPaths: readonly string[];
}

/** The shell that commands are written for. */
export function defaultShellPath(): string {
  return existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';
}

/**
 * Starts the group with the command held.
 * @throws ToolError `not_started` or `invalid_input`, effect `none`
 */
export async function holdCommand(options: HoldOptions): Promise<HeldCommand> {
  const startedAt = Date.now();
  const { child, isGuarded, output } = await startWithOutput(options);
  const leader = await spawned(child);
  const tree = new ProcessTree({
    processGroup: leader,
    operationId: options.operationId,
    startTicks: startTicksOf(leader),
    targets: ownTargets(leader),
    isGuarded: () => isGuarded,
  });
  const record: ProcessRecord = {
    callId: options.callId,
    operationId: options.operationId,
    host: hostname(),
    processGroup: leader,
    startedAt,
    startTicks: startTicksOf(leader),
    bootId: currentBootId(),
  };
  const leaderGone = new Promise<boolean>((resolve) =>
    child.once('exit', (code) => resolve(isGuarded && code === GUARD_PROOF)),
  );
  const outputEnded = new Promise<void>((resolve) => output.once('close', () => resolve()));
  const [, , , go, status, mark] = child.stdio as unknown as [null, null, null, Writable, Readable, Readable];
  for (const stream of [go, status, mark]) stream.on('error', () => {}); // a broken pipe shows as the end of the command
  const told = new HolderWords(status);
  const holder = (): number | undefined => (isGuarded ? told.holder() : leader);
  return {
    record,
    tree,
    outputEnded,
    isGuarded,
    isPiping: async () => (await tree.living()).some(({ parent }) => parent === holder()),
    release: () => void go.end('go\n'),
    ended: told.ended,
    leaderGone,
    isOwn: ({ pid, parent }) => pid === leader || pid === holder() || parent === holder(),
    dispose() {
      for (const stream of [output, go, status, mark]) stream.destroy();
    },
  };
}

interface Started {
  readonly child: ChildProcess;
  readonly isGuarded: boolean;
  readonly output: Socket;
}

async function startWithOutput(options: HoldOptions): Promise<Started> {
  const { readEnd, writeEnd } = await pipeFor(options);
  try {
    return { ...start(options, writeEnd), output: readEnd };
  } catch (error) {
    readEnd.destroy();
    throw error;
  } finally {
    writeEnd.destroy();
  }
}

async function pipeFor({ onOutput }: HoldOptions): Promise<OutputPipe> {
  try {
    return await openOutputPipe(onOutput);
  } catch (cause) {
    const why = systemCode(cause) ?? messageOf(cause);
    throw refusal('not_started', `The command was not run: there is no pipe for its output (${why}).`, cause);
  }
}

/** Starts the holder, under a guard where there can be one. A failure here comes before anything ran. */
function start(
  { command, cwd, environment, shellPath, guardPaths }: HoldOptions,
  output: Socket,
): Omit<Started, 'output'> {
  if (command.includes('\0'))
    throw refusal('invalid_input', 'The command holds a zero byte, which no program can be given. It was not run.');
  const holderArgs = ['-c', HOLDER, 'stint', shellPath, command];
  const guard = guardCommand(holderArgs, guardPaths);
  const { file, args } = guard ?? { file: '/bin/sh', args: holderArgs };
  try {
    const child = spawn(file, args, {
      cwd,
      env: environment,
      detached: true, // a session and a group of its own, no terminal
      stdio: ['ignore', output, 'ignore', 'pipe', 'pipe', 'pipe'],
    });
    return { child, isGuarded: guard !== undefined };
  } catch (cause) {
    throw notStarted(cause);
  }
}

async function spawned(child: ChildProcess): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => reject(notStarted(cause)));
  });
  if (child.pid === undefined) throw notStarted(undefined);
  return child.pid;
}

function notStarted(cause: unknown): Error {
  const code = systemCode(cause);
  const why = code === 'E2BIG' ? 'it is too long; put it into a file and run that' : (code ?? messageOf(cause));
  return refusal('not_started', `The command was not run: ${why}.`, cause);
}

/** What the holder tells on its descriptor: its number first, then the exit code of the command. */
class HolderWords {
  /** The command's end: its exit code, or null when the holder was ended before it could tell. */
  readonly ended: Promise<CommandEnd>;
  #text = '';

  constructor(status: Readable) {
    this.ended = new Promise((resolve) => {
      status.on('data', (chunk: Buffer) => {
        this.#text += chunk.toString('latin1');
        if (this.#exitCode() !== null) resolve({ exitCode: this.#exitCode() });
      });
      status.once('close', () => resolve({ exitCode: this.#exitCode() }));
    });
  }

  holder(): number | undefined {
    const [, pid] = /^holder (\d+)$/m.exec(this.#text) ?? [];
    return pid === undefined ? undefined : Number(pid);
  }

  #exitCode(): number | null {
    const [, code] = /^(\d+)\n/m.exec(this.#text) ?? [];
    return code === undefined ? null : Number(code);
  }
}

function startTicksOf(pid: number): number | null {
  return hasProc() ? (readProcess(pid)?.startTicks ?? null) : null;
}

/** What only this command's processes hold open: its output and its mark. */
function ownTargets(leader: number): readonly string[] {
  return hasProc() ? [openTarget(leader, 1), openTarget(leader, 5)].filter((target) => target !== '') : [];
}
