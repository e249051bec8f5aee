/** What an explanation says of a finalized invoice that somebody changed behind the program's back. */

import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { damage } from '../doctor/damage.ts';
import { finalize, grant, invoiceAt, subscribe, use } from '../support/billing-scenario.ts';
import { explain } from '../support/explanation.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { createWorld } from '../support/world.ts';

test.each([
  [
    'an invoice that is no sum of its lines',
    'UPDATE invoices SET totalCents = totalCents + 1',
    ['the lines add up to 5 cents, the invoice to 6'],
  ],
  [
    'a line that is taken out',
    `DELETE FROM invoiceLines WHERE kind = 'metered'`,
    [
      'events and prices give 25 cents of Inference, for which no line was frozen',
      'the lines add up to -20 cents, the invoice to 5',
    ],
  ],
  [
    'a line that is of nothing',
    `UPDATE invoiceLines SET lineKey = 'gone' WHERE kind = 'metered'`,
    [
      'line LINE (Inference) is frozen, but events and prices do not give it',
      'events and prices give 25 cents of Inference, for which no line was frozen',
    ],
  ],
  [
    'another price',
    `UPDATE invoiceLines SET unitPrice = '0.02' WHERE kind = 'metered'`,
    ['line LINE (Inference): unitPrice is frozen as 0.02, events and prices give 0.01'],
  ],
  [
    'credits that the ledger did not take so',
    `UPDATE ledgerEntries SET appliedCents = 19 WHERE type = 'usage'`,
    ['grant GRANT is frozen with 20 cents, the ledger took 19'],
  ],
  [
    'credits that no line shows',
    `DELETE FROM invoiceLines WHERE kind = 'credit'`,
    [
      'the ledger took 20 cents of grant GRANT, for which no credit line was frozen',
      'the lines add up to 25 cents, the invoice to 5',
    ],
  ],
])('an explanation finds %s', async (_what, change, words) => {
  const database = join(newDirectory(), 'billing.db');
  const world = await createWorld({ database });
  onTestFinished(async () => await world.close());
  const acme = await subscribe(world);
  const grantId = await grant(world, acme, { amountCents: 20 });
  await use(world, acme, { tokens: 25, at: '2026-03-01T00:00:00Z' });
  world.clock.set('2026-04-01T00:00:00Z');
  const { id } = await finalize(world, (await invoiceAt(world, acme, 0)).id);
  const sound = await explain(world, id);
  expect(sound.disagreements).toEqual([]);
  damage(database, ({ run }) => run(change));
  const { disagreements } = await explain(world, id);
  const lineId = sound.lines.find((line) => line.kind === 'metered')?.id ?? '';
  expect(disagreements).toEqual(words.map((each) => each.replace('GRANT', grantId).replace('LINE', lineId)));
});
