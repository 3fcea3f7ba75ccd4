import type { DatabaseOptions } from '@stint/storage';
import type { FreshStore } from '@stint/storage/testing';
import { fenceCases } from './testing-fences.js';
import { Work } from './testing-harness.js';
import { lifecycleCases } from './testing-lifecycle.js';
import { recoveryCases } from './testing-recovery.js';
import { runCases } from './testing-runs.js';

/** `describe` and `it` of vitest, node:test or their like. */
export interface TestRunner {
  readonly describe: (name: string, define: () => void) => unknown;
  readonly it: (name: string, test: () => Promise<void>) => unknown;
}

/** Defines the tests that work items have to pass on every engine. `fresh` makes a new, empty store for each. */
export function testWorkItems(
  runner: TestRunner,
  engine: string,
  fresh: () => Promise<FreshStore<DatabaseOptions>>,
): void {
  runner.describe(`work items on ${engine}`, () => {
    for (const { name, run } of [...lifecycleCases, ...runCases, ...fenceCases, ...recoveryCases]) {
      runner.it(name, async () => {
        const store = await fresh();
        try {
          await run(await Work.open(store));
        } finally {
          await store.remove();
        }
      });
    }
  });
}
