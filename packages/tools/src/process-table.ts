import { execFile } from 'node:child_process';
import { closeSync, existsSync, openSync, readSync, readdirSync, readlinkSync } from 'node:fs';
import { promisify } from 'node:util';

/** One process as the system shows it. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Start in clock ticks after boot (Linux), else 0: with the pid, the identity of a process. */
  readonly startTicks: number;
  /** Ended, and waiting only for its parent to notice. */
  readonly isZombie: boolean;
  /** Short name of the program, where it is told without asking twice (Linux). */
  readonly name?: string;
}

/** True where `/proc` tells environment and open files of other processes. */
export function hasProc(): boolean {
  return process.platform === 'linux' && existsSync('/proc/self/stat');
}

/** All processes. On Linux from `/proc`; elsewhere from `ps`. */
export async function listProcesses(): Promise<readonly ProcessEntry[]> {
  return hasProc() ? listFromProc() : listFromPs();
}

let recent: { readonly at: number; readonly entries: Promise<readonly ProcessEntry[]> } | undefined;

/** All processes as they were at most `maxAgeMs` ago: many commands at once share one look. */
export function recentProcesses(maxAgeMs: number): Promise<readonly ProcessEntry[]> {
  const now = performance.now();
  if (recent === undefined || now - recent.at > maxAgeMs) recent = { at: now, entries: listProcesses() };
  return recent.entries;
}

/** The process with this number, or undefined. Linux only. */
export function readProcess(pid: number): ProcessEntry | undefined {
  const stat = readProc(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : parseStat(pid, stat);
}

/** Numbers of the children of a process at this moment, much sooner told than a look at all processes. Linux only, else none. */
export function childrenOf(pid: number): readonly number[] {
  const children = readProc(`/proc/${pid}/task/${pid}/children`)?.trim() ?? '';
  return children === '' ? [] : children.split(' ').map(Number);
}

/** True if `name=value` stands in the environment the process was started with. False if it may not be read. */
export function hasInEnvironment(pid: number, assignment: string): boolean {
  const environment = readProc(`/proc/${pid}/environ`);
  return environment !== undefined && `\0${environment}`.includes(`\0${assignment}\0`);
}

/** Targets (`pipe:[17]`) of the open descriptors of a process; empty if they may not be read. */
export function openTargets(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => openTarget(pid, fd));
  } catch {
    return []; // gone, or not ours
  }
}

/** Target of one descriptor, or an empty text. */
export function openTarget(pid: number, fd: number | string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return ''; // closed meanwhile
  }
}

/** Command line for a message, or an empty text. */
export function commandLine(pid: number): string {
  return readProc(`/proc/${pid}/cmdline`, 'utf8')?.replaceAll('\0', ' ').trim() ?? '';
}

/** Id of this boot, or null where the platform does not tell. */
export function currentBootId(): string | null {
  return hasProc() ? (readProc('/proc/sys/kernel/random/boot_id')?.trim() ?? null) : null;
}

function listFromProc(): readonly ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const entry = Number.isInteger(pid) ? readProcess(pid) : undefined;
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

/** The name in parentheses may hold anything, so fields are counted from the last one. */
function parseStat(pid: number, stat: string): ProcessEntry | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, session] = fields;
  if (state === undefined || session === undefined) return undefined;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startTicks: Number(fields[19]),
    isZombie: state === 'Z' || state === 'X',
    name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')),
  };
}

async function listFromPs(): Promise<readonly ProcessEntry[]> {
  const { stdout } = await promisify(execFile)('/bin/ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=']);
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent, group, state] = line.trim().split(/\s+/);
    if (state === undefined) return [];
    const facts = { pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, startTicks: 0 };
    return [{ ...facts, isZombie: state.startsWith('Z') }];
  });
}

/** Files of `/proc` tell no size, for which `readFile` takes 64 KiB each time: 40 MB for one look at 600 processes. */
let lookBuffer = Buffer.alloc(0);

function readProc(path: string, encoding: 'latin1' | 'utf8' = 'latin1'): string | undefined {
  try {
    const fd = openSync(path, 'r');
    try {
      return lookBuffer.toString(encoding, 0, fillLookBuffer(fd));
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined; // processes come and go, and some are not ours to read
  }
}

/** Reads to the end, with as much more room as that takes; returns how many bytes that were. */
function fillLookBuffer(fd: number): number {
  for (let total = 0; ; ) {
    if (total === lookBuffer.length) lookBuffer = Buffer.concat([lookBuffer], Math.max(16_384, 2 * total));
    const count = readSync(fd, lookBuffer, total, lookBuffer.length - total, null);
    if (count === 0) return total;
    total += count;
  }
}
