import type { WorkItemDetail } from '@stint/contracts';
import type { Application } from './application.js';
import { type ExitReason, exitReasonOf } from './exit-codes.js';
import { spentInWords } from './render-item.js';

/** A line of progress: an event as the store has it. */
export interface FollowedEvent {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly actionId: string | null;
  readonly runId: string | null;
  readonly text: string;
}

export interface FollowOptions {
  readonly itemId: string;
  /** Called for each event from the beginning of following, in order, each once. */
  readonly onEvent: (event: FollowedEvent, item: WorkItemDetail) => void;
  /** Asked when a person is; true = an answer was given, go on following. @default nobody can answer */
  readonly onQuestion?: (item: WorkItemDetail) => Promise<boolean>;
  readonly signal: AbortSignal;
}

export interface Followed {
  readonly item: WorkItemDetail;
  readonly reason: ExitReason;
}

/**
 * Follows an item until it rests. If no agent serves the store, this process does the item's work; should the agent that does go away, it takes over.
 */
export async function followItem(application: Application, options: FollowOptions): Promise<Followed> {
  const wake = new Wake();
  const stopListening = application.reader.onChange(wake.fire);
  try {
    return await follow(application, options, wake);
  } finally {
    stopListening();
  }
}

async function follow(application: Application, options: FollowOptions, wake: Wake): Promise<Followed> {
  let seen = (await application.reader.detail(options.itemId)).lastEventSeq;
  while (!options.signal.aborted) {
    await application.serveUnlessServed([options.itemId]);
    const woken = wake.next(options.signal);
    const { item, events } = await application.reader.detailSince(options.itemId, seen);
    for (const event of events) options.onEvent(event, item);
    seen = item.lastEventSeq;
    const reason = exitReasonOf(item);
    if (reason !== null && !((await options.onQuestion?.(item)) ?? false)) return { item, reason };
    await woken;
  }
  return { item: await application.reader.detail(options.itemId), reason: 'interrupted' };
}

/** Lets one waiter at a time sleep until the store has changed, or a while has passed. */
class Wake {
  #resolve: (() => void) | null = null;
  #due = false;

  next(signal: AbortSignal): Promise<void> {
    if (this.#due) {
      this.#due = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const timer = setTimeout(this.fire, checkAgainMs);
      signal.addEventListener('abort', this.fire, { once: true });
      this.#resolve = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', this.fire);
        resolve();
      };
    });
  }

  readonly fire = (): void => {
    const resolve = this.#resolve;
    this.#resolve = null;
    if (resolve) resolve();
    else this.#due = true;
  };
}

/** How long a follower sleeps at most before it looks whether the agent that did the work is still there. */
const checkAgainMs = 2_000;

/** One line a state change: what happened, and what it took so far. */
export const progressLine = (event: FollowedEvent, item: WorkItemDetail): string =>
  `${new Date(event.at).toISOString().slice(11, 19)}  ${event.type.padEnd(20)} ${event.text}  (${spentInWords(item.control)})`;
