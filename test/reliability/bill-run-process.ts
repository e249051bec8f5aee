/** A process of its own that does a bill run: `node bill-run-process.ts FILE PREFIX`. Prints how many invoices it finalized. */

import { writeSync } from 'node:fs';

import { openDueBook } from './due-book.ts';

const [file = '', prefix = ''] = process.argv.slice(2);
const world = await openDueBook(file, prefix);
const { data } = await world.call('bill.run', { body: {} });
writeSync(1, `${data.finalizedCount} ${data.failedCount}\n`);
await world.close();
