/**
 * One of several operators at once: `node journal-process.ts FILE NUMBER COUNT`. Prints `ready`, waits for a line, so that all of
 * them begin together, and then writes so many lines into the journal, one after the other.
 */

import { once } from 'node:events';

import { createJournal } from '../../src/cli/operator/journal.ts';

const [file = '', number = '', count = '0'] = process.argv.slice(2);
const machine = { platform: process.platform, userId: process.getuid?.(), now: () => Date.now() };
const journal = createJournal(file, machine);
const facts = { at: '2026-03-01T00:00:00Z', state: 'done', operator: 'ada', environment: 'sandbox' } as const;

process.stdout.write('ready\n');
await once(process.stdin, 'data');
process.stdin.destroy();
for (let index = 0; index < Number(count); index += 1) {
  const call = `${number}-${index}`;
  await journal.record({ ...facts, target: 't', operation: 'o', requestHash: '', call });
}
