// The long tier of the tests: the same files with many more seeds, injected faults and processes. Takes vitest's arguments.
// Plain JavaScript without a shell, so that it runs alike on every system.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [vitest, 'run', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, TALLY_LONG: '1' },
});
process.exitCode = status ?? 1;
