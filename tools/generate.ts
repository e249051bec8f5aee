/** Writes the generated files. With `--check` only names the stale ones, and fails if there are any. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { staleFiles } from './generated.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const isCheck = process.argv.includes('--check');

for await (const { path, content } of staleFiles()) {
  if (isCheck) {
    process.stderr.write(`${path} is not current: run npm run generate\n`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
    process.stdout.write(`${path} written\n`);
  }
}
