/**
 * Asks providers that keep their answers what became of requests whose process died, before a person is asked.
 *
 * 1. An answer that was kept is stored as if it had come in time: settled in the ledger, its inputs acknowledged, one
 *    transaction. Nothing is paid again, and the work goes on from it.
 * 2. A model that is still at work is asked about again by each sweep; meanwhile a person may decide.
 * 3. A provider that does not answer in time, or does not know, changes nothing: then a person decides.
 */
import { type FoundAnswer, readTurn, resolveByProvider, type TurnOwner, type TurnRecord } from '@stint/journal';
import { markRequestUnknown, settleRequest } from '@stint/ledger';
import type { PastAnswer, PastAnswers } from '@stint/provider-hooks';
import type { Context, Database, Transaction } from '@stint/storage';
import { acknowledgeInputs, getCoordinatorTurn } from '@stint/work-items';
import { errorFacts } from './error-facts.js';
import { goOnFrom, placeOf } from './go-on.js';
import type { LogLine } from './options.js';
import type { PastAnswersOf } from './past-answers-of.js';
import type { Pricing } from './pricing.js';

/** Who is asked, how what is found is priced, and what is still to be asked. One for each coordinator. */
export interface Asking {
  readonly pastAnswersOf: PastAnswersOf;
  readonly pricing: Pricing;
  /** Turns whose model was still at work when it was asked, and how often that was: each sweep asks again. */
  readonly running: Map<string, number>;
}

export interface AskOptions extends Asking {
  readonly db: Database;
  readonly log: (line: LogLine) => void;
}

/** Longest time for one question. */
const askTimeoutMs = 10_000;
/** Questions at once: recovery waits for all of them, so that one provider that hangs is to cost ten seconds and no more. */
const mostAtOnce = 8;
/** How often a model that is still at work is asked about: an hour, at the usual time between two sweeps. */
const mostAsks = 720;

/** Settles what providers know about these turns, and about those that were running before. Answers how many it settled. */
export async function askProviders(options: AskOptions, lost: readonly string[]): Promise<number> {
  const { db, log, pastAnswersOf, running } = options;
  const owners = await ownersOf(db, [...new Set([...lost, ...running.keys()])]);
  if (owners.length > 0)
    log({ level: 'info', message: 'Asking providers for answers that were lost', owners: owners.length });
  let settled = 0;
  await inParallel(owners, mostAtOnce, async (owner) => {
    const ids = await resolveByProvider(db, owner, {
      ask: (turn) => {
        const ask = pastAnswersOf(turn.model);
        return ask && askOnce(ask, turn, running);
      },
      *lock(ctx, turn) {
        yield* placeOf(ctx, turn.owner);
      },
      book: (ctx, turn, found) => book(ctx, options.pricing, turn, found),
      settled: goOn,
      onError: (error, { id }) =>
        log({
          level: 'warn',
          message: 'A provider could not be asked for an answer',
          turnId: id,
          ...errorFacts(error),
        }),
    });
    settled += ids.length;
  });
  return settled;
}

/** Each of the items, at most `most` at a time. The first error stops what has not begun, and is thrown when the rest has ended. */
async function inParallel<T>(items: readonly T[], most: number, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: most }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

async function ownersOf(db: Database, turnIds: readonly string[]): Promise<readonly TurnOwner[]> {
  const owners = new Map<string, TurnOwner>();
  for (const id of turnIds) {
    const turn = await db.read((ctx) => readTurn(ctx, id));
    if (turn?.responseId != null) owners.set(`${turn.owner.kind} ${turn.owner.id}`, turn.owner);
  }
  return [...owners.values()];
}

async function askOnce(
  ask: PastAnswers,
  { id, responseId, model }: AskedTurn,
  running: Map<string, number>,
): Promise<PastAnswer> {
  const asks = (running.get(id) ?? 0) + 1;
  running.delete(id);
  const request = { responseId, modelId: model.slice(model.indexOf(':') + 1) };
  const found = await ask(request, AbortSignal.timeout(askTimeoutMs));
  if (found.state === 'running' && asks < mostAsks) running.set(id, asks);
  return found;
}

type AskedTurn = Pick<TurnRecord, 'id' | 'model'> & { readonly responseId: string };

function* book(ctx: Context, pricing: Pricing, turn: TurnRecord, found: FoundAnswer): Transaction<void> {
  if (found.state === 'failed') {
    yield* markRequestUnknown(ctx, turn.id, found.usage, pricing.cost(turn.model));
    return;
  }
  const { usage, model } = found.response;
  yield* settleRequest(ctx, turn.id, { usage, complete: true, costMicros: pricing.cost(model) ?? null });
  yield* acknowledgeInputs(ctx, turn.id);
}

/** Another process may have recovered the owner meanwhile, so that it waits for a person by now: it waits no longer. */
function* goOn(ctx: Context, turn: TurnRecord): Transaction<void> {
  const { owner } = turn;
  const thinking = owner.kind === 'coordinator' ? yield* getCoordinatorTurn(ctx, owner.id) : undefined;
  if (thinking?.status === 'thinking') return; // its claim is recovered next, and takes the answer up
  yield* goOnFrom(ctx, turn, yield* placeOf(ctx, owner));
}
