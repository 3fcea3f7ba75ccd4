import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'e2e',
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    /** Tests that say so run beside each other: they wait for processes more than they work. */
    maxConcurrency: 4,
    globalSetup: ['./browser.setup.ts'],
  },
});
