/**
 * A process of its own that writes the book: `node book-process.ts FILE FROM [TO] [KILL_AT]`. Prints the number of each step
 * once it is acknowledged. With KILL_AT it kills itself ahead of that statement of step FROM, counted from 1; behind the
 * last one with one more than there are.
 */

import { writeSync } from 'node:fs';

import { openBook, stepsOf } from './book.ts';
import { watchStatements } from './statements.ts';

const [file = '', from = '0', to = String(stepsOf().length), killAt = '0'] = process.argv.slice(2);
const book = await openBook(file);
let statements = 0;
const note = (): void => {
  statements += 1;
  if (statements === Number(killAt)) process.kill(process.pid, 'SIGKILL');
};
watchStatements(note);
for (let index = Number(from); index < Number(to); index += 1) {
  await book.perform(index);
  note();
  writeSync(1, `${index}\n`);
}
await book.world.close();
