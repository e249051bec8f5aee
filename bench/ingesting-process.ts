/** A separate process that sends batches of 1,000 events until it is killed; reports to its parent how many are acknowledged. */

import { ingestRate, openService } from './event-service.ts';

const [file = '', count = '0'] = process.argv.slice(2);
const service = await openService(file);
const batch = 1_000;
for (let first = 0; first < Number(count); first += batch) {
  await ingestRate(service, { first, last: first + batch, count: Number(count), batch });
  process.send?.(first + batch);
}
await service.close();
