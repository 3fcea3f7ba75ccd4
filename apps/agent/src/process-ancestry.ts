import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** One process of the chain from this one up to the first. */
export interface Ancestor {
  readonly pid: number;
  readonly processGroup: number;
}

type ProcessRow = Ancestor & { readonly parent: number };

/** This process and all it descends from, nearest first. Linux reads /proc; elsewhere `ps` is asked once. */
export function ancestors(pid: number = process.pid): readonly Ancestor[] {
  const find = process.platform === 'linux' ? readProc : fromPs();
  const chain: Ancestor[] = [];
  for (let row = find(pid); row && chain.length < 1_000; row = row.parent > 0 ? find(row.parent) : undefined)
    chain.push({ pid: row.pid, processGroup: row.processGroup });
  return chain;
}

function readProc(pid: number): ProcessRow | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [, parent = '0', processGroup = '0'] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { pid, parent: Number(parent), processGroup: Number(processGroup) };
  } catch {
    return undefined; // the process has just ended, or belongs to another namespace: the chain ends here
  }
}

function fromPs(): (pid: number) => ProcessRow | undefined {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,pgid='], { encoding: 'utf8' });
  const rows = new Map(
    stdout.split('\n').map((line) => {
      const [pid = 0, parent = 0, processGroup = 0] = line.trim().split(/\s+/).map(Number);
      return [pid, { pid, parent, processGroup }] as const;
    }),
  );
  return (pid) => rows.get(pid);
}
