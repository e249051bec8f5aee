/** What is kept beside a journal tells the same as the journal, or is not taken. */

import { appendFileSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import * as fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';

import { createGrantHistory, grantOperation } from '../../../src/cli/operator/grant-history.ts';
import type { GrantHistory } from '../../../src/cli/operator/grant-history.ts';
import { createJournal } from '../../../src/cli/operator/journal.ts';
import type { CallState, JournalFacts } from '../../../src/cli/operator/journal-line.ts';
import { keepHistory, readKeptHistory } from '../../../src/cli/operator/kept-history.ts';
import { exactNumber } from '../../../src/exact-json.ts';
import { newDirectory } from '../../support/temporary-files.ts';

const machine = { platform: process.platform, userId: process.getuid?.(), now: () => Date.now() };
const directory = newDirectory();

const here = { environment: 'sandbox', target: 'https://a.example' };
const [day, month] = ['2026-03-10', '2026-03'];

function grant(state: CallState, facts: Partial<JournalFacts> = {}): JournalFacts {
  const [operation, params] = [grantOperation, { contractId: 'c1' }];
  const common = { at: `${day}T12:00:00.000Z`, call: '', state, operator: 'ada', requestHash: 'h', operation, params };
  return { ...common, ...here, externalId: 'x', amountCents: '5', ...facts };
}

/** All that is asked of a history. */
const told = (history: GrantHistory) => ({
  unfinished: history.unfinished(here),
  elsewhere: history.unfinishedElsewhere(here),
  call: history.unfinishedCall(grant('begun', { operation: 'credits.adjust', externalId: undefined })),
  purchase: history.unfinishedPurchase(grant('begun', { operation: 'credits.grantPaid' })),
  states: ['x', 'y'].map((id) => {
    const { body: _body, requestHash: _hash, isGeneratedId: _made, ...rest } = history.find(here, 'c1', id) ?? {};
    return rest;
  }),
  sums: ['ada', 'bob'].map((operator) => history.grantedBy(here, operator, day)),
  ofMonth: history.grantedTo(here, ['c1', 'c2'], month),
});

const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const anyLine = fc.record(
  {
    state: oneOf<CallState>('begun', 'done', 'repeated', 'refused', 'unknown'),
    operation: oneOf(grantOperation, grantOperation, 'credits.grantPaid', 'credits.adjust', 'customers.create'),
    externalId: oneOf<string | undefined>('x', 'y', undefined),
    operator: oneOf('ada', 'bob'),
    at: oneOf('2026-03-09T23:59:59.999Z', `${day}T00:00:00.000Z`, '2026-04-01T00:00:00.000Z'),
    amountCents: oneOf('5', '9007199254740993'),
    environment: oneOf('sandbox', 'production'),
    organization: oneOf<string | undefined>(undefined, 'other'),
    params: oneOf({ contractId: 'c1' }, { contractId: 'c2' }),
    body: oneOf<unknown>({ creditAmount: exactNumber('1.10') }, undefined),
    isGeneratedId: oneOf<true | undefined>(true, undefined),
  },
  { requiredKeys: ['state'] },
);

test('a history that was kept and one that read all lines say the same, whatever comes after', () => {
  const path = join(directory, 'any.known');
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 20 }), fc.array(anyLine, { maxLength: 10 }), (before, after) => {
      const whole = createGrantHistory();
      for (const { state, ...facts } of before) whole.observe(grant(state, facts));
      keepHistory(path, { mark: { bytes: 7, head: 'h' }, known: whole.known });
      const { mark, known } = readKeptHistory(path, machine) ?? {};
      const kept = createGrantHistory(known);
      for (const { state, ...facts } of after) for (const each of [whole, kept]) each.observe(grant(state, facts));
      expect(mark).toEqual({ bytes: 7, head: 'h' });
      expect(told(kept)).toEqual(told(whole));
    }),
  );
});

test('a grant of which one try was refused and another is unknown is sent again as it was, though it was kept between them', () => {
  const path = join(directory, 'two-tries.known');
  const whole = createGrantHistory();
  for (const state of ['begun', 'begun', 'refused'] as const) whole.observe(grant(state, { body: { amountCents: 5 } }));
  keepHistory(path, { mark: { bytes: 7, head: 'h' }, known: whole.known });
  const kept = createGrantHistory(readKeptHistory(path, machine)?.known);
  kept.observe(grant('unknown'));
  expect(kept.unfinished(here)).toMatchObject([{ requestHash: 'h', body: { amountCents: 5 }, tries: 2 }]);
});

test('what cannot be kept is no failure', () => {
  const { known } = createGrantHistory();
  const mark = { bytes: 7, head: 'h' };
  expect(() => keepHistory(join(directory, 'missing', 'a.known'), { mark, known })).not.toThrow();
});

describe('beside a long journal', () => {
  let path: string;
  let known: string;
  const journalHere = (secrets: readonly string[] = []) => createJournal(path, machine, secrets);
  const granted = async () => (await journalHere().history()).grantedBy(here, 'ada', day);
  /** So many grants of 5 cents, in lines of a thousand characters. */
  const write = async (count: number, from = 0, journal = journalHere()) => {
    const lines = Array.from({ length: count }, (_, index) =>
      grant('done', { externalId: `${from + index}`, body: { description: 'a'.repeat(700) } }),
    );
    await Promise.all(lines.flatMap((line) => [journal.record({ ...line, state: 'begun' }), journal.record(line)]));
  };

  beforeEach(async () => {
    path = join(newDirectory(), 'journal', 'journal.jsonl');
    known = `${path}.known`;
    await write(200);
  });

  test('it is written once that much was read, and read in place of it', async () => {
    expect(existsSync(known)).toBe(false);
    expect(await granted()).toBe(1000n);
    // What only a repeat asks for is not in it.
    expect(readFileSync(known, 'utf8')).not.toContain('description');
    await write(1, 200);
    // A line that was changed tells nothing any more, and journal verify says so; but it was known before.
    writeFileSync(path, readFileSync(path, 'utf8').replace('"ada"', '"eve"'));
    expect(await granted()).toBe(1005n);
    rmSync(known);
    expect(await granted()).toBe(1000n);
  });

  test('it is not written anew for some lines more, nor for a last one that was cut off', async () => {
    await granted();
    const first = readFileSync(known, 'utf8');
    await write(10, 200);
    expect(await granted()).toBe(1050n);
    expect(readFileSync(known, 'utf8')).toBe(first);
    await write(200, 300);
    appendFileSync(path, '{"at":');
    expect(await granted()).toBe(2050n);
    expect(readFileSync(known, 'utf8')).toBe(first);
  });

  test.each<[string, (text: string) => void, bigint]>([
    ['a journal that was cut', () => truncateSync(path, readFileSync(path).lastIndexOf('{"at"')), 1000n],
    ['an empty journal', () => truncateSync(path, 0), 0n],
    ['another journal', () => rmSync(path), 0n],
    ['a longer other one', (text) => writeFileSync(path, `{}\n${text}${text}`.replaceAll('"ada"', '"eve"')), 0n],
  ])('what is kept of one journal says nothing of %s', async (_which, spoil, cents) => {
    await granted();
    spoil(readFileSync(path, 'utf8'));
    expect(await granted()).toBe(cents);
  });

  test.each<[string, (text: string) => string]>([
    ['cut off', (text) => text.slice(0, -40)],
    ['changed', (text) => text.replace('"1000"', '"9999"')],
    ['empty', () => ''],
    ['no JSON', () => 'x'],
  ])('one that is %s is not taken', async (_how, spoil) => {
    await granted();
    const text = readFileSync(known, 'utf8');
    expect(spoil(text)).not.toBe(text);
    writeFileSync(known, spoil(text));
    expect(await granted()).toBe(1000n);
  });

  test('it never has a secret that the journal does not have', async () => {
    const secret = `tally_live_${'0badcafe'.repeat(6)}`;
    const journal = journalHere([secret]);
    const body = { description: secret };
    await journal.decide(() => grant('begun', { externalId: 'mine', body }));
    rmSync(known);
    await write(400, 1000);
    const history = await journal.history();
    expect(history.find(here, 'c1', 'mine')?.body).toEqual(body);
    await granted();
    expect(readFileSync(known, 'utf8')).toContain('mine');
    expect(readFileSync(known, 'utf8')).not.toContain(secret);
  });
});
