import type { Database } from '@stint/storage';

/** One for each database of this process, shared by all its ledgers. */
const waitersOf = new WeakMap<Database, Set<() => void>>();

/**
 * Wakes whoever waits for room in this process. The ledger's own methods do it after settle, release, extend and resume; a composition that
 * runs the bodies in transactions of its own calls it after their commit. Without it waiters poll, at most every 250 ms.
 */
export function wakeWaiters(db: Database): void {
  const waiters = waitersOf.get(db);
  if (waiters === undefined) return;
  for (const wake of waiters) wake();
}

/** Resolves when woken, after `atMostMs`, or when the signal aborts. */
export async function waitForRoom(db: Database, atMostMs: number, signal?: AbortSignal): Promise<void> {
  const waiters = waitersOf.get(db) ?? new Set();
  waitersOf.set(db, waiters);
  await new Promise<void>((resolve) => {
    const wake = (): void => {
      waiters.delete(wake);
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, atMostMs);
    waiters.add(wake);
    signal?.addEventListener('abort', wake, { once: true });
    if (signal?.aborted === true) wake();
  });
}
