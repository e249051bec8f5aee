import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // One worker a core: the default leaves one core idle, and half of the time here is waiting for other processes.
    maxWorkers: '100%',
    globalSetup: [
      'test/support/temporary-files.ts',
      'test/support/postgres-setup.ts',
      'test/support/clickhouse-setup.ts',
    ],
    include: ['test/**/*.test.ts'],
    // Real databases and child processes: a cold machine with two cores needs more than the default five seconds.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    passWithNoTests: false,
    // As Node imports CommonJS: a default export that is a promise would else be wrapped, and no longer be one.
    deps: { interopDefault: false },
  },
});
