import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const built = new URL('../dist/index.js', import.meta.url).href;

/** Another process that has the built package as `storage` and its arguments as `args`, and prints JSON lines. */
export interface Child {
  readonly process: ChildProcess;
  /** The next line it prints. Rejects when it ends before. */
  next(): Promise<unknown>;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

/** Runs module code in a process of its own. `say(value)` prints a line; the process is killed with `kill -9` by tests. */
export function startChild(code: string, ...args: readonly string[]): Child {
  const prelude = `import * as storage from ${JSON.stringify(built)};
    const args = process.argv.slice(1);
    const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');\n`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', prelude + code, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'exit').then(([exitCode, signal]: unknown[]) => (exitCode ?? signal) as number | string);
  return {
    process: child,
    ended,
    async next() {
      const line = await lines.next();
      if (line.done === true) throw new Error(`the child ended with ${await ended} before it said more`);
      return JSON.parse(line.value);
    },
  };
}
