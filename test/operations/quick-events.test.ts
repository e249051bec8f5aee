import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { acceptEvents } from '../../src/operations/quick-events.ts';
import { eventInput } from '../../src/operations/usage.ts';

const plain = {
  eventName: 'llm.request',
  externalCustomerId: 'acme',
  idempotencyKey: 'request-1',
  timestamp: '2026-03-01T00:00:00.000Z',
  properties: { model: 'large', tokens: 374, seconds: 0.125, cached: false, note: null, empty: '' },
};

const judged = (event: unknown) => eventInput.safeParse(event);

describe('the check of events by hand', () => {
  test.each([
    ['all fields', plain],
    ['the least', { eventName: 'x', customerId: 'c' }],
    ['a contract', { ...plain, contractId: 'c-1' }],
    ['no properties', { ...plain, properties: {} }],
    [
      'numbers of every size that is usual',
      { ...plain, properties: { a: 999_999_999_999_999, b: -0.000001, c: 0, d: 0.1 + 0.2 } },
    ],
  ])('takes %s, as the schema gives it out', (_, event) => {
    expect(acceptEvents({ events: [event] })).toEqual({ events: [judged(event).data] });
  });

  test.each([
    ['no events', { events: [] }],
    ['no list', { events: {} }],
    ['another member', { events: [plain], more: 1 }],
    ['nothing', undefined],
    ['one event that the schema refuses among many', { events: [plain, { ...plain, eventName: '' }] }],
    ['10,001 events', { events: Array.from({ length: 10_001 }, () => plain) }],
    [
      'a time with an offset, which is put into UTC',
      { events: [{ ...plain, timestamp: '2026-03-01T01:00:00+01:00' }] },
    ],
    ['a name that Unicode writes in two ways', { events: [{ ...plain, eventName: 'cafe\u0301' }] }],
    ['a number with digits of its own', { events: [{ ...plain, properties: { tokens: JSON.rawJSON('1.10') } }] }],
  ])('leaves %s to the schema', (_, body) => {
    expect(acceptEvents(body)).toBeUndefined();
  });

  test('never takes what the schema refuses, nor gives out anything else', () => {
    const odd = fc.oneof(
      fc.constantFrom(
        '',
        ' ',
        'x',
        'x'.repeat(201),
        'x'.repeat(256),
        'e\u0301',
        '\u0000',
        '\ud800',
        '\n',
        '__proto__',
        '2026-02-30T00:00:00.000Z',
        '2026-03-01',
        '2026-03-01T00:00:00Z',
        '1999-01-01T00:00:00.000Z',
      ),
      fc.constantFrom<unknown>(
        undefined,
        null,
        0,
        -0,
        1e15,
        1e-7,
        Number.NaN,
        Infinity,
        true,
        {},
        [],
        JSON.rawJSON('1e3'),
      ),
    );
    const properties = fc.oneof(
      odd,
      fc.dictionary(
        fc.oneof(fc.string(), fc.constantFrom('constructor', 'prototype', 'tokens')),
        fc.oneof(odd, fc.string(), fc.double()),
      ),
    );
    const event = fc
      .record(
        Object.fromEntries(
          ['eventName', 'externalCustomerId', 'customerId', 'contractId', 'idempotencyKey', 'timestamp', 'unheard'].map(
            (name): [string, fc.Arbitrary<unknown>] => [name, odd],
          ),
        ),
        { requiredKeys: [] },
      )
      .chain((changes) =>
        fc.oneof(
          fc.constant(changes),
          properties.map((own) => ({ ...changes, properties: own })),
        ),
      )
      .chain((changes) => {
        const entries = Object.entries(changes);
        return fc.subarray(entries, { maxLength: Math.min(2, entries.length) });
      })
      .map((changes) => Object.assign({}, plain, Object.fromEntries(changes)) as unknown);
    let taken = 0;
    fc.assert(
      fc.property(event, (each) => {
        const accepted = acceptEvents({ events: [each] });
        if (accepted === undefined) return;
        taken += 1;
        const { success, data } = judged(each);
        expect(success).toBe(true);
        expect(accepted).toEqual({ events: [data] });
      }),
      { numRuns: 1_000 },
    );
    expect(taken).toBeGreaterThan(50);
  });
});
