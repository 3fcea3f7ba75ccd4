import { chmodSync, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { usageFailure } from './failure.js';

/** Where the store, tool outputs and logs live. */
export interface DataDirectory {
  readonly path: string;
  readonly store: string;
  readonly outputs: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Precedence: `--data-dir`, STINT_DATA_DIR, $XDG_DATA_HOME/stint, ~/.local/share/stint. */
export function dataDirectoryPath(flag: string | undefined, environment: Environment): string {
  if (flag) return resolve(flag);
  if (environment['STINT_DATA_DIR']) return resolve(environment['STINT_DATA_DIR']);
  const share = environment['XDG_DATA_HOME'];
  return join(share && isAbsolute(share) ? share : join(homedir(), '.local/share'), 'stint');
}

/**
 * Makes the directory if it is not there, readable by its owner alone from the start. A mode that the owner relaxed later is left.
 * @throws CommandFailure (usage) when it cannot be made
 */
export function openDataDirectory(path: string): DataDirectory {
  try {
    for (const part of [path, join(path, 'outputs')]) makePrivate(part);
  } catch (cause) {
    throw usageFailure(
      `The data directory ${path} cannot be used: ${reasonOf(cause)}. Choose another one with --data-dir.`,
      cause,
    );
  }
  return {
    path: realpathSync(path),
    store: join(realpathSync(path), 'stint.db'),
    outputs: join(realpathSync(path), 'outputs'),
  };
}

function makePrivate(path: string): void {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  mkdirSync(path, { mode: 0o700 });
  chmodSync(path, 0o700); // whatever the umask was
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/**
 * The work directory as its canonical real path. The store must lie outside of it, and it outside of the data directory: a tool that works there
 * must never reach the budget it is under.
 * @throws CommandFailure (usage)
 */
export function checkedWorkDirectory(path: string, data: DataDirectory): string {
  const real = realPathOf(path);
  if (!statSync(real).isDirectory()) throw usageFailure(`${real} is no directory. Choose another --dir.`);
  if (holds(real, data.path) || holds(data.path, real))
    throw usageFailure(
      `The directory ${real} and the data directory ${data.path} lie within each other, so a tool could reach the budget. Choose another --dir or --data-dir.`,
    );
  return real;
}

function realPathOf(path: string): string {
  try {
    return realpathSync(resolve(path));
  } catch (cause) {
    throw usageFailure(`The directory ${path} cannot be opened: ${reasonOf(cause)}.`, cause);
  }
}

/** True if `inner` is `outer` or lies beneath it. */
function holds(outer: string, inner: string): boolean {
  const way = relative(outer, inner);
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
}
