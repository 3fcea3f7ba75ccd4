import { randomBytes } from 'node:crypto';
import type { Clock, IdSource } from './context.js';

/** 2^32: the counter has 32 bits, its start 31 of them, so that 2^31 ids fit into one millisecond. */
const counterEnd = 2 ** 32;
const poolBytes = 4096;

/**
 * A source of UUIDv7 (RFC 9562, method 1 of its section 6.2: a counter after the timestamp). Ids of one source are in
 * text order of their making, within one millisecond too and when the clock goes back; ids of two sources differ by
 * 42 random bits a millisecond beside the random start of the counter.
 */
export function createIdSource(clock: Clock = Date.now): IdSource {
  let lastMs = -1;
  let counter = 0;
  let pool = randomBytes(poolBytes);
  let used = 0;
  const random = (count: number): number => {
    if (used + count > poolBytes) {
      pool = randomBytes(poolBytes);
      used = 0;
    }
    used += count;
    return pool.readUIntBE(used - count, count);
  };
  return () => {
    const now = clock();
    if (now > lastMs) {
      lastMs = now;
      counter = random(4) >>> 1;
    } else if (++counter === counterEnd) {
      lastMs += 1;
      counter = random(4) >>> 1;
    }
    return formatUuidV7(lastMs, counter, random(6));
  };
}

/** 48 bits time, version, 12 + 20 bits counter (split by the variant), 42 bits random. */
function formatUuidV7(ms: number, counter: number, random48: number): string {
  const time = ms.toString(16).padStart(12, '0');
  const high = (counter >>> 20).toString(16).padStart(3, '0');
  const middle = (0x8000 | ((counter >>> 6) & 0x3fff)).toString(16);
  const low = ((counter & 0x3f) * 4 + Math.floor(random48 / 2 ** 46)).toString(16).padStart(2, '0');
  const rest = (random48 % 2 ** 40).toString(16).padStart(10, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${high}-${middle}-${low}${rest}`;
}
