import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import type { Reporter } from 'vitest/node';

/** Prints one plain closing line, `N passed, N failed`, after vitest's own summary. */
const closingLine: Reporter = {
  onTestRunEnd(modules, unhandled) {
    let passed = 0;
    let failed = unhandled.length;
    for (const module of modules) {
      if (module.errors().length > 0) failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed += 1;
        else if (state === 'failed') failed += 1;
      }
    }
    process.once('exit', () => console.log(`${passed} passed, ${failed} failed`));
  },
};

export default defineConfig({
  test: {
    projects: ['packages/*', 'apps/bridge', 'apps/agent', 'apps/web', 'e2e', 'scripts'],
    reporters: ['default', closingLine],
    passWithNoTests: false,
    // Most files wait for processes and servers: two at once, even where one core would be left over.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
