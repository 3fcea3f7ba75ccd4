import { type BridgeToBrowserFrame, encodeFrame } from '@stint/contracts';
import type { RawData } from 'ws';

/** The text of one message; binary messages are no frames and read as nothing. */
export function textOf(data: RawData, isBinary: boolean): string {
  return !isBinary && Buffer.isBuffer(data) ? data.toString('utf8') : '';
}

/** A frame as the bytes that go over the socket: made once, sent to many. */
export function frameBytes(frame: BridgeToBrowserFrame): Buffer {
  return Buffer.from(encodeFrame(frame));
}
