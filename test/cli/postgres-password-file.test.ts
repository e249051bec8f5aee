/** The password file of PostgreSQL, which keeps a password out of the words of a command. */

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { runProgram } from '../support/program.ts';
import { listenOnLoopback } from '../support/free-port.ts';
import { newDirectory } from '../support/temporary-files.ts';

/** As the protocol has them: the server asks for the password in clear, and refuses whatever it is given. */
const asksForPassword = Buffer.from('R\0\0\0\x08\0\0\0\x03', 'latin1');
const refusal = Buffer.from('E\0\0\0\x17SFATAL\0C28P01\0Mno\0\0', 'latin1');

test('a password comes from its file, and what a library thinks of that is nobody’s business', async () => {
  const given: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(asksForPassword);
      socket.once('data', (message: Buffer) => {
        given.push(message.subarray(5, -1).toString());
        socket.end(refusal);
      });
    });
  });
  const port = await listenOnLoopback(server);
  const home = newDirectory();
  onTestFinished(() => void server.close());
  const file = join(home, 'pgpass');
  writeFileSync(file, '*:*:*:ada:from the file\n', { mode: 0o600 });
  const url = `postgres://ada@127.0.0.1:${port}/billing`;
  const words = ['customers', 'list', '--database', url];
  const { code, stderr } = await runProgram(words, { home, environment: { PGPASSFILE: file } });
  expect([code, given]).toEqual([9, ['from the file']]);
  expect(stderr).toMatch(/^tally: the database \S+ refuses this user.*\n {2}hint: .*\n$/);
});
