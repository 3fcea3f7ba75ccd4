import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { checkResult, refuseYield, resumeBody, startBody } from './body.js';
import type { Body, Clock, Context } from './context.js';
import { createIdSource } from './ids.js';
import { isConflict } from './postgres-errors.js';
import { PostgresSession } from './postgres-session.js';
import { QueryCache } from './postgres-sql.js';
import { portableTypes } from './postgres-types.js';
import { isStatement, type Statement, type Transaction } from './statement.js';

/** Which of the two bodies does its next step. */
export type Side = 'first' | 'second';

/** How a body ended. */
export type SideOutcome<T> =
  | { readonly status: 'committed'; readonly value: T; readonly conflicts: number }
  | { readonly status: 'failed'; readonly error: unknown; readonly conflicts: number };

export interface InterleaveOptions<A, B> {
  /** A Postgres database with the tables in place. */
  readonly url: string;
  readonly first: Body<A>;
  readonly second: Body<B>;
  /** Begin, each statement and commit are one step each. A step of a blocked side is skipped. */
  readonly schedule: readonly Side[];
  /** @default the server's clock */
  readonly clock?: Clock;
  /** `ctx.owner` of the two. @default 'first' and 'second' */
  readonly owners?: Readonly<Record<Side, string>>;
}

export interface Interleaving<A, B> {
  readonly first: SideOutcome<A>;
  readonly second: SideOutcome<B>;
  /** What happened, in order: `first: SELECT ...`, `second: blocked`, `first: commit`. */
  readonly trace: readonly string[];
}

/**
 * Runs two bodies on two connections of a real Postgres, step by step in the order of the schedule, then both to their
 * ends. Who waits for a row lock of the other is seen in `pg_blocking_pids`. A deadlock or serialization failure runs
 * the body again from its start, as `write` does.
 */
export async function interleave<A, B>(options: InterleaveOptions<A, B>): Promise<Interleaving<A, B>> {
  const clients = await Promise.all([connect(options.url), connect(options.url), connect(options.url)]);
  const [firstClient, secondClient, observer] = clients;
  const trace: string[] = [];
  try {
    const first = new Stepper('first', options.first, { client: firstClient, observer, trace, ...options });
    const second = new Stepper('second', options.second, { client: secondClient, observer, trace, ...options });
    const sides = { first, second };
    for (const side of options.schedule) await sides[side].step();
    while (first.outcome === undefined || second.outcome === undefined) {
      await first.step();
      await second.step();
    }
    return { first: first.outcome, second: second.outcome, trace };
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

/**
 * Schedules for a body of `first` steps and one of `second`: all of them when there are at most `limit`, else `limit`
 * drawn at random. Steps of a body are its statements plus two.
 */
export function schedules(first: number, second: number, limit: number, random: () => number): Side[][] {
  if (countSchedules(first, second) <= limit) return allSchedules(first, second);
  return Array.from({ length: limit }, () => drawSchedule(first, second, random));
}

function countSchedules(first: number, second: number): number {
  let count = 1;
  for (let index = 1; index <= second; index += 1) count = (count * (first + index)) / index;
  return Math.round(count);
}

function allSchedules(first: number, second: number): Side[][] {
  if (first === 0) return [Array.from({ length: second }, () => 'second')];
  if (second === 0) return [Array.from({ length: first }, () => 'first')];
  return [
    ...allSchedules(first - 1, second).map((rest): Side[] => ['first', ...rest]),
    ...allSchedules(first, second - 1).map((rest): Side[] => ['second', ...rest]),
  ];
}

function drawSchedule(first: number, second: number, random: () => number): Side[] {
  const left = { first, second };
  return Array.from({ length: first + second }, () => {
    const side: Side = random() * (left.first + left.second) < left.first ? 'first' : 'second';
    left[side] -= 1;
    return side;
  });
}

interface StepperOptions {
  readonly client: Client;
  readonly observer: Client;
  readonly trace: string[];
  readonly clock?: Clock;
  readonly owners?: Readonly<Record<Side, string>>;
}

const longestConflictRuns = 10;
const lockTimeoutMs = 10_000;

/** One body on one connection. Its states: *ready* for a step, *waiting* for an answer that a lock holds up, *ended*. */
class Stepper<T> {
  readonly #side: Side;
  readonly #body: Body<T>;
  readonly #options: StepperOptions;
  readonly #queries = new QueryCache();
  readonly #ids = createIdSource();
  #session: PostgresSession | undefined;
  #transaction: Transaction<T> | undefined;
  #answer: unknown;
  #waiting: Promise<void> | undefined;
  #conflicts = 0;
  outcome: SideOutcome<T> | undefined;

  constructor(side: Side, body: Body<T>, options: StepperOptions) {
    this.#side = side;
    this.#body = body;
    this.#options = options;
  }

  /** Does one step and comes back when it is done or waits for a lock; a waiting side is only looked at. */
  async step(): Promise<void> {
    if (this.outcome !== undefined) return;
    if (this.#waiting === undefined) {
      const waiting = this.#advance().finally(() => {
        if (this.#waiting === waiting) this.#waiting = undefined;
      });
      this.#waiting = waiting;
    }
    await this.#settledOrBlocked();
  }

  async #settledOrBlocked(): Promise<void> {
    while (this.#waiting !== undefined) {
      const settled = await Promise.race([this.#waiting.then(() => true), sleep(2, false)]);
      if (settled) return;
      if (!(await this.#isBlocked())) continue;
      this.#trace('blocked');
      return;
    }
  }

  async #isBlocked(): Promise<boolean> {
    const { client, observer } = this.#options;
    const { rows } = await observer.query<{ blocked: number }>(
      'SELECT cardinality(pg_blocking_pids($1)) > 0 AS blocked',
      [(client as Client & { processID: number }).processID],
    );
    return rows[0]?.blocked === 1;
  }

  async #advance(): Promise<void> {
    try {
      await this.#nextStep();
    } catch (error) {
      await this.#session?.rollback();
      this.#session = undefined;
      this.#transaction = undefined;
      this.#trace(`rolled back: ${String(error)}`);
      if (isConflict(error) && this.#conflicts < longestConflictRuns) this.#conflicts += 1;
      else this.outcome = { status: 'failed', error, conflicts: this.#conflicts };
    }
  }

  async #nextStep(): Promise<void> {
    if (this.#session === undefined || this.#transaction === undefined) return this.#begin();
    const step = resumeBody(this.#transaction, this.#answer);
    if (step.done === true) return this.#commit(this.#session, checkResult(step.value));
    const statement: Statement = step.value;
    if (!isStatement(statement)) throw refuseYield(statement);
    this.#trace(statement.sql);
    this.#answer = await this.#session.execute(statement);
  }

  async #begin(): Promise<void> {
    const { client, clock, owners } = this.#options;
    this.#trace('begin');
    this.#session = new PostgresSession(client, this.#queries, { writes: true, sender: this.#side });
    const serverNow = await this.#session.begin();
    const owner = owners?.[this.#side] ?? this.#side;
    const ctx: Context = { now: clock?.() ?? serverNow, newId: this.#ids, owner };
    this.#transaction = startBody(this.#body, ctx);
    this.#answer = undefined;
  }

  async #commit(session: PostgresSession, value: T): Promise<void> {
    this.#trace('commit');
    await session.commit();
    this.outcome = { status: 'committed', value, conflicts: this.#conflicts };
  }

  #trace(what: string): void {
    this.#options.trace.push(`${this.#side}: ${what}`);
  }
}

async function connect(url: string): Promise<Client> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, lock_timeout: lockTimeoutMs, types: portableTypes as never });
  await client.connect();
  return client;
}
