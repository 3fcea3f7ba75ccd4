import { exitCodes } from './exit-codes.js';
import type { Output } from './output.js';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Ctrl-C (or SIGTERM, or a terminal that is closed) once: `signal` is aborted, so that the command stops safely and says how to go on. Twice: the process ends now.
 * Dispose it when the command is done.
 */
export class Interruption implements Disposable {
  readonly #controller = new AbortController();
  readonly #output: Output;
  constructor(output: Output) {
    this.#output = output;
    for (const signal of signals) process.on(signal, this.#interrupt);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    for (const signal of signals) process.off(signal, this.#interrupt);
  }

  readonly #interrupt = (): void => {
    if (this.#controller.signal.aborted) process.exit(exitCodes.interrupted);
    this.#output.note('stopping safely… (once more: now)');
    this.#controller.abort();
  };
}
