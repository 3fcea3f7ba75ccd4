import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { refusal } from './errors.js';
import type { ProcessRecord } from './process-record.js';
import { type ProcessEntry, currentBootId, hasProc, openTarget, readProcess } from './process-table.js';
import { ProcessTree } from './process-tree.js';

/**
 * The leader of the group: waits for `go` on descriptor 3, then runs the command with its output in a pipe and tells
 * its exit code on descriptor 4. It stands between the command and this process, so that the command's parent has the
 * clean environment too. If this process dies before `go`, the leader reads the end of the pipe and runs nothing.
 */
const LEADER = `IFS= read -r go <&3 || exit 125
[ "$go" = go ] || exit 125
exec 3<&-
{ "$1" -c "$2" 2>&1 4>&-; printf '%s\\n' "$?" >&4; } | { exec 4>&- 5>&-; PATH="/usr/bin:/bin:$PATH" exec cat; }`;

/** How the command ended: its exit code, or null when its leader was killed before it could tell. */
export interface CommandEnd {
  readonly exitCode: number | null;
}

/** A command whose group exists and whose command has not begun. */
export interface HeldCommand {
  readonly record: ProcessRecord;
  readonly tree: ProcessTree;
  /** Standard output and standard error in the order they were written. */
  readonly output: Readable;
  /** Lets the command begin. */
  release(): void;
  /** Resolves when the command itself has ended, whatever it left behind. */
  readonly ended: Promise<CommandEnd>;
  /** Resolves when the leader is gone. */
  readonly leaderGone: Promise<void>;
  /** True for processes of the holder, not of the command: the leader, and what it started to run the command. */
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
}

/** The shell that commands are written for. */
export function defaultShellPath(): string {
  return existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';
}

/** Starts the group with the command held. @throws ToolError `not_started`, effect `none` */
export async function holdCommand(options: HoldOptions): Promise<HeldCommand> {
  const { command, cwd, environment, shellPath } = options;
  const startedAt = Date.now();
  const child = spawn('/bin/sh', ['-c', LEADER, 'stint', shellPath, command], {
    cwd,
    env: environment,
    detached: true, // a session and a group of its own, no terminal
    stdio: ['ignore', 'pipe', 'ignore', 'pipe', 'pipe', 'pipe'],
  });
  const leader = await spawned(child);
  const tree = new ProcessTree({
    processGroup: leader,
    operationId: options.operationId,
    startTicks: startTicksOf(leader),
    targets: ownTargets(leader),
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
  const leaderGone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const [, output, , go, status, mark] = child.stdio as unknown as [null, Readable, null, Writable, Readable, Readable];
  for (const stream of [output, go, status, mark]) stream.on('error', () => {}); // a broken pipe shows as the end of the command
  return {
    record,
    tree,
    output,
    release: () => void go.end('go\n'),
    ended: commandEnd(status, leaderGone),
    leaderGone,
    isOwn: ({ pid, parent }) => pid === leader || parent === leader,
    dispose() {
      for (const stream of [output, go, status, mark]) stream.destroy();
    },
  };
}

async function spawned(child: ChildProcess): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => reject(refusal('not_started', 'The shell could not be started.', cause)));
  });
  if (child.pid === undefined) throw refusal('not_started', 'The shell could not be started.');
  return child.pid;
}

/** The exit code the leader tells; if it was killed, null. */
async function commandEnd(status: Readable, leaderGone: Promise<void>): Promise<CommandEnd> {
  const told = new Promise<string>((resolve) => {
    let text = '';
    status.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.includes('\n')) resolve(text);
    });
    status.once('close', () => resolve(text));
  });
  const text = await Promise.race([told, leaderGone.then(() => told)]);
  return { exitCode: /^\d+\n/.test(text) ? Number.parseInt(text, 10) : null };
}

function startTicksOf(pid: number): number | null {
  return hasProc() ? (readProcess(pid)?.startTicks ?? null) : null;
}

/** What only this command's processes hold open: its output and its mark. */
function ownTargets(leader: number): readonly string[] {
  return hasProc() ? [openTarget(leader, 1), openTarget(leader, 5)].filter((target) => target !== '') : [];
}
