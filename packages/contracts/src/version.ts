/** Version of the wire protocol this package speaks. Moves only with a breaking change of frames or DTOs. */
export const PROTOCOL_VERSION = 1;
/** Oldest protocol version this package still reads and writes. */
export const OLDEST_PROTOCOL_VERSION = 1;

/** The versions a peer can speak, both ends included. */
export interface ProtocolRange {
  readonly min: number;
  readonly max: number;
}

/** What this package can speak; sent in `hello`. */
export const PROTOCOL_RANGE: ProtocolRange = Object.freeze({ min: OLDEST_PROTOCOL_VERSION, max: PROTOCOL_VERSION });

/** @returns the newest version both ranges hold, or null when there is none and the connection must be refused. */
export function negotiateProtocol(mine: ProtocolRange, theirs: ProtocolRange): number | null {
  const newest = Math.min(mine.max, theirs.max);
  return newest >= Math.max(mine.min, theirs.min) ? newest : null;
}
