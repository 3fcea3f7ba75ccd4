import type { BrowserFrame, Event } from '@stint/contracts';

export type AttachFrame = Extract<BrowserFrame, { type: 'attach' }>;

/** Events of an item kept back while older ones are read from the agent. */
interface Replay {
  readonly generation: number;
  readonly held: { readonly event: Event; readonly bytes: Buffer }[];
}

/** Live events that may be kept back during a replay; more mean the item is read again. */
const MAX_HELD_EVENTS = 500;

/**
 * What one socket wants to hear of.
 *
 * 1. Before the first attach it hears of nothing.
 * 2. An attach replaces what was before it; one with a generation that is not newer is ignored.
 * 3. While the events an item missed are read, its live ones are kept back, so that all arrive in order and none twice.
 */
export class Attachment {
  #generation = -1;
  #board = false;
  #items = new Map<string, Replay | null>();

  get generation(): number {
    return this.#generation;
  }

  /** @returns false when the frame is older than what stands. */
  replace({ generation, board, items }: AttachFrame): boolean {
    if (generation <= this.#generation) return false;
    this.#generation = generation;
    this.#board = board;
    this.#items = new Map(items.map(({ itemId }) => [itemId, null]));
    return true;
  }

  /** True if an event of the item is for this socket. */
  hears(itemId: string): boolean {
    return this.#board || this.#items.has(itemId);
  }

  /** True if what goes on in the item this moment is for this socket. */
  watches(itemId: string): boolean {
    return this.#items.has(itemId);
  }

  beginReplay(itemId: string): void {
    if (this.#items.has(itemId)) this.#items.set(itemId, { generation: this.#generation, held: [] });
  }

  /** Keeps an event back if its item is being replayed. @returns whether it did */
  hold(event: Event, bytes: Buffer): boolean {
    const replay = this.#items.get(event.itemId);
    if (replay === undefined || replay === null) return false;
    if (replay.held.length < MAX_HELD_EVENTS) replay.held.push({ event, bytes });
    return true;
  }

  /**
   * Ends a replay. @returns the frames kept back that came after `lastSeq`, or null when the attach it belongs to no longer stands or too much was kept back.
   */
  endReplay(itemId: string, generation: number, lastSeq: number): readonly Buffer[] | null {
    const replay = this.#items.get(itemId);
    if (replay === undefined || replay === null || replay.generation !== generation) return null;
    this.#items.set(itemId, null);
    if (replay.held.length >= MAX_HELD_EVENTS) return null;
    return replay.held.filter(({ event }) => event.seq > lastSeq).map(({ bytes }) => bytes);
  }

  /** True while the attach of this generation stands. */
  stands(generation: number): boolean {
    return this.#generation === generation;
  }
}
