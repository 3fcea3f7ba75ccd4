import {
  appendEntries,
  endOperation,
  findDeadTurns,
  insertDeniedTurn,
  insertTurn,
  journalMigrations,
  noteResponseId,
  recordRefused,
  recordResponse,
  recordUnknown,
  recoverOperations,
  recoverTurn,
  resolveByProvider,
  resumeState,
  startOperation,
  type TurnOwner,
} from '@stint/journal';
import {
  createAccount,
  ledgerMigrations,
  markRequestUnknown,
  recoverRequest,
  releaseRequest,
  reserveRequest,
  settleRequest,
} from '@stint/ledger';
import type {
  FailFacts,
  FrozenRequest,
  HookedModel,
  PastAnswers,
  ProviderError,
  ProviderHooks,
} from '@stint/provider-hooks';
import type { Context, Database, Transaction } from '@stint/storage';
import { runEngine } from './run-engine.js';
import type { EngineEvent, EngineOptions } from './types.js';

/** Called at named points; a crash test ends the process there. */
export type Gate = (point: string) => void;

interface Handle {
  readonly id: string;
  readonly request: FrozenRequest;
}

export const estimateTokens = 5_000;
export const account = 'everything';

/** Creates the tables and an account without limits. */
export async function prepareStore(db: Database): Promise<void> {
  await db.migrate(ledgerMigrations);
  await db.migrate(journalMigrations);
  await db.write((ctx) => createAccount(ctx, { id: account }));
}

/** One hook set over ledger and journal: each hook is one transaction over both. */
export function durableHooks(db: Database, owner: TurnOwner, gate: Gate = () => undefined): ProviderHooks<Handle> {
  return {
    async prepare(request) {
      const id = await db.read(newId);
      gate('turn:prepared');
      return { id, request };
    },
    async start({ id, request }) {
      const denial = await db.write((ctx) => startTurn(ctx, owner, id, request));
      if (denial !== null) throw new Error(denial);
      gate('turn:started');
    },
    async finish({ id }, response) {
      gate('turn:answered');
      await db.write(function* (ctx) {
        yield* settleRequest(ctx, id, { usage: response.usage, complete: true });
        yield* recordResponse(ctx, id, response);
      });
      gate('turn:finished');
    },
    async fail({ id }, error, facts) {
      gate('turn:failing');
      await db.write((ctx) => endTurn(ctx, id, error, facts));
      gate('turn:failed');
    },
  };
}

/** The same for a provider that can be asked for past answers. */
export function askableHooks(db: Database, owner: TurnOwner, gate: Gate = () => undefined): ProviderHooks<Handle> {
  return {
    ...durableHooks(db, owner, gate),
    async identified({ id }, responseId) {
      await db.write((ctx) => noteResponseId(ctx, id, responseId));
      gate('turn:identified');
    },
  };
}

/** Settles unknown turns by their provider: answer and payment in one transaction. */
export async function askProvider(db: Database, owner: TurnOwner, ask: PastAnswers): Promise<readonly string[]> {
  return await resolveByProvider(db, owner, {
    ask: ({ responseId, model }) => ask({ responseId, modelId: model.slice(model.indexOf(':') + 1) }),
    *book(ctx, { id }, found) {
      if (found.state === 'failed') yield* markRequestUnknown(ctx, id, found.usage);
      else yield* settleRequest(ctx, id, { usage: found.response.usage, complete: true });
    },
  });
}

function* newId(ctx: Context): Transaction<string> {
  return ctx.newId();
}

function* startTurn(ctx: Context, owner: TurnOwner, id: string, request: FrozenRequest): Transaction<string | null> {
  const estimate = { tokens: estimateTokens, costMicros: null };
  const { model, retryOf } = request;
  const reserved = yield* reserveRequest(ctx, {
    id,
    account,
    kind: 'action',
    model,
    estimate,
    ...(retryOf ? { retryOf } : {}),
  });
  if (reserved.allowed) {
    yield* insertTurn(ctx, { id, owner, request });
    return null;
  }
  yield* insertDeniedTurn(
    ctx,
    { id, owner, request },
    { code: reserved.reason.code, message: reserved.reason.message },
  );
  return reserved.reason.message;
}

function* endTurn(ctx: Context, id: string, error: ProviderError, facts: FailFacts): Transaction<void> {
  if (error.code === 'denied') return;
  const failure = {
    error: { code: error.code, message: error.message },
    usage: facts.usage,
    partialText: facts.partialText,
  };
  if (facts.proof === null) {
    yield* markRequestUnknown(ctx, id, facts.usage);
    yield* recordUnknown(ctx, id, failure);
  } else if (yield* releaseRequest(ctx, id, facts.proof)) {
    yield* recordRefused(ctx, id, failure);
  }
}

/** What a process that finds a dead one's rows does before it goes on: turn and request in one transaction. */
export async function recover(db: Database): Promise<void> {
  await db.endDeadProcesses();
  for (const id of await db.read(findDeadTurns)) {
    await db.write(function* (ctx) {
      yield* recoverTurn(ctx, id);
      yield* recoverRequest(ctx, id);
    });
  }
  await db.write(recoverOperations);
}

export interface DurableOptions extends Omit<EngineOptions, 'model'> {
  readonly model: HookedModel;
  readonly gate?: Gate;
}

/** Runs, or goes on with what is journaled, to the end; answers all events. */
export async function runDurable(
  db: Database,
  owner: TurnOwner,
  { gate = () => undefined, prompt = 'go', ...options }: DurableOptions,
): Promise<readonly EngineEvent[]> {
  const resume = await db.read((ctx) => resumeState(ctx, owner));
  const events: EngineEvent[] = [];
  const run = runEngine({
    ...options,
    ...(resume ? { resume } : { prompt }),
    operationStart: async ({ turnId, callIndex, toolCallId, tool }) => {
      gate('write tool:before');
      await db.write((ctx) => startOperation(ctx, { turnId, callIndex, owner, toolCallId, tool, inputHash: 'h' }));
      gate('operation:started');
    },
    operationEnd: async (call, { effect, entry }) => {
      gate('operation:done');
      await db.write((ctx) => endOperation(ctx, { turnId: call.turnId, callIndex: call.callIndex }, { effect, entry }));
      gate('operation:ended');
    },
    appendEntries: async (entries) => {
      gate('entries:storing');
      await db.write((ctx) => appendEntries(ctx, owner, entries));
    },
  });
  for await (const event of run) {
    if (event.type === 'turn-start') gate('turn:begun');
    if (event.type === 'text-delta') gate('turn:streaming');
    events.push(event);
  }
  return events;
}
