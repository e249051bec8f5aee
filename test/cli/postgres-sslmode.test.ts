import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { refuseUnknownSslMode } from '../../src/store/open.ts';
import { runProgram } from '../support/program.ts';
import { newDirectory } from '../support/temporary-files.ts';

const server = 'postgres://ada:secret@127.0.0.1:1/book';
const words = 'disable, prefer, require, verify-ca, verify-full, no-verify';

test.each([
  ['customers', 'list', '--database', server],
  ['doctor', '--database', server],
  ['doctor', '--rebuild', '--yes', '--database', server],
  ['backup', 'book.db', '--database', server],
  ['copy', '--from', 'book.db', '--to', server],
  ['copy', '--from', server, '--to', 'book.db'],
  ['restore', 'book.db', '--to', server],
])('%s %s … with a PGSSLMODE that is no word is refused before anything is sent in clear', async (...line) => {
  const home = newDirectory();
  writeFileSync(join(home, 'book.db'), '');
  const given = line.map((word) => (word === 'book.db' ? join(home, word) : word));
  const { code, stderr } = await runProgram(given, { home, environment: { PGSSLMODE: 'verify_full' } });
  expect(stderr).toContain(
    `tally: PGSSLMODE=verify_full is not a known mode\n  hint: set it to one of ${words}, or give sslmode in the URL\n`,
  );
  expect(stderr).not.toContain('secret');
  expect(code).toBe(2);
});

test.each([
  [server, undefined],
  [server, ''],
  [server, 'prefer'],
  [server, 'verify-full'],
  [`${server}?sslmode=disable`, 'verify_full'],
  [`${server}?connect_timeout=5&sslrootcert=system`, 'verify_full'],
  ['book.db', 'verify_full'],
])('%s with PGSSLMODE %o is what it was', async (database, mode) => {
  await expect(refuseUnknownSslMode(database, mode)).resolves.toBeUndefined();
});

test.each(['allow', 'Require', 'on'])(
  'PGSSLMODE=%s would be a connection without TLS, and is refused',
  async (mode) => {
    await expect(refuseUnknownSslMode(server, mode)).rejects.toThrow(`PGSSLMODE=${mode} is not a known mode`);
  },
);
