import type { DatabaseOptions } from '@stint/storage';
import type { FreshStore } from '@stint/storage/testing';
import { admissionCases } from './conformance-admission.js';
import { edgeCases } from './conformance-edges.js';
import { faultCases } from './conformance-faults.js';
import { openKit } from './conformance-kit.js';
import { peopleCases } from './conformance-people.js';
import { replayCases } from './conformance-replay.js';
import { settlementCases } from './conformance-settlement.js';
import { windowCases } from './conformance-windows.js';

/** `describe` and `it` of vitest, node:test or their like. */
export interface TestRunner {
  readonly describe: (name: string, define: () => void) => unknown;
  readonly it: (name: string, test: () => Promise<void>) => unknown;
}

/** A new, empty store for each test. */
export type StoreSource = () => Promise<FreshStore<DatabaseOptions>>;

/** Defines the tests that the ledger passes on every store: admission, settlement, windows, people's commands, and the faults of its kind. */
export function testLedger(runner: TestRunner, engine: string, fresh: StoreSource): void {
  const cases = [
    ...admissionCases,
    ...settlementCases,
    ...windowCases,
    ...peopleCases,
    ...replayCases,
    ...edgeCases,
    ...faultCases,
  ];
  runner.describe(`ledger on ${engine}`, () => {
    for (const { name, run } of cases) {
      runner.it(name, async () => {
        const store = await fresh();
        try {
          await run(await openKit(store));
        } finally {
          await store.remove();
        }
      });
    }
  });
}
