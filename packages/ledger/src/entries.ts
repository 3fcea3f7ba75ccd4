/** The journal: one line for each operation, chained by hashes. A line is a canonical JSON text (RFC 8785) of named fields. */
import * as crypto from 'node:crypto';
import { totalNames } from './totals.js';
import type { Actor, Totals } from './types.js';

export type EntryType =
  | 'attempts'
  | 'closed'
  | 'corrected'
  | 'created'
  | 'extended'
  | 'failed'
  | 'lowered'
  | 'released'
  | 'reserved'
  | 'resumed'
  | 'settled'
  | 'stopped'
  | 'succeeded'
  | 'unknown';

/** What an operation writes of itself. */
export interface EntryFields {
  readonly type: EntryType;
  /** The request, for entries about one. */
  readonly request?: string;
  /** The kind whose sums `delta` moves. */
  readonly kind?: string;
  /** What is added to the sums of the account and of every ancestor. */
  readonly delta?: Totals;
  readonly actor?: Actor;
  /** JSON facts: limits, reasons, attempts. */
  readonly details?: unknown;
}

/** One line as it is stored. */
export interface Entry {
  readonly account: string;
  readonly actor?: Actor;
  readonly at: number;
  /** The sums that moved; the others did not. */
  readonly delta?: Partial<Totals>;
  readonly details?: unknown;
  readonly kind?: string;
  readonly request?: string;
  /** `dataRevision` of the tree's root after this operation: 1, 2, 3 ... over all accounts of the tree. */
  readonly revision: number;
  /** 1, 2, 3 ... within the account. */
  readonly seq: number;
  readonly type: EntryType;
}

/** The head of a chain without entries. */
export const firstHead = '0'.repeat(64);

const sortedTotalNames = [...totalNames].sort();

/** The line of an entry. Keys are written in sorted order, absent ones left out: the text is already canonical. */
export function entryBody(
  entry: EntryFields & {
    readonly account: string;
    readonly at: number;
    readonly revision: number;
    readonly seq: number;
  },
): string {
  const line = {
    account: entry.account,
    actor: entry.actor === undefined ? undefined : { id: entry.actor.id, kind: entry.actor.kind },
    at: entry.at,
    delta: entry.delta === undefined ? undefined : movedTotals(entry.delta),
    details: entry.details,
    kind: entry.kind,
    request: entry.request,
    revision: entry.revision,
    seq: entry.seq,
    type: entry.type,
  };
  return entry.details === undefined ? JSON.stringify(line) : canonicalJson(line);
}

function movedTotals(delta: Totals): Partial<Totals> {
  const moved: Record<string, number> = {};
  for (const name of sortedTotalNames) {
    if (delta[name] !== 0) moved[name] = delta[name];
  }
  return moved;
}

/** The hash of a line: SHA-256 over the hash before it, a newline and the line. */
export function entryHash(previous: string, body: string): string {
  const text = `${previous}\n${body}`;
  return typeof crypto.hash === 'function'
    ? crypto.hash('sha256', text, 'hex')
    : crypto.createHash('sha256').update(text).digest('hex');
}

/** Canonical JSON after RFC 8785 for values made of texts, integers, booleans, null, lists and objects; undefined members are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const record = value as Record<string, unknown>;
  const members = Object.keys(record)
    .sort()
    .filter((key) => record[key] !== undefined)
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(record[key])}`);
  return `{${members.join(',')}}`;
}
