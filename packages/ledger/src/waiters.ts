import type { Database } from '@stint/storage';

/** Who waits on a database of this process, and how often room was made: shared by all its ledgers. */
interface Room {
  made: number;
  readonly waiting: Set<() => void>;
}

const rooms = new WeakMap<Database, Room>();

function roomOf(db: Database): Room {
  const room = rooms.get(db) ?? { made: 0, waiting: new Set() };
  rooms.set(db, room);
  return room;
}

/**
 * Wakes whoever waits for room in this process. The ledger's own methods do it after settle, release, extend and resume; a composition that
 * runs the bodies in transactions of its own calls it after their commit. Without it waiters poll, at most every 250 ms.
 */
export function wakeWaiters(db: Database): void {
  const room = roomOf(db);
  room.made += 1;
  for (const wake of room.waiting) wake();
}

/** How often room was made: taken before an attempt, so that room made during the attempt is not missed. */
export function roomsMade(db: Database): number {
  return roomOf(db).made;
}

export interface RoomWait {
  /** What `roomsMade` answered before the attempt. */
  readonly since: number;
  readonly atMostMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves when room was made since, after `atMostMs`, or when the signal aborts. */
export async function waitForRoom(db: Database, { since, atMostMs, signal }: RoomWait): Promise<void> {
  const room = roomOf(db);
  if (room.made !== since || signal?.aborted === true) return;
  await new Promise<void>((resolve) => {
    const wake = (): void => {
      room.waiting.delete(wake);
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, atMostMs);
    room.waiting.add(wake);
    signal?.addEventListener('abort', wake, { once: true });
  });
}
