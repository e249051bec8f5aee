import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { checkKeyForm, parseBaseUrl, requestOf } from '../../src/client/target.ts';
import { BadRequestError, BillingError, InvalidInputError, UnauthorizedError } from '../../src/errors.ts';
import { operations } from '../../src/operations/all.ts';
import { fullKey } from '../server/harness.ts';
import { startClient } from './harness.ts';

describe('base URLs', () => {
  test.each([
    ['https://billing.example.com', 'https://billing.example.com', ''],
    ['https://billing.example.com/', 'https://billing.example.com', ''],
    ['https://billing.example.com:8443/api/', 'https://billing.example.com:8443', '/api'],
    ['https://localhost', 'https://localhost', ''],
    ['http://127.0.0.1:8787', 'http://127.0.0.1:8787', ''],
    ['http://127.1:8787', 'http://127.0.0.1:8787', ''],
    ['http://127.8.9.1', 'http://127.8.9.1', ''],
    ['http://[::1]:8787', 'http://[::1]:8787', ''],
    ['http://2130706433', 'http://127.0.0.1', ''],
  ])('%s is taken', (text, origin, basePath) => {
    expect(parseBaseUrl(text)).toMatchObject({ origin, basePath });
  });

  test.each([
    ['http://billing.example.com', 'must begin with https://'],
    ['http://127.0.0.1.evil.example', 'must begin with https://'],
    ['http://localhost:8787', 'must call this machine 127.0.0.1'],
    ['http://tally.localhost:8787', 'must call this machine 127.0.0.1'],
    ['http://localhost.:8787', 'must begin with https://'],
    ['http://[::ffff:127.0.0.1]', 'must begin with https://'],
    ['http://0.0.0.0', 'must begin with https://'],
    ['http://169.254.169.254', 'must begin with https://'],
    ['http://128.0.0.1', 'must begin with https://'],
    ['ftp://billing.example.com', 'must begin with https://'],
    ['file:///etc/passwd', 'must begin with https://'],
    ['billing.example.com', 'is not a URL'],
    ['', 'is not a URL'],
    ['https://', 'is not a URL'],
    ['https://billing.example.com/?a=b', 'must have no ? or # after its path'],
    ['https://billing.example.com/#a', 'must have no ? or # after its path'],
  ])('%s is refused', (text, words) => {
    expect(() => parseBaseUrl(text)).toThrow(words);
  });

  test('one with a password is refused without repeating it', () => {
    for (const url of [
      'https://user:secret@billing.example',
      'https://secret@billing.example',
      'https://:secret@billing.example',
      'http://secret@127.0.0.1',
    ]) {
      expect(() => parseBaseUrl(url)).toThrow(
        new BillingError('usage', 'the base URL must not carry a user name or password'),
      );
    }
  });
});

describe('keys', () => {
  test('of the right form are taken', () => {
    expect(() => checkKeyForm(fullKey)).not.toThrow();
  });

  test.each([
    '',
    'tally_live_short',
    fullKey.toUpperCase(),
    `${fullKey}0`,
    `${fullKey}\r\nX-Evil: 1`,
    ` ${fullKey}`,
    fullKey.replace('live', 'test'),
  ])('%j is refused without repeating it', (key) => {
    expect(() => checkKeyForm(key)).toThrow(UnauthorizedError);
    expect(() => checkKeyForm(key)).toThrow(
      /^the API key does not have the form <prefix>_live_ and 48 hexadecimal digits$/,
    );
  });
});

test('a client is not even made with a key that no header can hold', () => {
  const make = (): unknown => startClient('http://127.0.0.1:9', { key: `${fullKey}\r\nX-Evil: 1` });
  expect(make).toThrow(UnauthorizedError);
});

describe('ids in paths', () => {
  const target = parseBaseUrl('https://billing.example/api');

  test.each([
    ['a/b', 'a%2Fb'],
    ['../../v1/customers', '..%2F..%2Fv1%2Fcustomers'],
    ['a%2f..', 'a%252f..'],
    ['a?b#c', 'a%3Fb%23c'],
    ['a b', 'a%20b'],
    ['é', '%C3%A9'],
    ['a;b=c', 'a%3Bb%3Dc'],
    ['$&', '%24%26'],
  ])('%s is one segment', (customerId, segment) => {
    expect(requestOf(target, operations['customers.get'], { params: { customerId } }).path).toBe(
      `/api/v1/customers/${segment}`,
    );
  });

  test.each(['', '.', '..', 'a\r\nb', 'a\u0000', '\u0085', '\uD800'])('%j cannot be an id', (customerId) => {
    expect(() => requestOf(target, operations['customers.get'], { params: { customerId } })).toThrow(
      new InvalidInputError([{ path: 'customerId', message: 'cannot be an id' }]),
    );
  });

  test.each(['', '"0"', 'W/"0"', '0 ', 'é', '0\r\nx: y'])('%j cannot be a version', (ifMatch) => {
    const input = { params: { contractId: 'c1' }, ifMatch };
    expect(() => requestOf(target, operations['budgets.add'], input)).toThrow(
      new BadRequestError('the version to match must be one that an answer showed, without its quotes'),
    );
  });

  test('a missing id is named', () => {
    expect(() => requestOf(target, operations['customers.get'], {})).toThrow('customerId: is required');
  });

  test('a write that has a body and none given goes with an empty one, since other services ask for JSON', () => {
    const input = { params: { contractId: 'c1' } };
    const empty = { body: '{}', headers: { 'content-type': 'application/json' } };
    expect(requestOf(target, operations['contracts.cancel'], input)).toMatchObject(empty);
    expect(requestOf(target, operations['contracts.get'], input)).not.toHaveProperty('body');
  });

  function pathOf(customerId: string): string | undefined {
    try {
      return requestOf(target, operations['customers.get'], { params: { customerId } }).path;
    } catch (error) {
      if (error instanceof InvalidInputError) return undefined;
      throw error;
    }
  }

  test('whatever the id, the path has the same segments, and gives the id back', () => {
    const property = fc.property(fc.string({ unit: 'binary' }), (customerId) => {
      const path = pathOf(customerId);
      if (path === undefined) return;
      const { pathname, search, hash } = new URL(path, target.origin);
      expect([pathname.split('/').length, search, hash]).toEqual([5, '', '']);
      expect(decodeURIComponent(pathname.split('/')[4] ?? '')).toBe(customerId);
    });
    expect(() => fc.assert(property)).not.toThrow();
  });
});
