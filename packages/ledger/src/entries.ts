/** The journal: one line for each operation, chained by hashes. A line is a canonical JSON text (RFC 8785) of named fields. */
import * as crypto from 'node:crypto';
import { type Row, run, type Transaction } from '@stint/storage';
import { parseJson } from './stored-json.js';
import type { PackedTotals } from './totals.js';
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
  readonly request?: string | undefined;
  /** The kind whose sums `delta` moves. */
  readonly kind?: string | undefined;
  /** What is added to the sums of the account and of every ancestor. */
  readonly delta?: Totals | undefined;
  readonly actor?: Actor | undefined;
  /** JSON facts: limits, reasons, attempts. */
  readonly details?: unknown;
}

/** One line as it is stored. */
export interface Entry {
  readonly account: string;
  readonly actor?: Actor | undefined;
  readonly at: number;
  /** What is added to the sums, packed. */
  readonly delta?: PackedTotals | undefined;
  readonly details?: unknown;
  readonly kind?: string | undefined;
  readonly request?: string | undefined;
  /** `dataRevision` of the tree's root after this operation: 1, 2, 3 ... over all accounts of the tree. */
  readonly revision: number;
  /** 1, 2, 3 ... within the account. */
  readonly seq: number;
  readonly type: EntryType;
}

/** The head of a chain without entries. */
export const firstHead = '';

/** The line of an entry: canonical JSON, absent members left out. */
export function entryLine(entry: Entry): string {
  const line = {
    account: entry.account,
    actor: entry.actor === undefined ? undefined : { id: entry.actor.id, kind: entry.actor.kind },
    at: entry.at,
    delta: entry.delta,
    details: entry.details,
    kind: entry.kind,
    request: entry.request,
    revision: entry.revision,
    seq: entry.seq,
    type: entry.type,
  };
  // Written in sorted order, so that the text is canonical already but for the details.
  return entry.details === undefined ? JSON.stringify(line) : canonicalJson(line);
}

const insertEntry = `INSERT INTO ledger_entries (account, seq, revision, at, type, request, kind, delta, actor, details, hash)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Appends a line to an account's chain and answers the new head. */
export function* writeEntry(entry: Entry, head: string): Transaction<string> {
  const hash = entryHash(head, entryLine(entry));
  yield* run(insertEntry, [
    entry.account,
    entry.seq,
    entry.revision,
    entry.at,
    entry.type,
    entry.request ?? null,
    entry.kind ?? null,
    entry.delta === undefined ? null : JSON.stringify(entry.delta),
    entry.actor === undefined ? null : JSON.stringify(entry.actor),
    entry.details === undefined ? null : canonicalJson(entry.details),
    hash,
  ]);
  return hash;
}

export const entryColumns = 'account, seq, revision, at, type, request, kind, delta, actor, details, hash';

/** A stored entry with its stored hash. */
export interface StoredEntry extends Entry {
  readonly hash: string;
}

export function entryOf(row: Row): StoredEntry {
  return {
    account: row.account as string,
    ...(row.actor === null ? {} : { actor: parseJson<Actor>(row.actor as string) }),
    at: row.at as number,
    ...(row.delta === null ? {} : { delta: parseJson<PackedTotals>(row.delta as string) }),
    ...(row.details === null ? {} : { details: parseJson<unknown>(row.details as string) }),
    ...(row.kind === null ? {} : { kind: row.kind as string }),
    ...(row.request === null ? {} : { request: row.request as string }),
    revision: row.revision as number,
    seq: row.seq as number,
    type: row.type as EntryType,
    hash: row.hash as string,
  };
}

/** The hash of a line: SHA-256 over the hash before it, a newline and the line. */
export function entryHash(previous: string, line: string): string {
  const text = `${previous}\n${line}`;
  return typeof crypto.hash === 'function'
    ? crypto.hash('sha256', text, 'base64url')
    : crypto.createHash('sha256').update(text).digest('base64url');
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
