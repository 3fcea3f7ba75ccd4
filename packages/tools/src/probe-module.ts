import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { tailText } from './bounded-text.js';
import { messageOf } from './errors.js';

/** What a module did when it was loaded in a process of its own; undefined: nothing wrong. */
export type Fault = string | undefined;

/** Time after loading in which a module may still fail by itself. */
const SETTLE_MS = 100;
/** Time that node itself may take to start. */
const START_MS = 30_000;
/** Time for what it wrote to standard error to arrive. */
const LAST_WORDS_MS = 300;
const STDERR_KEPT = 400;
/** How node ends when it has nothing left to do but a top-level await. */
const NEVER_SETTLED = 13;

/** Loads the module it is given, and tells how that went. */
const PROGRAM = `
const send = process.send.bind(process);
const exit = process.exit.bind(process);
const wordsOf = (error) => { try { return String(error instanceof Error ? error.message : error); } catch { return 'something that cannot be shown was thrown'; } };
const told = (message) => send(message, () => exit(0));
process.once('disconnect', () => exit(1));
process.channel.unref();
process.on('uncaughtException', (error) => told({ fault: wordsOf(error) }));
send({ stage: 'loading' });
try {
  await import(process.argv[1]);
  send({ stage: 'loaded' });
  setTimeout(() => told({ stage: 'settled' }), ${SETTLE_MS});
} catch (error) {
  told({ fault: wordsOf(error) });
}
`;

interface Told {
  readonly stage?: 'loading' | 'loaded' | 'settled';
  readonly fault?: string;
}

/**
 * Loads a module in a process of its own, where it can end that process, stop it, fail later or write to standard
 * output without harm. Never rejects.
 */
export async function probeModule(url: string, limitMs: number): Promise<Fault> {
  try {
    const flags = [...moduleFlags(process.execArgv), '--input-type=module'];
    const child = spawn(process.execPath, [...flags, '-e', PROGRAM, url], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    return await new Probe(child, limitMs).verdict;
  } catch (error) {
    return `it could not be tried: ${messageOf(error)}`;
  }
}

class Probe {
  readonly verdict: Promise<Fault>;
  readonly #child: ChildProcess;
  readonly #limitMs: number;
  #timer: NodeJS.Timeout;
  #told: Told = {};
  #said = '';
  #isLate = false;

  constructor(child: ChildProcess, limitMs: number) {
    this.#child = child;
    this.#limitMs = limitMs;
    this.#timer = setTimeout(() => this.#giveUp(), START_MS);
    child.on('message', (message) => this.#take(message));
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#said = tailText(this.#said + chunk.toString('utf8'), STDERR_KEPT);
    });
    this.verdict = this.#followed().finally(() => {
      clearTimeout(this.#timer);
      child.stderr?.destroy(); // something the module started may hold it open
    });
  }

  /** The process has ended, and all it had told has arrived. */
  async #followed(): Promise<Fault> {
    const closed = once(this.#child, 'close');
    closed.catch(() => {}); // told by the next one too
    const [[code, signal]] = await Promise.all([once(this.#child, 'exit'), once(this.#child, 'disconnect')]);
    await Promise.race([closed, wait(LAST_WORDS_MS)]);
    return this.#judge(code as number | null, signal as NodeJS.Signals | null);
  }

  #take(message: unknown): void {
    const told = (typeof message === 'object' && message !== null ? message : {}) as Told;
    if (this.#told.fault === undefined) this.#told = { ...this.#told, ...told };
    if (told.stage !== 'loading') return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#giveUp(), this.#limitMs);
  }

  #giveUp(): void {
    this.#isLate = true;
    this.#child.kill('SIGKILL');
  }

  #judge(code: number | null, signal: NodeJS.Signals | null): Fault {
    const { stage, fault } = this.#told;
    const when = stage === 'loaded' ? 'after loading' : 'while loading';
    if (fault !== undefined) return `it failed ${when}: ${fault}`;
    if (this.#isLate) return `it did not finish loading within ${this.#limitMs} ms`;
    if (stage === 'settled') return undefined;
    if (code === NEVER_SETTLED) return 'it waits at its top level for something that never comes';
    const how = signal === null ? `exit code ${code}` : signal;
    const said = this.#said.trim();
    return `it ended the process (${how}) ${when}${said === '' ? '' : `. It said: ${said}`}`;
  }
}

/** Flags of this process that decide how modules are loaded (TypeScript loaders, conditions). */
function moduleFlags(flags: readonly string[]): readonly string[] {
  return flags.filter((flag, at) => isModuleFlag(flag) || (takesValue(flags[at - 1]) && !flag.startsWith('-')));
}

const MODULE_FLAG = /^(--import|--require|-r|--loader|--experimental-loader|--conditions|-C)(=|$)/;

function isModuleFlag(flag: string): boolean {
  return MODULE_FLAG.test(flag) || flag.startsWith('--experimental-strip-types');
}

function takesValue(flag: string | undefined): boolean {
  return flag !== undefined && MODULE_FLAG.test(flag) && !flag.includes('=');
}
