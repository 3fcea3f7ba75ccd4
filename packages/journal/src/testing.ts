import type { DatabaseOptions } from '@stint/storage';
import type { FreshStore } from '@stint/storage/testing';
import { historyCases } from './testing-history.js';
import { Fixture } from './testing-fixture.js';
import { operationCases } from './testing-operations.js';
import { pastAnswerCases } from './testing-past-answers.js';
import { turnCases } from './testing-turns.js';

/** `describe` and `it` of vitest, node:test or their like. */
export interface TestRunner {
  readonly describe: (name: string, define: () => void) => unknown;
  readonly it: (name: string, test: () => Promise<void>) => unknown;
}

/** Defines the tests that a journal has to pass on every engine. `fresh` makes a new, empty store for each. */
export function testJournal(
  runner: TestRunner,
  engine: string,
  fresh: () => Promise<FreshStore<DatabaseOptions>>,
): void {
  runner.describe(`journal on ${engine}`, () => {
    for (const { name, run } of [...turnCases, ...historyCases, ...operationCases, ...pastAnswerCases]) {
      runner.it(name, async () => {
        const store = await fresh();
        try {
          await run(await Fixture.open(store));
        } finally {
          await store.remove();
        }
      });
    }
  });
}
