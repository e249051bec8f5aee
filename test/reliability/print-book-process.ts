/**
 * A process of its own that writes two books, and prints everything that can be seen of them: every answer, all that can be
 * read, and every row. `node print-book-process.ts [reversed]`. The first line is the offset of its time zone in July, in
 * minutes.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openBook, readBook, samoanStart, springStart, stepsOf } from './book.ts';
import { dump } from './database-image.ts';
import { keepRowsReversed } from './statements.ts';

if (process.argv[2] === 'reversed') keepRowsReversed();
const directory = mkdtempSync(join(tmpdir(), 'tallybook-surroundings-'));
const lines = [String(new Date(2026, 6, 1).getTimezoneOffset())];
for (const start of [springStart, samoanStart]) {
  const file = join(directory, `${start}.db`);
  const steps = stepsOf(start);
  const book = await openBook(file, steps);
  for (const index of steps.keys()) lines.push(JSON.stringify(await book.perform(index)));
  for (const answer of await readBook(book.world)) lines.push(JSON.stringify(answer));
  await book.world.close();
  lines.push(dump(file));
}
process.stdout.write(lines.join('\n'));
rmSync(directory, { recursive: true });
