import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Tells which processes can be looked up by number from here: the host's name, a mark of the machine and, on Linux, the
 * process namespace, because two containers of one machine number their processes on their own.
 */
export function hostIdentity(): string {
  const machine = readText('/etc/machine-id') ?? '';
  const namespace = readLink('/proc/self/ns/pid') ?? '';
  const mark = createHash('sha256').update(`${machine}\n${namespace}`).digest('hex').slice(0, 8);
  return `${hostname()}/${mark}`;
}

/**
 * Start time of a process as the system tells it, with the boot it belongs to; '' when there is no such process, null
 * when this system cannot tell. Equal answers for one number mean one process.
 */
export function startIdentity(pid: number): string | null {
  if (process.platform === 'linux') return linuxStart(pid);
  if (process.platform === 'darwin') return darwinStart(pid);
  return null;
}

/** Field 22 of /proc/<pid>/stat, see proc(5), counted behind the name, which may hold blanks and brackets. */
function linuxStart(pid: number): string {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === null) return '';
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return '';
  return `${readText('/proc/sys/kernel/random/boot_id') ?? ''}:${fields[19]}`;
}

function darwinStart(pid: number): string {
  try {
    return execFileSync('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return ''; // ps ends with 1 when there is no such process
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null; // absent on this system, or the process is gone: both are answers here
  }
}

function readLink(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null; // no such namespace on this system
  }
}
