import { type PostgresServer, startPostgres } from './start-postgres.js';

/** What vitest gives to a global setup, as far as it is used here. */
interface ProvidingProject {
  provide(key: 'pgUrl', value: string): void;
}

declare module 'vitest' {
  // A test reads it with inject('pgUrl').
  export interface ProvidedContext {
    pgUrl: string;
  }
}

interface Shared {
  users: number;
  server: Promise<PostgresServer>;
}

/** Vitest loads this file once a project, in one process: the projects of a run find the one server here. */
const sharedKey = Symbol.for('@stint/storage:shared-postgres');
const registry = globalThis as { [sharedKey]?: Shared };

/**
 * A vitest global setup: `globalSetup: ['@stint/storage/testing/postgres-setup']`. Starts one Postgres a vitest run and
 * provides its URL as `pgUrl`; take a database of your own from it with `freshPostgres(inject('pgUrl'))`.
 */
export default async function postgresSetup(project: ProvidingProject): Promise<() => Promise<void>> {
  const shared = (registry[sharedKey] ??= { users: 0, server: startPostgres() });
  shared.users += 1;
  const server = await shared.server;
  project.provide('pgUrl', server.url);
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    delete registry[sharedKey];
    await server.stop();
  };
}
