import { chmodSync, statfsSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createMaintenance } from '../../src/engine/maintenance.ts';
import { openStore } from '../../src/store/open.ts';
import { newDirectory } from '../support/temporary-files.ts';

test.skipIf(process.platform === 'win32')('a file of which the disk could take no copy is pointed out', async () => {
  const directory = newDirectory();
  const file = join(directory, 'billing.db');
  await (await openStore(file)).close();
  chmodSync(file, 0o600);
  const maintenance = createMaintenance({ now: () => Temporal.Now.instant() });
  const found = async () => (await maintenance.examine(file, { isFull: false, events: undefined })).findings;
  expect(await found()).toEqual([]);
  // Behind its last page it is a hole, which takes nothing of the disk.
  const { bavail, bsize } = statfsSync(directory);
  const size = (bavail + 2 ** 20) * bsize;
  truncateSync(file, size);
  expect(await found()).toEqual([
    {
      check: 'disk-space',
      severity: 'warning',
      objectId: file,
      problem: expect.stringMatching(new RegExp(`^\\d+ bytes are free on its disk, of ${size} that it may need`)),
      fix: expect.stringContaining('free space'),
    },
  ]);
});
