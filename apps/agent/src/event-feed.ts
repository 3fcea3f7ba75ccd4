import type { RunProgress } from '@stint/coordinator';
import type { ExecutionControl, Progress } from '@stint/contracts';
import type { BridgeLink } from './bridge-link.js';
import type { ItemReader } from './item-reader.js';
import { followLive, type LiveAction, shownTail } from './live-texts.js';

/** How often live text and budget figures are sent at most. */
const progressEveryMs = 100;

/**
 * Sends what happens in the store to the bridge.
 *
 * 1. Each event goes once and in order, whichever process wrote it.
 * 2. Live text goes the newest of each Action, at most ten times a second; what is skipped is not missed.
 * 3. Budget figures of items that run are looked at as often and sent when their version has moved: reservations write no event.
 */
export class EventFeed implements AsyncDisposable {
  readonly #reader: ItemReader;
  readonly #link: BridgeLink;
  readonly #note: (text: string) => void;
  readonly #stopListening: () => void;
  readonly #ticking: NodeJS.Timeout;
  readonly #live = new Map<string, LiveAction>();
  readonly #due = new Set<string>();
  /** The budget version sent last, of each item that runs. */
  readonly #running = new Map<string, string>();
  #since: number;
  #work: Promise<void> = Promise.resolve();
  #woken = false;

  /** Begins after what the store holds already; browsers read that when they open. */
  static async open(reader: ItemReader, link: BridgeLink, note: (text: string) => void): Promise<EventFeed> {
    return new EventFeed(reader, link, { note, since: await reader.lastBoardSeq() });
  }

  private constructor(
    reader: ItemReader,
    link: BridgeLink,
    { note, since }: { readonly note: (text: string) => void; readonly since: number },
  ) {
    this.#reader = reader;
    this.#link = link;
    this.#note = note;
    this.#since = since;
    this.#stopListening = reader.onChange(() => this.#wake());
    this.#ticking = setInterval(() => this.#enqueue(() => this.#sendProgress()), progressEveryMs);
  }

  /** Takes note of what a Run does; it goes with the next progress frame. */
  onProgress(progress: RunProgress): void {
    this.#live.set(progress.actionId, followLive(this.#live.get(progress.actionId), progress));
    this.#due.add(progress.actionId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopListening();
    clearInterval(this.#ticking);
    await this.#work;
    await this.#link.close();
  }

  #wake(): void {
    if (this.#woken) return;
    this.#woken = true;
    this.#enqueue(async () => {
      this.#woken = false;
      await this.#sendEvents();
    });
  }

  /** One thing at a time; a failure is reported, and the next look at the store makes up for it. */
  #enqueue(step: () => Promise<void>): void {
    this.#work = this.#work
      .then(step)
      .catch((error: unknown) => this.#note(`The page could not be told of a change: ${String(error)}`));
  }

  async #sendEvents(): Promise<void> {
    for (;;) {
      const { events, lastSeq } = await this.#readEvents();
      for (const event of events) {
        this.#link.sendEvent(event);
        if (event.summary?.status === 'running') this.#running.set(event.itemId, this.#running.get(event.itemId) ?? '');
      }
      if (events.length === 0) return;
      this.#since = lastSeq;
    }
  }

  /** An item that cannot be projected costs its events their summary, and no other item anything. */
  async #readEvents(): ReturnType<ItemReader['boardEvents']> {
    try {
      return await this.#reader.boardEvents(this.#since);
    } catch (error) {
      this.#note(`A summary for the page could not be made: ${String(error)}`);
      return await this.#reader.boardEvents(this.#since, { bare: true });
    }
  }

  async #sendProgress(): Promise<void> {
    for (const actionId of this.#due) {
      const live = this.#live.get(actionId);
      if (live)
        this.#send({ ...live, liveText: shownTail(await this.#reader.redactFor(live.itemId, live.text)) }, null);
      if (live?.activity === 'ended') this.#live.delete(actionId);
    }
    this.#due.clear();
    for (const [itemId, sent] of this.#running) await this.#sendBudget(itemId, sent);
  }

  async #sendBudget(itemId: string, sent: string): Promise<void> {
    const { control, isRunning } = await this.#reader.budget(itemId);
    const version = JSON.stringify([control.version, control.revision]);
    if (version !== sent) this.#send({ itemId, actionId: null, runId: null, activity: '', liveText: '' }, control);
    if (isRunning) this.#running.set(itemId, version);
    else this.#running.delete(itemId);
  }

  #send(
    live: Pick<Progress, 'itemId' | 'actionId' | 'runId' | 'activity' | 'liveText'>,
    control: ExecutionControl | null,
  ): void {
    const { itemId, actionId, runId, activity, liveText } = live;
    this.#link.sendProgress({
      storeId: this.#reader.storeId,
      itemId,
      actionId,
      runId,
      at: Date.now(),
      activity,
      liveText,
      control,
    });
  }
}
