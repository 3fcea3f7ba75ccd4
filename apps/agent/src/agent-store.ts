import { type Database, type MigrationSet, one, run, type Transaction } from '@stint/storage';

/** What the agent itself keeps: the store's identity, which tells browsers that another store is another world. */
export const agentMigrations: MigrationSet = {
  package: 'agent',
  migrations: [
    {
      number: 1,
      name: 'store identity',
      statements: ['CREATE TABLE agent_store (place INTEGER PRIMARY KEY, store_id TEXT NOT NULL)'],
    },
  ],
};

const insertIdentity = 'INSERT INTO agent_store (place, store_id) VALUES (1, ?) ON CONFLICT DO NOTHING';
const selectIdentity = 'SELECT store_id FROM agent_store WHERE place = 1';

/** The id of this store, given when it is first opened. */
export async function storeIdentity(db: Database): Promise<string> {
  return await db.write(function* (ctx): Transaction<string> {
    const known = yield* one<{ store_id: string }>(selectIdentity);
    if (known) return known.store_id;
    yield* run(insertIdentity, [ctx.newId()]);
    const made = yield* one<{ store_id: string }>(selectIdentity);
    return made?.store_id ?? '';
  });
}
