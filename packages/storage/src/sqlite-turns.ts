import { closeSync, openSync, statSync, unlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process that writes all the time looks this often whether another waits. */
const lookEveryMs = 1;
/** It then leaves the store for at most so long: whoever waits looks for it at least as often, but may wait for a processor too. */
const longestPauseMs = 50;

/**
 * Turns between processes that write all the time. SQLite lets whoever comes first have the store, and a process that has just committed
 * always comes first. So one that has waited for a while puts a file beside the store, and who has the store leaves it when it sees that.
 * The file is a wish, not a lock: without it, or with one that somebody left behind, every write is done all the same, a little later.
 */
export class SqliteTurns {
  readonly #path: string;
  #lookedMs = 0;
  #asked = false;
  /** A wish that this user may not take away would hold up every write for nothing. */
  #ignores = false;

  /** @param storePath the store file */
  constructor(storePath: string) {
    this.#path = `${storePath}-turn`;
  }

  /** True if another process asks for its turn. Costs one look at the folder a millisecond, however often it is called. */
  isWanted(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#lookedMs < lookEveryMs || this.#ignores) return false;
    this.#lookedMs = nowMs;
    return this.#isThere();
  }

  /** Leaves the store until the other process had its turn; a wish that nobody withdraws is taken away. */
  async pause(): Promise<void> {
    const startedMs = performance.now();
    while (!this.#ignores && this.#isThere()) {
      if (performance.now() - startedMs >= longestPauseMs) return this.#remove();
      await sleep(1);
    }
  }

  /** Asks for a turn; again at each call, since another one that waits may have withdrawn the wish with its own. */
  ask(): void {
    this.#asked = true;
    try {
      closeSync(openSync(this.#path, 'wx', 0o600));
    } catch {
      // it is there already, or the folder takes no files: then turns are left to chance
    }
  }

  /** To be called when the store was had, or given up. */
  withdraw(): void {
    if (!this.#asked) return;
    this.#asked = false;
    this.#remove();
  }

  #isThere(): boolean {
    try {
      return statSync(this.#path, { throwIfNoEntry: false }) !== undefined;
    } catch {
      return false; // a folder that cannot be looked into: the write itself tells what is wrong
    }
  }

  #remove(): void {
    try {
      unlinkSync(this.#path);
    } catch (error) {
      this.#ignores = !(error instanceof Error && 'code' in error && error.code === 'ENOENT'); // else another process took it away
    }
  }
}
