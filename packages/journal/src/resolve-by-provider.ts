import type { PastAnswer } from '@stint/provider-hooks';
import type { Context, Database, Transaction } from '@stint/storage';
import { readTurn } from './turn-rows.js';
import { resolveTurn } from './turns.js';
import { unresolved } from './recovery.js';
import type { TurnOwner, TurnRecord } from './types.js';

export interface ProviderResolution {
  /** Asks the provider of this turn for the answer it keeps under `turn.responseId`; null if it is none that can be asked. */
  readonly ask: (turn: TurnRecord & { readonly responseId: string }) => Promise<PastAnswer> | null;
  /** Takes the locks that come before the ledger's and the turn's, so that what is read after it stays so. */
  readonly lock?: (ctx: Context, turn: TurnRecord) => Transaction<void>;
  /** Books what was found, in the transaction that settles the turn and before it: the ledger's settlement belongs here. */
  readonly book?: (ctx: Context, turn: TurnRecord, found: FoundAnswer) => Transaction<void>;
  /** Called in the same transaction after the turn is settled: whoever waits for it may go on. */
  readonly settled?: (ctx: Context, turn: TurnRecord) => Transaction<void>;
  /** Told why a provider could not be asked; the turn stays as it is. */
  readonly onError?: (error: unknown, turn: TurnRecord) => void;
}

/** What settles a turn: its answer, or the word that there is none. */
export type FoundAnswer = Extract<PastAnswer, { readonly state: 'answered' | 'failed' }>;

/**
 * Asks providers about unknown turns that ask a person, and settles those that it can: an answer that was kept is stored as
 * if it had come in time, and nothing is paid again; one that failed is written off. What is still running, is not kept or
 * cannot be asked stays unknown. Call it after recovery and before the owner's work goes on. Answers the settled turns' ids.
 */
export async function resolveByProvider(
  db: Database,
  owners: TurnOwner | readonly TurnOwner[],
  resolution: ProviderResolution,
): Promise<readonly string[]> {
  const { turns } = await db.read((ctx) => unresolved(ctx, owners));
  const settled: string[] = [];
  for (const turn of turns) if (await resolveOne(db, turn, resolution)) settled.push(turn.id);
  return settled;
}

async function resolveOne(db: Database, turn: TurnRecord, resolution: ProviderResolution): Promise<boolean> {
  const found = await askSafely(turn, resolution);
  if (found === null || found.state === 'running' || found.state === 'not_kept') return false;
  return await db.write((ctx) => settle(ctx, turn, found, resolution));
}

async function askSafely(turn: TurnRecord, { ask, onError }: ProviderResolution): Promise<PastAnswer | null> {
  const { responseId } = turn;
  if (responseId === null) return null;
  try {
    return await ask({ ...turn, responseId });
  } catch (error) {
    onError?.(error, turn);
    return null;
  }
}

/** Somebody may have decided while the provider was asked: then their word stands. */
function* settle(
  ctx: Context,
  turn: TurnRecord,
  found: FoundAnswer,
  { lock, book, settled }: ProviderResolution,
): Transaction<boolean> {
  if (lock) yield* lock(ctx, turn);
  if ((yield* readTurn(ctx, turn.id))?.status !== 'unknown') return false;
  if (book) yield* book(ctx, turn, found);
  if (found.state === 'answered') {
    const note = 'the provider kept the answer';
    yield* resolveTurn(ctx, turn.id, { as: 'responded', response: found.response, note }, 'provider');
  } else {
    yield* resolveTurn(ctx, turn.id, { as: 'written_off', note: 'the provider has no answer' }, 'provider');
  }
  if (settled) yield* settled(ctx, turn);
  return true;
}
