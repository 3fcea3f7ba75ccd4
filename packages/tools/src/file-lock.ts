/** Tail of the queue of each file that is being written, by key. Shared by all registries of this process. */
const queues = new Map<string, Promise<void>>();

/**
 * Runs `work` alone among all work on the same real file in this process. On a disk that ignores case two spellings
 * are one file, so keys ignore case everywhere: at worst two files wait for each other.
 */
export async function withFileLock<T>(realPath: string, work: () => Promise<T>): Promise<T> {
  const key = keyOf(realPath);
  const before = queues.get(key) ?? Promise.resolve();
  const result = before.then(work);
  const tail = result.then(noop, noop); // the caller gets the failure; the queue goes on
  queues.set(key, tail);
  try {
    return await result;
  } finally {
    if (queues.get(key) === tail) queues.delete(key);
  }
}

/** The same for several files, always locked in one order, each key once. */
export async function withFileLocks<T>(realPaths: readonly string[], work: () => Promise<T>): Promise<T> {
  return lockInOrder([...new Set(realPaths.map(keyOf))].sort(), work);
}

function keyOf(realPath: string): string {
  return realPath.normalize('NFC').toLowerCase();
}

async function lockInOrder<T>(paths: readonly string[], work: () => Promise<T>): Promise<T> {
  const [first, ...rest] = paths;
  if (first === undefined) return work();
  return withFileLock(first, () => lockInOrder(rest, work));
}

function noop(): void {}
