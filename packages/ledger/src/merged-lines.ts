import type { Transaction } from '@stint/storage';
import type { StoredEntry } from './entries.js';
import { readEntries } from './verify.js';

interface Cursor {
  readonly account: string;
  page: readonly StoredEntry[];
  index: number;
  after: number;
}

/** The lines of several chains in the order of their root's revision, a page of each in memory. */
export class MergedLines {
  /** A heap: the cursor with the lowest revision first. */
  readonly #heap: Cursor[] = [];
  readonly #unread: string[];

  constructor(accounts: readonly { readonly id: string }[]) {
    this.#unread = accounts.map(({ id }) => id);
  }

  *next(): Transaction<StoredEntry | undefined> {
    while (this.#unread.length > 0) {
      const account = this.#unread.pop() as string;
      yield* this.#load({ account, page: [], index: 0, after: 0 }, (cursor) => this.#rise(this.#heap.push(cursor) - 1));
    }
    const [first] = this.#heap;
    if (first === undefined) return undefined;
    const line = first.page[first.index] as StoredEntry;
    first.index += 1;
    if (first.index < first.page.length) this.#sink(first);
    else yield* this.#turnPage(first);
    return line;
  }

  *#turnPage(first: Cursor): Transaction<void> {
    let hasMore = false;
    yield* this.#load(first, () => {
      hasMore = true;
    });
    if (hasMore) return this.#sink(first);
    const last = this.#heap.pop();
    if (last !== undefined && last !== first) this.#sink(last);
  }

  /** Reads the cursor's next page; calls `use` if there is one. */
  *#load(cursor: Cursor, use: (cursor: Cursor) => void): Transaction<void> {
    cursor.page = yield* readEntries(cursor.account, cursor.after);
    cursor.index = 0;
    cursor.after = cursor.page.at(-1)?.seq ?? cursor.after;
    if (cursor.page.length > 0) use(cursor);
  }

  #rise(from: number): void {
    const heap = this.#heap;
    const cursor = heap[from] as Cursor;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (revisionOf(heap[parent]) <= revisionOf(cursor)) break;
      heap[at] = heap[parent] as Cursor;
      at = parent;
    }
    heap[at] = cursor;
  }

  /** Puts a cursor at the top and lets it sink to its place. */
  #sink(cursor: Cursor): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      const left = at * 2 + 1;
      const lower = revisionOf(heap[left + 1]) < revisionOf(heap[left]) ? left + 1 : left;
      if (revisionOf(heap[lower]) >= revisionOf(cursor)) break;
      heap[at] = heap[lower] as Cursor;
      at = lower;
    }
    heap[at] = cursor;
  }
}

function revisionOf(cursor: Cursor | undefined): number {
  return cursor?.page[cursor.index]?.revision ?? Number.POSITIVE_INFINITY;
}
