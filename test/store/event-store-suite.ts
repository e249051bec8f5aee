/** What every event store must keep: one key one event, every version kept, scans in order of time. */

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { ConstraintViolation } from '../../src/store/constraint-violation.ts';
import type { CanReplace, EventScan, NewEvent } from '../../src/store/event-store.ts';
import type { Store } from '../../src/store/store.ts';
import { contractRow, eventOf, insertTwoOrganizations } from './rows.ts';

const always: CanReplace = () => true;
const never: CanReplace = () => false;

export function describeEventStore(backend: string, open: () => Promise<Store>, { runs = 30 } = {}): void {
  describe(`events on ${backend}`, () => {
    let store: Store;

    beforeEach(async () => {
      store = await open();
      await store.write(insertTwoOrganizations);
    });
    afterEach(() => store.close());

    const append = (events: readonly NewEvent[], canReplace = always, orgId = 'org-a') =>
      store.write((tx) => store.events.append(tx, orgId, events, canReplace));

    const list = (query: object = {}) =>
      store.read((tx) => store.events.list(tx, { orgId: 'org-a', limit: 100, offset: 0, ...query }));

    async function scanned(request: Partial<EventScan> = {}): Promise<readonly unknown[]> {
      const tokens: unknown[] = [];
      const whole = { orgId: 'org-a', customerId: 'customer', fromEpochMs: 0, toEpochMs: 1_000_000, ...request };
      await store.read((tx) => store.events.scan(tx, whole, ({ properties }) => tokens.push(properties['tokens'])));
      return tokens;
    }

    describe('appending', () => {
      test('an event is new once; sent again it is the same, and nothing is written', async () => {
        expect(await append([eventOf('k1'), eventOf('k2')])).toEqual(['new', 'new']);
        expect(await append([eventOf('k2', { id: 'other', receivedAtEpochMs: 9_000 }), eventOf('k3')])).toEqual([
          'same',
          'new',
        ]);
        const { rows, total } = await list();
        expect(total).toBe(3);
        expect(rows.find(({ idempotencyKey }) => idempotencyKey === 'k2')).toMatchObject({
          id: 'id-of-k2',
          version: 1,
        });
      });

      test.each([
        ['customer', { customerId: 'only-in-a' }],
        ['contract', { contractId: 'contract' }],
        ['name', { eventName: 'other' }],
        ['timestamp', { timestampEpochMs: 1_001 }],
        ['digits of a property', { propertiesJson: '{"tokens":1.0}' }],
      ])('another %s makes another version, which is the effective one', async (_, change) => {
        await append([eventOf('k')]);
        expect(await append([eventOf('k', change)])).toEqual(['replaced']);
        expect((await list()).rows).toEqual([{ ...eventOf('k', change), version: 2 }]);
      });

      test('a replacement that the caller refuses changes nothing', async () => {
        await append([eventOf('k')]);
        const asked: unknown[] = [];
        const refuse = (previous: unknown, next: unknown) => {
          asked.push(previous, next);
          return false;
        };
        const next = eventOf('k', { timestampEpochMs: 2_000 });
        expect(await append([next], refuse)).toEqual(['refused']);
        expect(asked).toEqual([{ ...eventOf('k'), version: 1 }, next]);
        expect((await list()).rows).toEqual([{ ...eventOf('k'), version: 1 }]);
      });

      test('a resend is not asked about', async () => {
        await append([eventOf('k')]);
        expect(await append([eventOf('k')], never)).toEqual(['same']);
      });

      test('a key twice in one batch is one event', async () => {
        const changed = eventOf('k', { eventName: 'other' });
        expect(await append([eventOf('k'), eventOf('k'), changed])).toEqual(['new', 'same', 'replaced']);
        expect((await list()).total).toBe(1);
      });

      test('two organizations may use the same key', async () => {
        await append([eventOf('k')]);
        expect(await append([eventOf('k', { eventName: 'other' })], always, 'org-b')).toEqual(['new']);
        expect((await list()).rows).toEqual([{ ...eventOf('k'), version: 1 }]);
      });

      test("another organization's customer or contract is refused, and the whole batch with it", async () => {
        const foreign = append([eventOf('k1'), eventOf('k2', { customerId: 'only-in-a' })], always, 'org-b');
        await expect(foreign).rejects.toBeInstanceOf(ConstraintViolation);
        await expect(append([eventOf('k', { contractId: 'nowhere' })])).rejects.toBeInstanceOf(ConstraintViolation);
        expect((await list({ orgId: 'org-b' })).total).toBe(0);
      });

      test('what was sent with a batch that was refused can be sent again, and is then known', async () => {
        const refused = append([eventOf('k1'), eventOf('k2'), eventOf('k3', { customerId: 'nowhere' })]);
        await expect(refused).rejects.toBeInstanceOf(ConstraintViolation);
        expect(await append([eventOf('k1'), eventOf('k2')])).toEqual(['new', 'new']);
        expect(await append([eventOf('k1'), eventOf('k2'), eventOf('k3')])).toEqual(['same', 'same', 'new']);
        expect((await list()).total).toBe(3);
      });

      test('any order of sends ends with one effective event a key, the last one sent', async () => {
        const sends = fc.array(
          fc.record({ key: fc.integer({ min: 0, max: 4 }), tokens: fc.integer({ min: 0, max: 2 }) }),
          {
            maxLength: 20,
          },
        );
        let run = 0;
        await fc.assert(
          fc.asyncProperty(sends, fc.integer({ min: 1, max: 5 }), async (sent, batch) => {
            run += 1;
            const events = sent.map(({ key, tokens }) =>
              eventOf(`${run}:${key}`, { propertiesJson: `{"tokens":${tokens}}`, timestampEpochMs: run * 10 + key }),
            );
            for (let start = 0; start < events.length; start += batch) await append(events.slice(start, start + batch));
            const last = new Map(sent.map(({ key, tokens }) => [key, tokens]));
            const expected = [0, 1, 2, 3, 4].flatMap((key) => last.get(key) ?? []);
            expect(await scanned({ fromEpochMs: run * 10, toEpochMs: run * 10 + 5 })).toEqual(expected);
          }),
          { numRuns: runs },
        );
      });
    });

    describe('scanning', () => {
      const event = (tokens: number, changes: Partial<NewEvent> = {}) =>
        eventOf(`k${tokens}`, { propertiesJson: `{"tokens":${tokens}}`, ...changes });

      test('goes by timestamp, then by arrival, from inclusive to exclusive', async () => {
        await append([
          event(4, { timestampEpochMs: 30 }),
          event(2, { timestampEpochMs: 20 }),
          event(1, { timestampEpochMs: 10 }),
          event(3, { timestampEpochMs: 20 }),
        ]);
        expect(await scanned()).toEqual([1, 2, 3, 4]);
        expect(await scanned({ fromEpochMs: 10, toEpochMs: 30 })).toEqual([1, 2, 3]);
        expect(await scanned({ fromEpochMs: 11, toEpochMs: 20 })).toEqual([]);
      });

      test('sees one customer of one organization', async () => {
        await append([event(1), event(2, { customerId: 'only-in-a' })]);
        await append([event(3)], always, 'org-b');
        expect(await scanned()).toEqual([1]);
      });

      test('keeps to the names that are wanted; exclusion wins', async () => {
        await append([event(1, { eventName: 'a' }), event(2, { eventName: 'b' }), event(3, { eventName: 'c' })]);
        expect(await scanned({ eventNames: [], excludedEventNames: [] })).toEqual([1, 2, 3]);
        expect(await scanned({ eventNames: ['a', 'b'] })).toEqual([1, 2]);
        expect(await scanned({ excludedEventNames: ['b'] })).toEqual([1, 3]);
        expect(await scanned({ eventNames: ['a', 'b'], excludedEventNames: ['b'] })).toEqual([1]);
      });

      test('leaves late events out', async () => {
        await append([event(1), event(2, { isLate: true })]);
        expect(await scanned()).toEqual([1]);
      });

      test('of a contract: the events that name it, and those that name none outside the time of others', async () => {
        await store.write((tx) =>
          tx
            .insertInto('contracts')
            .values(contractRow('org-a', 'other', 'customer'))
            .execute(),
        );
        await append([
          event(1, { contractId: 'contract', timestampEpochMs: 15 }),
          event(2, { contractId: 'other', timestampEpochMs: 15 }),
          event(3, { timestampEpochMs: 9 }),
          event(4, { timestampEpochMs: 10 }),
          event(5, { timestampEpochMs: 19 }),
          event(6, { timestampEpochMs: 20 }),
          event(7, { timestampEpochMs: 30 }),
        ]);
        const unassignedOutside = [
          { fromEpochMs: 10, toEpochMs: 20 },
          { fromEpochMs: 30, toEpochMs: 40 },
        ];
        expect(await scanned({ contract: { contractId: 'contract', unassignedOutside } })).toEqual([3, 1, 6]);
        expect(await scanned({ contract: { contractId: 'other', unassignedOutside: [] } })).toEqual([3, 4, 2, 5, 6, 7]);
      });

      test.each([
        ['1', 1],
        ['0.1', 0.1],
        ['"1.10"', '1.10'],
        ['true', true],
        ['null', null],
        ['1.10', JSON.rawJSON('1.10')],
        ['1e3', JSON.rawJSON('1e3')],
        ['-0', JSON.rawJSON('-0')],
        ['9007199254740993', JSON.rawJSON('9007199254740993')],
        ['0.1000000000000000055511151231257827', JSON.rawJSON('0.1000000000000000055511151231257827')],
      ])('keeps the digits of %s', async (source, value) => {
        await append([eventOf('k', { propertiesJson: `{"tokens":${source}}` })]);
        expect(await scanned()).toEqual([value]);
      });

      test('gives large events in their order, each once', async () => {
        const large = 'x'.repeat(2_000_000);
        const events = Array.from({ length: 12 }, (_value, index) =>
          eventOf(`k${index}`, {
            timestampEpochMs: Math.floor(index / 2),
            propertiesJson: JSON.stringify({ tokens: index, large: index % 6 === 0 ? '' : large }),
          }),
        );
        for (const some of [events.slice(0, 6), events.slice(6)]) await append(some);
        expect(await scanned()).toEqual(events.map((_event, index) => index));
      });

      test('stops where the caller throws, and the next scan begins anew', async () => {
        await append([event(1), event(2)]);
        const request = { orgId: 'org-a', customerId: 'customer', fromEpochMs: 0, toEpochMs: 9_999 };
        const failing = store.read((tx) =>
          store.events.scan(tx, request, () => {
            throw new Error('enough');
          }),
        );
        await expect(failing).rejects.toThrow('enough');
        expect(await scanned()).toEqual([1, 2]);
      });
    });

    describe('listing', () => {
      const keys = async (query: object = {}) => (await list(query)).rows.map(({ idempotencyKey }) => idempotencyKey);

      test('shows what arrived last first, page by page, with the total of all pages', async () => {
        await append(['a', 'b', 'c', 'd', 'e'].map((key) => eventOf(key)));
        await append([eventOf('b', { eventName: 'changed' })]);
        const pages = await Promise.all([0, 2, 4, 6].map((offset) => list({ limit: 2, offset })));
        expect(pages.map(({ rows }) => rows.map(({ idempotencyKey }) => idempotencyKey))).toEqual([
          ['e', 'd'],
          ['c', 'b'],
          ['a'],
          [],
        ]);
        expect(pages.map(({ total }) => total)).toEqual([5, 5, 5, 5]);
      });

      test('filters by name, customer and time in any combination', async () => {
        await append([
          eventOf('a', { eventName: 'x', timestampEpochMs: 10 }),
          eventOf('b', { eventName: 'y', timestampEpochMs: 20 }),
          eventOf('c', { eventName: 'x', timestampEpochMs: 30, customerId: 'only-in-a' }),
        ]);
        expect(await keys({ eventName: 'x' })).toEqual(['c', 'a']);
        expect(await keys({ customerId: 'customer' })).toEqual(['b', 'a']);
        expect(await keys({ fromEpochMs: 10, toEpochMs: 30 })).toEqual(['b', 'a']);
        expect(await keys({ eventName: 'x', customerId: 'only-in-a', fromEpochMs: 30 })).toEqual(['c']);
        expect(await list({ eventName: 'y', customerId: 'only-in-a' })).toEqual({ rows: [], total: 0 });
      });

      test('late events have their own list', async () => {
        await append([eventOf('a'), eventOf('b', { isLate: true })]);
        await append([eventOf('b', { isLate: true })], always, 'org-b');
        expect(await list({ onlyLate: true })).toEqual({
          rows: [{ ...eventOf('b', { isLate: true }), version: 1 }],
          total: 1,
        });
      });
    });
  });
}
