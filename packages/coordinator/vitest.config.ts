import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'coordinator',
    include: ['src/**/*.test.ts'],
    globalSetup: ['@stint/storage/testing/postgres-setup'],
    maxConcurrency: 4,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
