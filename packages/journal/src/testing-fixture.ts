import { randomUUID } from 'node:crypto';
import type { Body, Context, Database, DatabaseOptions } from '@stint/storage';
import type { FreshStore } from '@stint/storage/testing';
import type { FrozenRequest, HistoryEntry, TurnResponse } from '@stint/provider-hooks';
import { journalMigrations } from './schema.js';
import { insertTurn, recordResponse } from './turns.js';
import type { TurnOwner } from './types.js';

export interface JournalCase {
  readonly name: string;
  readonly run: (fixture: Fixture) => Promise<void>;
}

/** A store with the journal's tables, and an owner. */
export class Fixture {
  readonly owner: TurnOwner = { kind: 'run', id: randomUUID() };

  private constructor(
    readonly store: FreshStore<DatabaseOptions>,
    readonly db: Database,
  ) {}

  static async open(store: FreshStore<DatabaseOptions>): Promise<Fixture> {
    const db = await store.open();
    await db.migrate(journalMigrations);
    return new Fixture(store, db);
  }

  write<T>(body: Body<T>): Promise<T> {
    return this.db.write(body);
  }

  read<T>(body: Body<T>): Promise<T> {
    return this.db.read(body);
  }

  /** A dispatched turn that carries these entries; answers its id. */
  async dispatch(entries: readonly HistoryEntry[] = [], request: Partial<FrozenRequest> = {}): Promise<string> {
    return this.write(
      function* (this: Fixture, ctx: Context) {
        const id = ctx.newId();
        yield* insertTurn(ctx, { id, owner: this.owner, request: requestOf({ entries, ...request }) });
        return id;
      }.bind(this),
    );
  }

  /** A turn that was answered; answers its id. */
  async answer(entries: readonly HistoryEntry[] = [], response: Partial<TurnResponse> = {}): Promise<string> {
    const id = await this.dispatch(entries);
    await this.write((ctx) => recordResponse(ctx, id, responseOf(response)));
    return id;
  }

  /** Another process on the same store that wrote something, and is gone. */
  async deadProcess<T>(body: Body<T>): Promise<T> {
    const other = await this.store.open();
    const result = await other.write(body);
    await other.close();
    return result;
  }
}

export function requestOf(request: Partial<FrozenRequest> = {}): FrozenRequest {
  return {
    model: 'sim:m',
    provider: 'sim',
    modelId: 'm',
    prompt: [],
    tools: [],
    settings: { maxOutputTokens: 100 },
    hash: 'hash',
    stream: true,
    turnNumber: 1,
    inputIds: [],
    entries: [],
    purpose: 'turn',
    ...request,
  };
}

export function responseOf(response: Partial<TurnResponse> = {}): TurnResponse {
  const text = response.text ?? 'hello';
  return { content: [{ type: 'text', text }], text, finishReason: 'stop', usage: null, model: 'm-2', ...response };
}

export function inputEntry(id: string): HistoryEntry {
  return {
    key: `input:${id}`,
    kind: 'input',
    inputId: id,
    message: { role: 'user', content: [{ type: 'text', text: id }] },
  };
}

export function note(key: string): HistoryEntry {
  return { key, kind: 'note', message: { role: 'user', content: [{ type: 'text', text: key }] } };
}
