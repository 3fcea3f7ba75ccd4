import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const stintPath = fileURLToPath(new URL('../../apps/agent/dist/stint.js', import.meta.url));

/** A fresh data directory of its own. */
export const freshDataDirectory = (): string => join(mkdtempSync(join(tmpdir(), 'stint-data-')), 'data');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What `stint run --json` and `stint watch --json` end with. */
export interface RunDocument {
  readonly id: string;
  readonly status: string;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string | null;
  readonly finalResult: {
    readonly summary: string;
    readonly criteria: readonly {
      readonly id: string;
      readonly status: string;
      readonly evidenceRunIds: readonly string[];
      readonly evidence: string;
    }[];
    readonly outputs: readonly { readonly kind: string; readonly value: string }[];
  } | null;
  readonly usage: { readonly requests: number; readonly tokens: number; readonly costMicros: number | null };
  readonly needs: readonly { readonly kind: string; readonly text: string; readonly command: string }[];
}

export interface StintOptions {
  readonly dataDirectory: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Program to run instead of the `stint` command; gets the same words. */
  readonly program?: string;
  readonly cwd?: string;
}

/** The environment of a fresh machine: no keys, no configuration of whoever runs the tests. */
export const cleanEnvironment = (extra: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: tmpdir(),
  NO_COLOR: '1',
  ...extra,
});

/** Starts a stint command as a real process. */
export function startStint(words: readonly string[], options: StintOptions) {
  const child = spawn(process.execPath, [options.program ?? stintPath, ...words, '--data-dir', options.dataDirectory], {
    env: cleanEnvironment(options.environment),
    cwd: options.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, ended, stdout: () => stdout, stderr: () => stderr };
}

/** Runs a stint command to its end. */
export const stint = (words: readonly string[], options: StintOptions): Promise<Ended> =>
  startStint(words, options).ended;

/** The last JSON document of a command's stdout; fails with all it printed when there is none. */
export function documentOf<T = RunDocument>(ended: Ended): T {
  const last = ended.stdout.trim().split('\n').at(-1) ?? '';
  try {
    return JSON.parse(last) as T;
  } catch (cause) {
    throw new Error(`no JSON at the end of stdout (exit ${ended.code}):\n${ended.stdout}\n${ended.stderr}`, { cause });
  }
}

/** The words of a printed command such as `stint answer ID "your answer"`, without the leading `stint`. */
export function wordsOf(command: string): string[] {
  const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  if (words.shift() !== 'stint') throw new Error(`not a stint command: ${command}`);
  return words;
}
