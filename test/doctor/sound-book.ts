/** A book with something of everything, made by the service itself: nothing in it is wrong, and nothing worth a look. */

import { finalize, grant, grantPaid, invoiceAt, settle, subscribe, use } from '../support/billing-scenario.ts';
import { createContract, createPrice } from '../support/usage-scenario.ts';
import { createWorld } from '../support/world.ts';

export interface SoundBook {
  /** Two finalized invoices, one of them with credits; one reversal; a draft with settled usage. */
  readonly billed: string;
  /** Nothing finalized: a grant of 100 cents, and a rated one of 100 cents for 10 credits. */
  readonly young: string;
  /** Of the same customer as `billed` and younger, on the same meter. */
  readonly second: string;
  /** The grant of the young contract in dollars, and the rated one. */
  readonly dollars: string;
  readonly rated: string;
  /** The two grants of the billed contract, the one that goes first before the other. */
  readonly first: string;
  readonly later: string;
  readonly now: Temporal.Instant;
}

/** Makes the book in `file`; its clock stands on 10 May 2026. */
export async function makeSoundBook(file: string): Promise<SoundBook> {
  const world = await createWorld({ start: '2026-03-01T00:00:00.000Z', database: file });
  const budgets = [{ label: 'Big model', eventPropertyKey: 'model', eventPropertyValue: 'big', maxCreditsCents: 500 }];
  const acme = await subscribe(world, { contract: { creditSettings: { budgets } } });
  const first = await grant(world, acme, { amountCents: 700, expiresAt: '2026-11-01T00:00:00Z', externalId: 'first' });
  const later = await grantPaid(world, acme, { amountCents: 400, expiresAt: '2026-12-01T00:00:00Z' });
  await grant(world, acme, { amountCents: 50, expiresAt: '2026-04-15T00:00:00Z' });
  world.clock.set('2026-03-20T00:00:00Z');
  await use(world, acme, { tokens: 100, at: '2026-03-05T00:00:00Z', key: 'a' });
  await use(world, acme, { tokens: 130, at: '2026-03-05T00:00:00Z', key: 'a', model: 'big' });
  await settle(world, acme);
  await use(world, acme, { tokens: 110, at: '2026-03-05T00:00:00Z', key: 'a', model: 'big' });
  world.clock.set('2026-04-02T00:00:00Z');
  const march = await finalize(world, (await invoiceAt(world, acme, 0)).id);
  await world.call('invoices.send', { params: { invoiceId: march.id } });
  world.clock.set('2026-05-02T00:00:00Z');
  await use(world, acme, { tokens: 200, at: '2026-04-20T00:00:00Z', key: 'b' });
  await finalize(world, (await invoiceAt(world, acme, 1)).id);
  await use(world, acme, { tokens: 30, at: '2026-05-01T12:00:00Z', key: 'c' });
  await settle(world, acme);
  const second = await createContract(world, {
    customerId: acme.customerId,
    pricingIds: [acme.pricingId],
    startDate: '2026-05-01',
    endDate: undefined,
  });
  const globex = await subscribe(world, {
    name: 'globex',
    contract: { startDate: '2026-05-01' },
    price: {
      tiering: 'GRADUATED',
      unitAmount: undefined,
      pricingTiers: [
        { minQty: '0', maxQty: '100', unitAmount: '0.02' },
        { minQty: '100', unitAmount: '0.01' },
      ],
    },
  });
  const dollars = await grant(world, globex, { amountCents: 100 });
  const rated = await grant(world, globex, { creditAmount: 10, creditRateCents: 10 });
  await createPrice(world, globex.meterId, { name: 'Other' });
  world.clock.set('2026-05-10T00:00:00Z');
  await world.close();
  return {
    billed: acme.contractId,
    young: globex.contractId,
    second,
    dollars,
    rated,
    first,
    later,
    now: Temporal.Instant.from('2026-05-10T00:00:00Z'),
  };
}
