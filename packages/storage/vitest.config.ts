import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'storage',
    include: ['src/**/*.test.ts'],
    globalSetup: ['./src/postgres-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
