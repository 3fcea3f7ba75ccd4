import type { RawData } from 'ws';

/** The text of one message; binary messages are no frames and read as nothing. */
export function textOf(data: RawData, isBinary: boolean): string {
  return !isBinary && Buffer.isBuffer(data) ? data.toString('utf8') : '';
}
