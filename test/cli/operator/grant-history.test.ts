import { describe, expect, test } from 'vitest';

import { createGrantHistory, grantOperation } from '../../../src/cli/operator/grant-history.ts';
import type { Place } from '../../../src/cli/operator/grant-history.ts';
import type { CallState, JournalFacts } from '../../../src/cli/operator/journal-line.ts';
import { violations } from '../../../src/cli/operator/policy.ts';

const here: Place = { environment: 'sandbox', target: 'https://a.example', profile: 'one' };
const day = '2026-03-10';
const month = '2026-03';

function line(state: CallState, facts: Partial<JournalFacts> = {}): JournalFacts {
  return {
    ...here,
    at: `${day}T12:00:00.000Z`,
    call: '',
    state,
    operator: 'ada',
    operation: grantOperation,
    params: { contractId: 'c1' },
    requestHash: 'h',
    externalId: 'x',
    amountCents: '500',
    ...facts,
  };
}

function historyOf(...lines: readonly JournalFacts[]) {
  const history = createGrantHistory();
  for (const each of lines) history.observe(each);
  return history;
}

describe('what was granted', () => {
  test.each<[string, readonly CallState[], bigint, boolean]>([
    ['begun counts, and is unfinished', ['begun'], 500n, true],
    ['done counts', ['begun', 'done'], 500n, false],
    ['refused does not count', ['begun', 'refused'], 0n, false],
    ['not known to be done counts, and is unfinished', ['begun', 'unknown'], 500n, true],
    ['found to be done by an earlier try counts once', ['begun', 'unknown', 'begun', 'repeated'], 500n, false],
    ['made by somebody else does not count', ['begun', 'repeated'], 0n, false],
    [
      'made by somebody else does not count, however often it is sent',
      ['begun', 'repeated', 'begun', 'repeated'],
      0n,
      false,
    ],
    [
      'made by somebody else is not unfinished, whatever a later try says',
      ['begun', 'repeated', 'begun', 'unknown'],
      0n,
      false,
    ],
    ['done stays so, whatever a later try says', ['begun', 'done', 'begun', 'refused'], 500n, false],
    ['refused and begun again counts', ['begun', 'refused', 'begun'], 500n, true],
  ])('%s', (_rule, states, cents, isUnfinished) => {
    const history = historyOf(...states.map((state) => line(state)));
    expect(history.grantedBy(here, 'ada', day)).toBe(cents);
    expect(history.grantedTo(here, ['c1'], month)).toBe(cents);
    expect(history.unfinished(here)).toHaveLength(isUnfinished ? 1 : 0);
  });

  test.each<[string, CallState, bigint]>([
    ['refused counts with the new amount', 'refused', 700n],
    ['not known to be done counts with the larger one', 'unknown', 700n],
    ['done keeps the amount that it had', 'done', 500n],
  ])('sent again for more, one that was %s', (_rule, state, cents) => {
    const again = { amountCents: '700', requestHash: 'h2', body: 'second' };
    const history = historyOf(line('begun', { body: 'first' }), line(state), line('begun', again));
    expect(history.grantedBy(here, 'ada', day)).toBe(cents);
    expect(history.unfinished(here).map(({ body }) => body)).toEqual(state === 'done' ? [] : ['second']);
  });

  test('sent again for less, one whose outcome is not known counts with the larger amount still', () => {
    const history = historyOf(line('begun'), line('unknown'), line('begun', { amountCents: '1' }));
    expect(history.grantedBy(here, 'ada', day)).toBe(500n);
  });

  test('sent again by a profile that calls the same address by another environment counts there, once', () => {
    const production = { ...here, environment: 'production' };
    const history = historyOf(line('begun'), line('unknown'), line('begun', production));
    expect(history.grantedBy(here, 'ada', day)).toBe(0n);
    expect(history.grantedBy(production, 'ada', day)).toBe(500n);
  });

  test('adds up by operator and day, and by contract and month, of one service', () => {
    const history = historyOf(
      line('done'),
      line('begun'),
      line('begun', { externalId: 'y', amountCents: '30', operator: 'bob' }),
      line('begun', { externalId: 'z', amountCents: '2', at: '2026-03-11T00:00:00.000Z' }),
      line('begun', { externalId: 'x', amountCents: '7', target: 'https://b.example' }),
      line('begun', { externalId: 'u', amountCents: '1', profile: 'two', params: { contractId: 'c2' } }),
      line('begun', { externalId: 'v', amountCents: '9', operation: 'credits.grantPaid' }),
    );
    expect(history.grantedBy(here, 'ada', day)).toBe(501n);
    expect(history.grantedBy(here, 'bob', day)).toBe(30n);
    expect(history.grantedTo(here, ['c1'], month)).toBe(532n);
    expect(history.grantedTo(here, ['c1', 'c2', 'c3'], month)).toBe(533n);
    expect(history.unfinished(here).map(({ externalId }) => externalId)).toEqual(['x', 'y', 'z']);
  });

  test.each<[string, Partial<JournalFacts>]>([
    ['contract', { params: { contractId: 'c2' } }],
    ['address', { target: 'https://b.example' }],
    ['organization', { organization: 'other' }],
  ])('says nothing of a grant with the same external id in another %s', (_what, other) => {
    const history = historyOf(line('begun', other), line('done', other), line('begun'), line('refused'));
    expect(history.find(here, 'c1', 'x')?.state).toBe('refused');
    expect(history.find({ ...here, ...other }, other.params?.['contractId'] ?? 'c1', 'x')?.state).toBe('done');
  });

  test('goes on apart in a copy', () => {
    const history = historyOf(line('begun'));
    const copy = history.fork();
    copy.observe(line('begun', { externalId: 'y', amountCents: '30' }));
    expect([history, copy].map((each) => each.grantedBy(here, 'ada', day))).toEqual([500n, 530n]);
    expect([history, copy].map((each) => each.find(here, 'c1', 'y') !== undefined)).toEqual([false, true]);
  });
});

describe('what was begun at another place', () => {
  const adjustment = { operation: 'credits.adjust', externalId: undefined };

  describe.each<[string, Partial<Place>]>([
    ['environment', { environment: 'production' }],
    ['address', { target: 'https://b.example' }],
    ['organization', { organization: 'other' }],
    ['profile', { profile: 'two' }],
  ])('in another %s', (_what, other) => {
    test('is not finished from here, where it is named once', () => {
      const done = { target: 'https://c.example' };
      const history = historyOf(
        ...['x', 'y'].map((externalId) => line('begun', { ...other, externalId })),
        ...(['begun', 'done'] as const).map((state) => line(state, done)),
      );
      expect(history.unfinished(here)).toEqual([]);
      expect(history.unfinished({ ...here, ...other })).toHaveLength(2);
      expect(history.unfinishedElsewhere(here)).toEqual([{ ...here, ...other }]);
    });

    test('holds up no adjustment here, and one here none there', () => {
      const history = historyOf(line('begun', adjustment));
      expect(history.unfinishedCall(line('begun', { ...adjustment, ...other }))).toBeUndefined();
    });

    test('is unfinished beside the same adjustment here, and each until it is done itself', () => {
      const history = historyOf(line('begun', adjustment), line('begun', { ...adjustment, ...other }));
      expect(history.unfinishedCall(line('begun', { ...adjustment, ...other }))).toBeDefined();
      history.observe(line('done', { ...adjustment, ...other }));
      expect(history.unfinishedCall(line('begun', { ...adjustment, ...other }))).toBeUndefined();
      expect(history.unfinishedCall(line('begun', adjustment))).toBeDefined();
    });
  });
});

describe('caps of a day and of a month, for a grant that is sent again', () => {
  const broken = (
    first: Partial<JournalFacts>,
    amountCents: bigint,
    capCents: bigint,
    state: CallState = 'unknown',
  ) => {
    const history = historyOf(
      line('begun', { externalId: 'other', amountCents: '300' }),
      line('begun', first),
      line(state, first),
    );
    const policy = {
      path: 'policy.yaml',
      isReasonRequired: false,
      perCustomerAndMonthCents: capCents,
      perOperatorAndDayCents: capCents,
    };
    const grant = { contractId: 'c1', amountCents, creditMicros: 0n, expiresAt: '', description: '', externalId: 'x' };
    const now = Temporal.Instant.from(`${day}T13:00:00Z`);
    const found = violations(policy, grant, { history, place: here, operator: 'ada', now, contractIds: ['c1'] });
    return found.map(({ rule }) => rule);
  };
  const both = ['per-customer-and-month', 'per-operator-and-day'];

  const yesterday = { at: '2026-03-09T12:00:00.000Z' };

  test('one that was made changes nothing, whatever it asks for now', () => {
    expect(broken({}, 700n, 0n, 'done')).toEqual([]);
  });

  test('it counts once, and when it was begun, for as much or for less', () => {
    expect(broken({}, 500n, 0n)).toEqual([]);
    expect(broken(yesterday, 500n, 0n)).toEqual([]);
    expect(broken(yesterday, 499n, 0n)).toEqual([]);
  });

  test('of a larger one what it has grown by comes on top', () => {
    expect(broken({}, 700n, 1000n)).toEqual([]);
    expect(broken({}, 701n, 1000n)).toEqual(both);
  });

  test('a larger one counts whole for the day, where the one before was of an earlier day of the month', () => {
    expect(broken(yesterday, 700n, 1000n)).toEqual([]);
    expect(broken(yesterday, 701n, 1000n)).toEqual(both);
  });

  test('a larger one counts whole for its operator, where the one before was of another', () => {
    expect(broken({ operator: 'bob' }, 700n, 1000n)).toEqual([]);
    expect(broken({ operator: 'bob' }, 700n, 999n)).toEqual(both);
  });
});
