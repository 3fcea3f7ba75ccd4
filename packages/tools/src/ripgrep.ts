import { ToolError } from './errors.js';

/** Where ripgrep runs. */
export interface RipgrepOptions {
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Descriptor to search instead of files. */
  readonly stdin?: number;
}

/** Files looked at, so that a disk of millions ends in time and memory. */
export const MAX_FILES = 200_000;

/** Longest line of ripgrep's output that is taken, in characters. */
const MAX_LINE_CHARACTERS = 128 * 1024 * 1024;
const STDERR_SHOWN = 500;

/**
 * Runs ripgrep without any configuration or environment and yields the lines it prints. Its regular expressions take
 * linear time, and it is another process: no pattern can stop this one. Leaving the loop ends it.
 * @throws ToolError `search_failed` with what ripgrep said; the signal's reason when aborted
 */
export async function* ripgrep(args: readonly string[], options: RipgrepOptions): AsyncGenerator<string> {
  const [{ execa }, { rgPath }] = await Promise.all([import('execa'), import('@vscode/ripgrep')]);
  const child = execa(rgPath, ['--no-config', '--color=never', ...args], {
    cwd: options.cwd,
    env: {},
    extendEnv: false,
    stdin: options.stdin === undefined ? 'ignore' : (options.stdin as 3), // any descriptor works; the types end at 9
    stdout: 'pipe',
    stderr: 'pipe',
    buffer: { stdout: false, stderr: true },
    maxBuffer: { stderr: 64 * 1024 },
    reject: false,
    cancelSignal: options.signal,
    forceKillAfterDelay: 200,
  });
  let complete = false;
  try {
    for await (const line of child.iterable({ preserveNewlines: false })) {
      if (line.length <= MAX_LINE_CHARACTERS) yield line;
    }
    complete = true;
  } finally {
    if (!complete) child.kill('SIGKILL');
  }
  const result = await child;
  options.signal.throwIfAborted();
  if (result.exitCode !== 0 && result.exitCode !== 1) {
    const said = String(result.stderr ?? '').slice(0, STDERR_SHOWN);
    throw new ToolError('search_failed', `The search failed: ${said || result.shortMessage}`, { errorEffect: 'none' });
  }
}

/** Paths of the files below a folder that ignore files do not name, at most {@link MAX_FILES}, and `.git` left out. */
export async function listFiles(args: readonly string[], options: RipgrepOptions): Promise<ReadonlySet<string>> {
  const files = new Set<string>();
  const fixed = ['--files', '--hidden', '--no-require-git', '--sort=path'];
  for await (const file of ripgrep([...fixed, ...args, '--glob=!.git'], options)) {
    files.add(file);
    if (files.size >= MAX_FILES) break;
  }
  return files;
}
