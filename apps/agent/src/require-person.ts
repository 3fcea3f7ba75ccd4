import { hostname } from 'node:os';
import { liveOperations } from '@stint/journal';
import type { Database } from '@stint/storage';
import { CommandFailure } from './failure.js';
import { type Ancestor, ancestors } from './process-ancestry.js';

/**
 * Refuses a command that only a person may give when this process descends from a tool call that is running now: a model must not raise its own budget
 * by way of the shell. Said openly: where no guard stands above commands, a program that left its process group on purpose is not recognised; there is no sandbox.
 * @throws CommandFailure
 */
export async function requirePerson(db: Database, chain: readonly Ancestor[] = ancestors()): Promise<void> {
  const running = await db.read((ctx) => liveOperations(ctx, hostname()));
  const groups = new Set(
    running.map(({ processGroup }) => Number(processGroup?.['processGroup'])).filter(Number.isSafeInteger),
  );
  if (chain.some(({ pid, processGroup }) => groups.has(processGroup) || groups.has(pid)))
    throw new CommandFailure(
      'usage',
      'Only a person may do this, and this command was started by a tool that a model runs. Nothing was changed.',
    );
}
