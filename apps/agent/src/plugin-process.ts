import { spawn } from 'node:child_process';
import { createWriteStream, fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { LoadedModule } from '@stint/tools';

/**
 * Modules of other people's tools are run in a process whose standard output is the standard error of the command: whatever
 * they print, also through descriptor 1 or a child process, nothing gets into the result. The real standard output is
 * descriptor 3 there.
 */
const REAL_OUTPUT = 3;
const MARK = 'STINT_PLUGIN_PROCESS';

type Environment = Readonly<Record<string, string | undefined>>;

/** True in the process that {@link runInPluginProcess} starts, and in none that only inherits its environment. */
export const isPluginProcess = (environment: Environment): boolean => environment[MARK] === String(process.ppid);

/** Runs a command line again in such a process, and answers with its exit code. */
export async function runInPluginProcess(words: readonly string[], environment: Environment): Promise<number> {
  const stint = fileURLToPath(new URL('./stint.js', import.meta.url));
  const child = spawn(process.execPath, [stint, ...words], {
    env: { ...environment, [MARK]: String(process.pid) },
    stdio: ['inherit', 2, 'inherit', 1],
  });
  const relay = (signal: NodeJS.Signals): void => void child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, relay);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
    });
  } finally {
    for (const signal of signals) process.off(signal, relay);
  }
}

/** The real standard output of the command, in the process for plugins. @param onError told when it cannot be written, as when its reader left */
export function openRealOutput(onError: (error: NodeJS.ErrnoException) => void): Writable {
  delete process.env[MARK]; // what is started from here is not that process
  const facts = fstatSync(REAL_OUTPUT);
  const isPipe = facts.isFIFO() || facts.isSocket();
  const output = isPipe ? new Socket({ fd: REAL_OUTPUT, readable: false }) : createWriteStream('', { fd: REAL_OUTPUT });
  return output.on('error', onError);
}

/** Writes out what is left and ends the process, whatever a plugin still has open. */
export async function endPluginProcess(output: Writable, code: number): Promise<never> {
  await new Promise<void>((resolve) => output.end(resolve));
  return process.exit(code);
}

/** Where the code of this application lies. */
const ownFolder = fileURLToPath(new URL('.', import.meta.url));

/**
 * From now on a plugin that fails outside of a call, or wants to end the process, is told of by name and the rest goes on. A fault of
 * Stint's own ends the process. Answers what each module is to be told to.
 */
export function containPlugins(note: (text: string) => void): (module: LoadedModule) => void {
  const modules: LoadedModule[] = [];
  const culprit = (stack: string): string | undefined =>
    modules.find(({ url }) => stack.includes(url) || stack.includes(fileURLToPath(url)))?.specifier;
  const exit = process.exit.bind(process);
  process.on('uncaughtException', (error: unknown) => {
    const [text, stack] = error instanceof Error ? [error.message, String(error.stack)] : [String(error), ''];
    const name = culprit(stack);
    if (name === undefined && stack.includes(ownFolder)) {
      note(`stint: ${stack}`);
      return exit(1);
    }
    note(`tools: ${name === undefined ? 'a module' : `"${name}"`} failed outside of a call: ${text}; the rest goes on`);
  });
  process.exit = (code) => {
    const name = culprit(String(new Error('who asks').stack));
    if (name === undefined) return exit(code);
    throw new Error(`"${name}" called process.exit(${code ?? ''}), which a tool may not do`);
  };
  return (module) => void modules.push(module);
}
