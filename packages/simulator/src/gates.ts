/** Named gates: a stream waits at a closed one, a test sees that it was reached and opens it. Open stays open. */
export class Gates {
  readonly #reached = new Map<string, PromiseWithOpener>();
  readonly #opened = new Map<string, PromiseWithOpener>();

  /** Waits until the gate is open, or the signal is aborted. */
  async pass(name: string, signal: AbortSignal): Promise<void> {
    promiseFor(this.#reached, name).open();
    await openOrAborted(promiseFor(this.#opened, name).promise, signal);
  }

  open(name: string): void {
    promiseFor(this.#opened, name).open();
  }

  /** Settles when a stream waits at the gate, or has passed it. */
  async reached(name: string): Promise<void> {
    await promiseFor(this.#reached, name).promise;
  }
}

/** Waits some time, or until the signal is aborted. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds <= 0 || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}

interface PromiseWithOpener {
  readonly promise: Promise<void>;
  readonly open: () => void;
}

function promiseFor(promises: Map<string, PromiseWithOpener>, name: string): PromiseWithOpener {
  const known = promises.get(name);
  if (known !== undefined) return known;
  let open: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  const made = { promise, open };
  promises.set(name, made);
  return made;
}

async function openOrAborted(opened: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let leave: () => void = () => undefined;
  const aborted = new Promise<void>((resolve) => {
    leave = resolve;
  });
  signal.addEventListener('abort', leave, { once: true });
  await Promise.race([opened, aborted]);
  signal.removeEventListener('abort', leave);
}
