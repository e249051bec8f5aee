import { expect, test } from 'vitest';

import { connectionOf } from '../../src/store/backends/postgres-url.ts';

const server = 'postgres://ada:secret@db.example/book';
const authority = import.meta.filename;

test.each([
  ['?sslmode=require', { rejectUnauthorized: false }],
  ['?sslmode=no-verify', { rejectUnauthorized: false }],
  [
    `?sslmode=require&sslrootcert=${authority}`,
    { rejectUnauthorized: true, ca: expect.stringContaining('connectionOf') },
  ],
  ['?sslmode=verify-ca', { rejectUnauthorized: true, checkServerIdentity: expect.any(Function) }],
  [`?sslrootcert=${authority}`, { rejectUnauthorized: true, ca: expect.stringContaining('connectionOf') }],
])('the parameters %o mean to TLS what they mean to libpq', (parameters, ssl) => {
  expect(connectionOf(`${server}${parameters}`).ssl).toMatchObject(ssl);
});

test.each(['', '?sslmode=disable'])('without a word about TLS, and with %o, there is none', (parameters) => {
  expect(connectionOf(`${server}${parameters}`).ssl).toBe(false);
});

test.each(['?sslmode=verify-full', `?sslrootcert=${authority}`, '?sslmode=verify-full&sslrootcert=system'])(
  '%s checks the name of the server as well',
  (parameters) => {
    expect(connectionOf(`${server}${parameters}`).ssl).not.toHaveProperty('checkServerIdentity');
    expect(connectionOf(`${server}${parameters}`).ssl).toMatchObject({ rejectUnauthorized: true });
  },
);

test('other parameters reach the library, and those of TLS do not, since it reads them otherwise', () => {
  const { connectionString } = connectionOf(`${server}?sslmode=require&statement_timeout=5&options=-csearch_path%3Dx`);
  expect(connectionString).toBe('postgres://ada:secret@db.example/book?statement_timeout=5&options=-csearch_path%3Dx');
});
