import type { Database, DatabaseOptions } from '@stint/storage';
import type { FreshStore } from '@stint/storage/testing';
import { createLedger, type Ledger, type LedgerOptions } from './ledger.js';
import type { ReserveInput, ReserveResult } from './reserve.js';
import type { Usage } from '@stint/provider-hooks';
import type { Actor, RefusalReason } from './types.js';

/** A ledger as one process sees it. */
export interface OpenLedger {
  readonly db: Database;
  readonly ledger: Ledger;
}

/** What a case works with: a fresh store with the ledger's tables, its clock, and the way to open it as another process would. */
export interface Kit extends OpenLedger {
  /** The time that all ledgers of this store see; cases set it. */
  readonly time: { now: number };
  /** Opens the store again, with a heartbeat of its own. */
  another(options?: LedgerOptions): Promise<OpenLedger>;
}

/** A test of what every store has to do. */
export interface LedgerCase {
  readonly name: string;
  readonly run: (kit: Kit) => Promise<void>;
}

export const person: Actor = { kind: 'person', id: 'ada' };

/** 2026-03-10T12:00:00Z, a day without change of clocks. */
const noon = Date.UTC(2026, 2, 10, 12);

export async function openKit(store: FreshStore<DatabaseOptions>): Promise<Kit> {
  const time = { now: noon };
  const another = async (options: LedgerOptions = {}): Promise<OpenLedger> => {
    const db = await store.open({ clock: () => time.now });
    return { db, ledger: createLedger(db, options) };
  };
  const first = await another();
  await first.ledger.migrate();
  return { ...first, time, another };
}

let lastId = 0;

/** A new, time-ordered id. */
export function nextId(): string {
  lastId += 1;
  return `request-${String(lastId).padStart(9, '0')}`;
}

export function ask(account: string, tokens: number, more: Partial<ReserveInput> = {}): ReserveInput {
  return {
    id: nextId(),
    account,
    kind: 'action',
    model: 'simulated:default',
    estimate: { tokens, costMicros: null },
    ...more,
  };
}

export function askCost(account: string, costMicros: number, more: Partial<ReserveInput> = {}): ReserveInput {
  return ask(account, 10, { estimate: { tokens: 10, costMicros }, ...more });
}

/** A usage of so many tokens, all of them output. */
export function used(tokens: number): Usage {
  return {
    inputTokens: 0,
    outputTokens: tokens,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    totalTokens: tokens,
  };
}

/** The reason of a refusal. @throws Error if the request was allowed */
export function refusalOf(result: ReserveResult): RefusalReason {
  if (!result.allowed) return result.reason;
  throw new Error(`request ${result.id} was allowed`);
}

/** Reserves and gives back the id. @throws Error if it was refused */
export async function hold(ledger: Ledger, input: ReserveInput): Promise<string> {
  const result = await ledger.reserveRequest(input);
  if (result.allowed) return result.id;
  throw new Error(`refused: ${result.reason.message}`);
}

/** What comes by a notice of the store, within twenty seconds. Its watch does not keep a process alive; this does. */
export async function inTime<T>(awaited: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('nothing came within 20 s')), 20_000);
  });
  return await Promise.race([awaited, late]).finally(() => clearTimeout(timer));
}
