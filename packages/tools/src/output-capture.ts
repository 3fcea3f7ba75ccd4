import { writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { cutAfter, cutBefore } from './bounded-text.js';

/** Bytes of output kept in memory, from the start and from the end. */
const HEAD_BYTES = 12_288;
const TAIL_BYTES = 16_384;

/** Takes output of any size in bounded memory: head and tail stay, the whole goes to a file up to `limitBytes`. */
export class OutputCapture {
  readonly #file: FileHandle;
  readonly #limitBytes: number;
  #head: Buffer = Buffer.alloc(0);
  /** Ring of the last bytes after the head; `#tailBytes` counts all that went in. */
  readonly #tail: Buffer = Buffer.alloc(TAIL_BYTES);
  #tailBytes = 0;
  #writtenBytes = 0;
  #totalBytes = 0;
  #problem: unknown;

  constructor(file: FileHandle, limitBytes: number) {
    this.#file = file;
    this.#limitBytes = limitBytes;
  }

  /** Real size of the output. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** Size of the file. */
  get keptBytes(): number {
    return this.#writtenBytes;
  }

  /** True if all of the output is in `text()`. */
  get isWhole(): boolean {
    return this.#totalBytes <= HEAD_BYTES + TAIL_BYTES;
  }

  /** What went wrong with the file, if anything. */
  get problem(): unknown {
    return this.#problem;
  }

  add(chunk: Buffer): void {
    this.#totalBytes += chunk.length;
    this.#keep(chunk);
    const missing = HEAD_BYTES - this.#head.length;
    if (missing > 0) this.#head = Buffer.concat([this.#head, chunk.subarray(0, missing)]);
    if (chunk.length > missing) this.#addTail(missing > 0 ? chunk.subarray(missing) : chunk);
  }

  /** The output, or its head and tail around a line that says how much is missing. */
  text(): string {
    const tail = this.#tailInOrder();
    if (this.isWhole) return Buffer.concat([this.#head, tail]).toString('utf8');
    const head = this.#head.subarray(0, cutBeforeLast(this.#head));
    const from = cutAfter(tail, 0);
    const left = this.#totalBytes - head.length - (tail.length - from);
    return `${head.toString('utf8')}\n[... ${left} of ${this.#totalBytes} bytes left out ...]\n${tail.toString('utf8', from)}`;
  }

  #addTail(chunk: Buffer): void {
    const part = chunk.subarray(Math.max(0, chunk.length - TAIL_BYTES));
    const at = (this.#tailBytes + chunk.length - part.length) % TAIL_BYTES;
    const first = part.copy(this.#tail, at);
    part.copy(this.#tail, 0, first);
    this.#tailBytes += chunk.length;
  }

  #tailInOrder(): Buffer {
    if (this.#tailBytes <= TAIL_BYTES) return this.#tail.subarray(0, this.#tailBytes);
    const at = this.#tailBytes % TAIL_BYTES;
    return Buffer.concat([this.#tail.subarray(at), this.#tail.subarray(0, at)]);
  }

  /** A synchronous write keeps memory flat: nothing queues up while the disk is busy. */
  #keep(chunk: Buffer): void {
    const room = this.#limitBytes - this.#writtenBytes;
    if (room <= 0 || this.#problem !== undefined) return;
    try {
      this.#writtenBytes += writeSync(this.#file.fd, chunk, 0, Math.min(room, chunk.length));
    } catch (error) {
      this.#problem = error; // the command goes on; the result says that the rest was not kept
    }
  }
}

/** Where to cut the head so that its last character is whole. */
function cutBeforeLast(head: Buffer): number {
  for (let back = 1; back <= 4 && back <= head.length; back += 1) {
    const byte = head[head.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? head.length - back : head.length;
  }
  return cutBefore(head, head.length);
}
