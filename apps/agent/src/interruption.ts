import { exitCodes } from './exit-codes.js';
import type { Output } from './output.js';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Ctrl-C (or SIGTERM, or a terminal that is closed) once: `signal` is aborted, so that the command stops safely and says how to go on. Twice: the process ends now,
 * as by a kill, which nothing is lost by. Both say what comes next. Dispose it when the command is done.
 */
export class Interruption implements Disposable {
  readonly #controller = new AbortController();
  readonly #output: Output;
  readonly #next: string;
  readonly #exit: (code: number) => void;

  /**
   * @param options.next the command that goes on from here
   * @param options.exit @default process.exit
   */
  constructor(output: Output, options: { readonly next: string; readonly exit?: (code: number) => void }) {
    this.#output = output;
    this.#next = options.next;
    this.#exit = options.exit ?? ((code) => process.exit(code));
    for (const signal of signals) process.on(signal, this.#interrupt);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    for (const signal of signals) process.off(signal, this.#interrupt);
  }

  readonly #interrupt = (): void => {
    if (this.#controller.signal.aborted) {
      this.#output.note(
        `ended at once; a request on its way counts as spent until its end is known. Go on with: ${this.#next}`,
      );
      this.#exit(exitCodes.interrupted);
      return;
    }
    this.#output.note('stopping safely, as soon as what is on its way is put down; once more (Ctrl-C) ends it at once');
    this.#controller.abort();
  };
}
