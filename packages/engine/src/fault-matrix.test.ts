import { readHistory, listTurns, type TurnOwner, type TurnStatus } from '@stint/journal';
import { readRequest, type RequestStatus } from '@stint/ledger';
import { hookModel, type HookedModel, type ModelCall } from '@stint/provider-hooks';
import { anthropic } from '@stint/provider-hooks/anthropic';
import { openai } from '@stint/provider-hooks/openai';
import { openaiCompatible } from '@stint/provider-hooks/openai-compatible';
import { faultNames, startSimulator, type Fault, type FaultName, type Simulator } from '@stint/simulator';
import type { Database } from '@stint/storage';
import { freshSqlite } from '@stint/storage/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { durableHooks, estimateTokens, prepareStore, runDurable } from './durable-run.test.helper.js';
import { checkValid, registryOf } from './scripted-model.test.helper.js';
import type { EngineEvent, RunEnd } from './types.js';

const protocols = {
  chat: (baseURL: string) => openaiCompatible({ name: 'sim', baseURL, apiKey: 'made-up' }).chatModel('m'),
  responses: (baseURL: string) => openai({ baseURL, apiKey: 'made-up' })('m'),
  anthropic: (baseURL: string) => anthropic({ baseURL, apiKey: 'made-up' })('m'),
};
type Protocol = keyof typeof protocols;

interface Cell {
  readonly fault: FaultName;
  readonly protocol: Protocol;
  readonly stream: boolean;
  readonly when: 'before' | 'after';
}

/** What becomes of the request that met the fault, and of the run. */
interface Expected {
  readonly turn: TurnStatus;
  readonly ledger: RequestStatus;
  readonly end: RunEnd['reason'];
  /** Requests the simulator served for a run of two turns. */
  readonly served: number;
}

const fine: Expected = { turn: 'responded', ledger: 'reported', end: 'completed', served: 2 };
const unmeasured: Expected = { ...fine, ledger: 'unknown' };
const refused: Expected = { turn: 'refused', ledger: 'released', end: 'failed', served: 1 };
const refusedThenFine: Expected = { ...refused, end: 'completed', served: 3 };
const unknownThenFine: Expected = { turn: 'unknown', ledger: 'unknown', end: 'completed', served: 3 };

/** The right value of every fault. A fault that is not listed here does not compile, and fails below. */
const expected: Readonly<Record<FaultName, (cell: Cell) => Expected>> = {
  rate_limit: () => refusedThenFine,
  rate_limit_retry_after: () => refusedThenFine,
  overloaded: () => refusedThenFine,
  unauthorized: () => refused,
  bad_request: () => refused,
  server_error_before_bytes: () => unknownThenFine,
  server_error_after_bytes: () => unknownThenFine,
  reset_before_read: () => unknownThenFine,
  reset_after_read: () => unknownThenFine,
  stream_cut: () => unknownThenFine,
  stream_end_without_stop: () => unknownThenFine,
  // Only a stream has a done marker; a whole body of the chat protocol without a reason is no complete answer.
  done_without_reason: ({ protocol, stream }) =>
    protocol === 'anthropic' || (protocol === 'chat' && !stream) ? unknownThenFine : fine,
  empty_body: () => unknownThenFine,
  no_usage: ({ protocol }) => (protocol === 'anthropic' ? unknownThenFine : unmeasured),
  zero_usage: () => unmeasured,
  cumulative_usage: () => fine,
  malformed_json: () => unknownThenFine,
  slow_drip: () => fine,
  keep_alives_only: () => unknownThenFine,
  huge_chunk: () => fine,
  tool_arguments_cut: () => ({ ...fine, served: 3 }),
  redirect: () => unknownThenFine,
};

const cells: readonly Cell[] = faultNames.flatMap((fault) =>
  (Object.keys(protocols) as Protocol[]).flatMap((protocol) =>
    [true, false].flatMap((stream) =>
      (['before', 'after'] as const).map((when) => ({ fault, protocol, stream, when })),
    ),
  ),
);

let simulator: Simulator;
let db: Database;
const store = freshSqlite();
const faultOf = new Map<string, Fault>();

beforeAll(async () => {
  db = await store.open({ synchronous: 'normal' });
  await prepareStore(db);
  simulator = await startSimulator({
    scenario: (request) => {
      const fetched = request.messages.some((message) => message.role === 'tool' && message.text === 'noted');
      return fetched
        ? { text: 'the end of it' }
        : { text: 'let me note that', toolCalls: [{ name: 'note', input: { words: 'some words to write down' } }] };
    },
    faults: ({ turnId }) => (turnId === null ? null : faultOf.get(turnId)),
  });
});
afterAll(async () => {
  await simulator.close();
  await store.remove();
});

/** What a person said, and how it stands with the requests that carry it. */
class Said {
  readonly id = `said-${Math.random().toString(36).slice(2)}`;
  /** In order: bound by a start, done by a finish, pending again by a failure. */
  readonly states: ('bound' | 'done' | 'pending')[] = [];

  get isPending(): boolean {
    return this.states.length === 0 || this.states.at(-1) === 'pending';
  }

  note(state: 'bound' | 'done' | 'pending', inputIds: readonly string[]): void {
    if (inputIds.includes(this.id)) this.states.push(state);
  }
}

function modelOf(cell: Cell, owner: TurnOwner, said: Said): HookedModel {
  const hooks = durableHooks(db, owner);
  const struck: string[] = [];
  const withFault: typeof hooks = {
    ...hooks,
    async finish(handle, response) {
      await hooks.finish(handle, response);
      said.note('done', handle.request.inputIds);
    },
    async fail(handle, error, facts) {
      await hooks.fail(handle, error, facts);
      said.note('pending', handle.request.inputIds);
    },
    async start(handle) {
      // The fault strikes the first request of its turn; the ones that repeat it go through.
      if (handle.request.turnNumber === (cell.when === 'before' ? 1 : 2) && struck.length === 0) {
        struck.push(handle.id);
        faultOf.set(handle.id, { name: cell.fault, delayMs: cell.fault === 'slow_drip' ? 0 : 20, retryAfter: '30' });
      }
      await hooks.start(handle);
      said.note('bound', handle.request.inputIds);
    },
  };
  const bare = protocols[cell.protocol](simulator.url);
  const patient = hookModel(bare, withFault, { idleLimitMs: 20_000, wholeLimitMs: 20_000 });
  if (cell.fault !== 'keep_alives_only') return patient;
  // Only the request that is to meet its limit has a short one: a machine that is busy makes no other one late.
  const hasty = hookModel(bare, withFault, { idleLimitMs: 500, wholeLimitMs: 500 });
  const isStruck = ({ facts }: ModelCall): boolean =>
    facts?.turnNumber === (cell.when === 'before' ? 1 : 2) && struck.length === 0;
  return Object.create(patient, {
    stream: { value: (call: ModelCall) => (isStruck(call) ? hasty : patient).stream(call) },
  }) as HookedModel;
}

interface Ran {
  readonly events: readonly EngineEvent[];
  readonly owner: TurnOwner;
  readonly notes: number;
  readonly said: Said;
}

async function runCell(cell: Cell): Promise<Ran> {
  const owner: TurnOwner = { kind: 'run', id: JSON.stringify(cell) };
  const said = new Said();
  let notes = 0;
  const note = { inputSchema: { type: 'object', required: ['words'] }, execute: () => ((notes += 1), 'noted') };
  const events = await runDurable(db, owner, {
    model: modelOf(cell, owner, said),
    tools: registryOf({ note }),
    stream: cell.stream,
    ports: { sleep: async () => undefined },
    // Said before the request that the fault strikes.
    drainInput: async () =>
      said.isPending && (cell.when === 'before' || notes > 0) ? [{ id: said.id, message: said.id }] : [],
    closePendingInput: async () => !said.isPending || notes === 0,
  });
  return { events, owner, notes, said };
}

describe.each(faultNames)('fault %s', (fault) => {
  const own = cells.filter((cell) => cell.fault === fault);

  test.each(own)('$protocol, stream: $stream, $when the tool call', async (cell) => {
    const { events, owner, notes, said } = await runCell(cell);
    const turns = await db.read((ctx) => listTurns(ctx, owner));
    const struck = turns.find((turn) => faultOf.has(turn.id));
    const { turn: status, ledger: ledgerStatus, end: reason, served } = adjusted(cell);
    const ledger = await db.read(() => readRequest(struck?.id ?? ''));
    const own = simulator.requests().filter((request) => turns.some((turn) => turn.id === request.turnId));
    const end = events.at(-1) as RunEnd;

    expect({ turn: struck?.status, ledger: ledger?.status, end: end.reason, served: own.length }).toEqual({
      turn: status,
      ledger: ledgerStatus,
      end: reason,
      served,
    });
    expect(own.every((request) => !request.path.includes('redirected'))).toBe(true);
    expect(new Set(own.map((request) => request.turnId)).size).toBe(own.length);
    expectCharge(ledger?.chargedTokens ?? -1, ledgerStatus, struck?.response?.usage?.totalTokens ?? null);
    expect(notes).toBe(end.reason === 'completed' || cell.when === 'after' ? 1 : 0);
    expect(events.filter((event) => event.type === 'run-end')).toHaveLength(1);
    expect(events.map(({ type }) => type).filter((type) => !type.endsWith('-delta'))).toEqual(typesOf(cell));
    expect(said.states).toEqual(statesOf(adjusted(cell)));
    const history = await db.read((ctx) => readHistory(ctx, owner));
    expect(history.filter((entry) => entry.inputId === said.id)).toHaveLength(end.reason === 'completed' ? 1 : 0);
    checkValid(end.entries.map((entry) => entry.message));
    expect(history.map((entry) => entry.key).toSorted()).toEqual(end.entries.map((entry) => entry.key).toSorted());
  });
});

/** What ends the run in its second turn has let the first one through. */
function adjusted(cell: Cell): Expected {
  const value = expected[cell.fault](cell);
  return cell.when === 'after' && value.end === 'failed' ? { ...value, served: 2 } : value;
}

/** Bound by each start, let go by each failure, acknowledged by the one answer. */
function statesOf({ turn, end }: Expected): Said['states'] {
  const failed: Said['states'] = turn === 'responded' ? [] : ['bound', 'pending'];
  return end === 'completed' ? [...failed, 'bound', 'done'] : failed;
}

type Type = EngineEvent['type'];

/** Every event of the cell but the deltas: an answered turn, a call, an answered turn, and what the fault does to one of them. */
function typesOf(cell: Cell): readonly Type[] {
  const { turn, end, served } = adjusted(cell);
  const answered: readonly Type[] = ['turn-start', 'usage', 'turn-end'];
  const called: readonly Type[] = [...answered, 'tool-call-start', 'tool-call-end'];
  const struck: readonly Type[] =
    turn === 'responded' ? [] : ['turn-start', ...(end === 'failed' ? [] : ['retry' as const])];
  const [before, after] = cell.when === 'before' ? [struck, []] : [[], struck];
  if (end === 'failed') return [...(cell.when === 'before' ? [] : called), ...struck, 'run-end'];
  const cut = turn === 'responded' && served === 3 ? (cell.when === 'before' ? called : answered) : [];
  if (cell.when === 'before') return [...before, ...cut, ...called, ...answered, 'run-end'];
  return [...called, ...after, ...cut, ...answered, 'run-end'];
}

function expectCharge(tokens: number, status: RequestStatus, answeredTokens: number | null): void {
  if (status === 'released') expect(tokens).toBe(0);
  else if (status === 'reported') expect(tokens).toBe(answeredTokens);
  else expect(tokens).toBe(estimateTokens);
}

test('case E11, case E13: every fault of the simulator has its right value here', () => {
  expect(Object.keys(expected).toSorted()).toEqual([...faultNames].toSorted());
  expect(cells).toHaveLength(faultNames.length * 12);
});
