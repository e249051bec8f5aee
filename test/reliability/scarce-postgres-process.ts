/** A process of its own that has every file open that it may, and then needs another session. Prints what came of it. */

import { closeSync, openSync, writeSync } from 'node:fs';

import { openStore } from '../../src/store/open.ts';

const store = await openStore(process.argv[2] ?? '');
const read = async (): Promise<string> => await store.read(async () => 'read').catch(String);

const begun = Promise.withResolvers<void>();
const isOver = Promise.withResolvers<void>();
const holding = store.read(async () => {
  begun.resolve();
  await isOver.promise;
});
await begun.promise;
const taken: number[] = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {
  // That was the last one.
}
const lines = [await read()];
for (const file of taken) closeSync(file);
lines.push(await read());
isOver.resolve();
await holding;
await store.close();
writeSync(1, `${lines.join('\n')}\n`);
