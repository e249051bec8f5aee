/** What is known of grants when one more is decided: all that the journal holds by then. */

import { join } from 'node:path';

import { expect, test } from 'vitest';

import { grantOperation } from '../../../src/cli/operator/grant-history.ts';
import { createJournal } from '../../../src/cli/operator/journal.ts';
import type { Journal } from '../../../src/cli/operator/journal.ts';
import type { CallState, JournalFacts } from '../../../src/cli/operator/journal-line.ts';
import { newDirectory } from '../../support/temporary-files.ts';

const here = { environment: 'sandbox', target: 't' };

function grant(state: CallState, externalId: string): JournalFacts {
  const [operation, params] = [grantOperation, { contractId: 'c1' }];
  const facts = { at: '2026-03-01T00:00:00Z', call: externalId, state, operator: 'ada', requestHash: '' };
  return { ...facts, ...here, operation, params, externalId, amountCents: '5' };
}

function twoJournals(): readonly [Journal, Journal] {
  const path = join(newDirectory(), 'journal', 'journal.jsonl');
  const machine = { platform: process.platform, userId: process.getuid?.(), now: () => Date.now() };
  return [createJournal(path, machine), createJournal(path, machine)];
}

/** Cents that were granted before each grant that is decided, in their order. */
function createDecider() {
  const before: bigint[] = [];
  const decide = async (journal: Journal, externalId: string) =>
    await journal.decide((history) => {
      before.push(history.grantedBy(here, 'ada', '2026-03-01'));
      return grant('begun', externalId);
    });
  return { before, decide };
}

test('a grant is decided on the ground of all before it, whichever process wrote them and however many wait', async () => {
  const [journal, other] = twoJournals();
  const { before, decide } = createDecider();
  await decide(journal, 'a');
  await Promise.all([decide(journal, 'b'), decide(journal, 'c')]);
  await decide(other, 'd');
  await decide(journal, 'e');
  expect(before).toEqual([0n, 5n, 10n, 15n, 20n]);
});

test('a line of another process is known once, however often it is looked for', async () => {
  const [journal, other] = twoJournals();
  const { before, decide } = createDecider();
  await other.record(grant('begun', 'a'));
  await other.record(grant('repeated', 'a'));
  for (let time = 0; time < 2; time += 1) await journal.history();
  await decide(journal, 'b');
  expect(before).toEqual([0n]);
});

test('a line of its own is known once: one try that was found to be done is somebody else’s grant', async () => {
  const [journal] = twoJournals();
  const { before, decide } = createDecider();
  await decide(journal, 'a');
  await journal.record(grant('repeated', 'a'));
  await decide(journal, 'b');
  expect(before).toEqual([0n, 0n]);
});
