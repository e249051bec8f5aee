/**
 * A process of its own that sends batches of events until it is killed: `node ingest-process.ts FILE`. Prints the number of
 * each batch once it is acknowledged. Its store derives data at every third batch, so that a kill meets that work too.
 */

import { writeSync } from 'node:fs';

import { openStore } from '../../src/store/open.ts';
import { batchOf, eventUpkeep } from './ingest-batches.ts';

const [file = ''] = process.argv.slice(2);
const store = await openStore(file, { eventUpkeep });
for (let batch = 0; batch < 2_000; batch += 1) {
  await store.write((tx) => store.events.append(tx, 'org-a', batchOf(batch), () => true));
  writeSync(1, `${batch}\n`);
}
await store.close();
