import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';

const chunkBytes = 256 * 1024;
/** A process that writes less often than this is over before the time for the room comes back. */
const writesBefore = 16;

/**
 * Room in the write-ahead log before it is needed. A commit that makes the file longer waits for the file system's own journal too, which about
 * doubles its time; one that overwrites does not. SQLite keeps a long file and overwrites it after each checkpoint, but a store that was just
 * opened begins with a short one. So the file is made as long at once as it would become: zeros behind the last frame, where a reader of the
 * log stops as it does at any frame that is no part of it.
 */
export class LogRoom {
  readonly #path: string;
  readonly #bytes: number;
  #writesLeft: number;

  /** @param storePath the store file @param bytes how long the log becomes, 0 to leave it as it is */
  constructor(storePath: string, bytes: number) {
    this.#path = `${storePath}-wal`;
    this.#bytes = bytes;
    this.#writesLeft = bytes > 0 ? writesBefore : 0;
  }

  /** Counts a write; once there were enough, makes the log long. To be called inside a write transaction, so that no one else writes to the log. */
  wrote(): void {
    if (this.#writesLeft === 0) return;
    this.#writesLeft -= 1;
    if (this.#writesLeft === 0) this.#fill();
  }

  #fill(): void {
    let file: number | undefined;
    try {
      file = openSync(this.#path, 'r+');
      lengthen(file, this.#bytes);
    } catch {
      // Without room commits are slower and nothing else: no space, a quota, no right to open the file by name. The next commit tells if it matters.
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }
}

/** Makes the file so long, or leaves it as it was. */
function lengthen(file: number, bytes: number): void {
  const { size } = fstatSync(file);
  try {
    const zeros = Buffer.alloc(chunkBytes);
    for (let at = size; at < bytes; at += chunkBytes) writeSync(file, zeros, 0, Math.min(chunkBytes, bytes - at), at);
    fdatasyncSync(file);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}
