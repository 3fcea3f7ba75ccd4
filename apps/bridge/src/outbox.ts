import { WebSocket } from 'ws';

/** The part of a socket the outbox needs. */
export type OutSocket = Pick<WebSocket, 'send' | 'bufferedAmount' | 'readyState'>;

/** The connection beneath the socket: what one turn of the event loop sends leaves in one write, and `drain` says that all has left. */
export interface OutConnection {
  cork(): void;
  uncork(): void;
  on(event: 'drain', listener: () => void): unknown;
}

export interface OutboxEvents {
  /** Called once for each item whose events were left out, when the browser reads again. */
  readonly onCaughtUp: (itemIds: readonly string[]) => void;
  /** A reply did not fit: the browser asks and does not read. */
  readonly onOverflow: () => void;
}

/**
 * What waits for one browser, bounded.
 *
 * 1. Waiting bytes never exceed the bound, the message about to be sent included.
 * 2. Progress that does not fit waits as the newest per key, in at most `MAX_HELD` keys; events that do not fit are left out and their item is named once the browser reads again.
 * 3. A reply is never left out: if it does not fit, the socket ends.
 * 4. Nothing here waits for a browser, so none slows another.
 */
export class Outbox {
  readonly #socket: OutSocket;
  readonly #connection: OutConnection;
  readonly #maxBytes: number;
  readonly #events: OutboxEvents;
  readonly #heldProgress = new Map<string, Buffer>();
  readonly #missedItems = new Set<string>();
  #isCorked = false;

  constructor({ socket, connection }: OutParts, maxBytes: number, events: OutboxEvents) {
    this.#socket = socket;
    this.#connection = connection;
    this.#maxBytes = maxBytes;
    this.#events = events;
    connection.on('drain', () => this.#catchUp());
  }

  /** Bytes that wait for the browser now. */
  get waitingBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** True while something was left out and the browser has not caught up. */
  get isBehind(): boolean {
    return this.#heldProgress.size > 0 || this.#missedItems.size > 0;
  }

  /** A frame that must arrive. */
  sendReply(frame: Buffer): void {
    if (this.#fits(frame)) this.#write(frame);
    else this.#events.onOverflow();
  }

  /** An event; once one of an item was left out, the ones after it are too, so that what arrives has no holes. */
  sendEvent(frame: Buffer, itemId: string): void {
    if (!this.#missedItems.has(itemId) && this.#fits(frame)) this.#write(frame);
    else this.#missedItems.add(itemId);
  }

  /** What goes on this moment; only the newest per key matters. */
  sendProgress(frame: Buffer, key: string): void {
    if (!this.isBehind && this.#fits(frame)) this.#write(frame);
    else if (this.#heldProgress.has(key) || this.#heldProgress.size < MAX_HELD) this.#heldProgress.set(key, frame);
  }

  #fits(frame: Buffer): boolean {
    return this.#socket.bufferedAmount + frame.length <= this.#maxBytes;
  }

  #write(frame: Buffer): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#gather();
    this.#socket.send(frame, { binary: false });
  }

  /** Holds writes together until the turn of the event loop ends. */
  #gather(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    this.#connection.cork();
    setImmediate(() => {
      this.#isCorked = false;
      this.#connection.uncork();
    });
  }

  /** Runs when everything that waited has left. */
  #catchUp(): void {
    if (!this.isBehind) return;
    const missed = [...this.#missedItems];
    const held = [...this.#heldProgress];
    this.#missedItems.clear();
    this.#heldProgress.clear();
    if (missed.length > 0) this.#events.onCaughtUp(missed);
    for (const [key, frame] of held) this.sendProgress(frame, key);
  }
}

/** A socket and what is beneath it. */
export interface OutParts {
  readonly socket: OutSocket;
  readonly connection: OutConnection;
}

const MAX_HELD = 64;
