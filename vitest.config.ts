import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Those that take longest, however small they are: begun last, one of them would keep one core busy and the others idle. */
const longest = [
  'store/clickhouse.test.ts',
  'engine-on-postgres.test.ts',
  'cli/examples.test.ts',
  'docs/pages.test.ts',
  'model/engine-equals-model.test.ts',
  'scripts/scripts.test.ts',
  'cli/every-command.test.ts',
  'store/sqlite.test.ts',
  'cli/bulk/grants.test.ts',
  'reliability/bill-run.test.ts',
  'reliability/kill.test.ts',
  'reliability/postgres-kill.test.ts',
  'cli/events-elsewhere.test.ts',
];

/** Vitest goes by the size of files where it has no times of an earlier run. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const rank = longest.findIndex((name) => moduleId.endsWith(`/test/${name}`));
      return rank === -1 ? longest.length : rank;
    };
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

export default defineConfig({
  test: {
    // One worker a core: the default leaves one core idle, and half of the time here is waiting for other processes.
    maxWorkers: '100%',
    // Files share the processes and what those have loaded, which is a third of the time of most of them.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    globalSetup: [
      'test/support/temporary-files.ts',
      'test/support/postgres-setup.ts',
      'test/support/clickhouse-setup.ts',
      'test/support/bundle-setup.ts',
    ],
    include: ['test/**/*.test.ts'],
    // Real databases and child processes: a cold machine whose two cores others use as well needs more than the default five seconds.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: {
      // The second that is usual is less than a busy machine may let anything wait.
      poll: { timeout: 20_000 },
      // A test whose loop had nothing to go through, or whose condition never came, has proved nothing.
      requireAssertions: true,
    },
    passWithNoTests: false,
    // As Node imports CommonJS: a default export that is a promise would else be wrapped, and no longer be one.
    deps: { interopDefault: false },
  },
});
