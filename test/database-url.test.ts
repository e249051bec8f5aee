import { expect, test } from 'vitest';

import { withoutPassword } from '../src/database-url.ts';

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
