import { bodyCases } from './conformance-bodies.js';
import { migrationCases } from './conformance-migrations.js';
import { processCases } from './conformance-processes.js';
import type { DatabaseOptions } from './database.js';
import type { FreshStore } from './fresh.js';

/** `describe` and `it` of vitest, node:test or their like. */
export interface TestRunner {
  readonly describe: (name: string, define: () => void) => unknown;
  readonly it: (name: string, test: () => Promise<void>) => unknown;
}

/** A new, empty store for each test. */
export type StoreSource = () => Promise<FreshStore<DatabaseOptions>>;

/** Defines the tests that every engine has to pass: bodies, values, migrations, notification, heartbeat. */
export function testStorage(runner: TestRunner, engine: string, fresh: StoreSource): void {
  runner.describe(`storage on ${engine}`, () => {
    for (const { name, run } of [...bodyCases, ...migrationCases, ...processCases]) {
      runner.it(name, async () => {
        const store = await fresh();
        try {
          await run(store);
        } finally {
          await store.remove();
        }
      });
    }
  });
}
