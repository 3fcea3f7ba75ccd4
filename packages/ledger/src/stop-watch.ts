import type { Context, Database, Transaction } from '@stint/storage';
import { stopChannel } from './stop.js';
import { leafOf, readAccount } from './tree.js';
import type { StopReason } from './types.js';

/** What a subscriber is told. */
export interface StopNotice {
  /** The account that the subscriber watches. */
  readonly account: string;
  /** The stopped one: the watched account or an ancestor. */
  readonly stoppedAccount: string;
  /** With `aborts`: end what is in flight; without: let it end, start nothing new. */
  readonly reason: StopReason;
}

/** Keeps what has been told so that one stop is told once, and again only if it becomes one that aborts. */
export class StopWatch {
  readonly #db: Database;
  readonly #watched = new Map<symbol, { account: string; listener: (notice: StopNotice) => void; told: string }>();
  readonly #onError: (error: unknown) => void;
  #unlisten: (() => void) | undefined;

  constructor(db: Database, onError: (error: unknown) => void) {
    this.#db = db;
    this.#onError = onError;
  }

  /** Tells the listener of each stop of the account or of an ancestor, the present one too. Answers the way to end it. */
  watch(account: string, listener: (notice: StopNotice) => void): () => void {
    const key = Symbol(account);
    this.#watched.set(key, { account, listener, told: '' });
    this.#unlisten ??= this.#db.listen(stopChannel, () => this.#lookAt([...this.#watched.keys()]));
    this.#lookAt([key]);
    return () => {
      this.#watched.delete(key);
      if (this.#watched.size > 0) return;
      this.#unlisten?.();
      this.#unlisten = undefined;
    };
  }

  #lookAt(keys: readonly symbol[]): void {
    for (const key of keys) this.#look(key).catch(this.#onError);
  }

  async #look(key: symbol): Promise<void> {
    const asked = this.#watched.get(key);
    if (asked === undefined) return;
    const notice = await this.#db.read((ctx) => readNotice(ctx, asked.account));
    const watched = this.#watched.get(key);
    const facts = notice === undefined ? '' : `${notice.stoppedAccount} ${notice.reason.at} ${notice.reason.aborts}`;
    if (watched === undefined || watched.told === facts) return;
    watched.told = facts;
    if (notice !== undefined) watched.listener(notice);
  }
}

/** The stop that binds the account: one that aborts before one that does not, then the nearest. */
function* readNotice(_ctx: Context, account: string): Transaction<StopNotice | undefined> {
  const chain = yield* readAccount(account);
  if (chain === undefined) return undefined;
  const stopped = [...chain].reverse().filter(({ stopReason }) => stopReason !== null);
  const binding = stopped.find(({ stopReason }) => stopReason?.aborts === true) ?? stopped[0];
  if (binding?.stopReason == null) return undefined;
  return { account: leafOf(chain).id, stoppedAccount: binding.id, reason: binding.stopReason };
}
