import { exitCodes } from './exit-codes.js';
import type { Output } from './output.js';

/**
 * Ctrl-C (or SIGTERM) once: `signal` is aborted, so that the command stops safely and says how to go on. Twice: the process ends now.
 * Dispose it when the command is done.
 */
export class Interruption implements Disposable {
  readonly #controller = new AbortController();
  readonly #output: Output;
  constructor(output: Output) {
    this.#output = output;
    process.on('SIGINT', this.#interrupt);
    process.on('SIGTERM', this.#interrupt);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    process.off('SIGINT', this.#interrupt);
    process.off('SIGTERM', this.#interrupt);
  }

  readonly #interrupt = (): void => {
    if (this.#controller.signal.aborted) process.exit(exitCodes.interrupted);
    this.#output.note('stopping safely… (once more: now)');
    this.#controller.abort();
  };
}
