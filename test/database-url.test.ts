import { resolve } from 'node:path';

import { expect, test } from 'vitest';

import { refuseUnmeant, withoutFileScheme, withoutPassword } from '../src/database-url.ts';

test.each([
  [
    'postgres://ada:secret@db.example:5432/book?sslmode=require',
    'postgres://ada:***@db.example:5432/book?sslmode=require',
  ],
  ['postgresql://ada:se@cr:et@db.example/book', 'postgresql://ada:***@db.example/book'],
  ['postgres://ada:se/cr?et#@db.example/book', 'postgres://ada:***@db.example/book'],
  ['postgres://:secret@db.example/book', 'postgres://:***@db.example/book'],
  [
    'postgres:///book?host=/run&user=ada&password=secret&sslpassword=other',
    'postgres:///book?host=/run&user=ada&password=***&sslpassword=***',
  ],
  ['clickhouse://default:secret@localhost:8123/events', 'clickhouse://default:***@localhost:8123/events'],
  ['--database=postgres://ada:secret@db.example/book', '--database=postgres://ada:***@db.example/book'],
])('no password is shown of %s', (url, shown) => {
  expect(withoutPassword(url)).toBe(shown);
});

test.each([
  'postgres://ada@db.example:5432/book',
  'postgres://db.example/book',
  './billing.db',
  ':memory:',
  'C:\\books\\a@b.db',
  'file:///tmp/a@b.db',
])('%s is shown as it is', (url) => {
  expect(withoutPassword(url)).toBe(url);
});

test.each([
  ['file:books/x.db', resolve('books/x.db')],
  ['sqlite:/srv/x.db', '/srv/x.db'],
  ['FILE:///srv/a%20b.db', '/srv/a b.db'],
  ['file:of:a:name.db', resolve('of:a:name.db')],
  ['sqlite::memory:', ':memory:'],
  ['books/x.db', 'books/x.db'],
  ['postgres://localhost/books', 'postgres://localhost/books'],
])('%s is the database %s', (url, database) => {
  expect(withoutFileScheme(url)).toBe(database);
});

test.each([
  'host=db.example user=ada password=secret dbname=book',
  "PASSWORD='secret' host=db.example",
  'postgres//ada:secret@db.example/book',
  'postgresql:/ada:secret@db.example/book',
])('an address of a server that is no URL becomes no file, and its password is not shown: %s', (database) => {
  expect(() => refuseUnmeant(database)).toThrow(
    expect.objectContaining({ kind: 'usage', message: expect.not.stringContaining('secret') as unknown }),
  );
});

test.each([
  'postgres://ada:secret@db.example/book?sslmode=require',
  'postgres//book.db',
  'books/postgres/a@b.db',
  'user=ada.db',
  './password=old.db',
])('%s is a database', (database) => {
  expect(() => refuseUnmeant(database)).not.toThrow();
});

test.each(['file:', 'sqlite:', 'file://elsewhere/srv/x.db', 'file:~/x.db'])('%s names no file', (url) => {
  expect(() => withoutFileScheme(url)).toThrow(expect.objectContaining({ kind: 'usage' }));
});
