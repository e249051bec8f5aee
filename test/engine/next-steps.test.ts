/** What a refusal tells to do next leads on: each is made, followed, and asked again. */

import { beforeEach, expect, test } from 'vitest';

import type { BillingError } from '../../src/errors.ts';
import type { OperationName } from '../../src/operations/index.ts';
import { webhookEventTypes } from '../../src/operations/wire-values.ts';
import type { CallInput } from '../../src/operations/operation.ts';
import { endOfMarch, finalize, grant, invoiceAt, ledger, subscribe } from '../support/billing-scenario.ts';
import type { Subscription } from '../support/billing-scenario.ts';
import { refusal } from '../support/refusal.ts';
import { createFlatPrice, createPlan } from '../support/usage-scenario.ts';
import { useWorld, world } from '../support/use-world.ts';

useWorld();

let acme: Subscription;
beforeEach(async () => {
  acme = await subscribe(world);
});

type Asked = readonly [OperationName, CallInput];

interface Told {
  readonly message: string;
  /** Undefined where the message itself says it. */
  readonly hint?: string;
  /** What is asked, and refused. */
  readonly asked: Asked;
  /** What the hint says. */
  readonly next: readonly Asked[];
  /** What is asked then, where it is not the same. */
  readonly instead?: Asked;
}

/** A contract of the customer on the same price, by other terms. */
async function overriding(terms: object): Promise<Asked> {
  const { customerId, pricingId } = acme;
  const planId = await createPlan(world, [pricingId]);
  const overrides = [{ basePricingId: pricingId, ...terms }];
  return ['contracts.create', { body: { planId, customerId, startDate: '2026-03-01', overrides } }];
}

async function orders(): Promise<Told> {
  const [first, second] = [await invoiceAt(world, acme, 0), await invoiceAt(world, acme, 1)];
  world.clock.set('2026-05-02T00:00:00Z');
  return {
    message: `invoice ${second.invoiceNumber} waits for ${first.invoiceNumber}, an earlier draft of its contract`,
    hint: `finalize or cancel ${first.id} first`,
    asked: ['invoices.finalize', { params: { invoiceId: second.id } }],
    next: [['invoices.cancel', { params: { invoiceId: first.id } }]],
  };
}

async function paidByCredits(): Promise<string> {
  await grant(world, acme, { amountCents: 100 });
  return (await finalize(world, await endOfMarch(world, acme))).id;
}

async function reversal(next: (invoiceId: string) => readonly Asked[]): Promise<Told> {
  const invoiceId = await paidByCredits();
  const { contractId } = acme;
  const entryId = (await ledger(world, acme)).at(-1)?.id ?? '';
  return {
    message: `entry ${entryId} pays invoice INV-000001, which is finalized`,
    hint: 'cancel the invoice, or refund it with --restore-credits',
    asked: ['credits.reverse', { params: { contractId, entryId }, body: { description: 'Slip' } }],
    next: next(invoiceId),
    instead: ['credits.verify', { params: { contractId } }],
  };
}

test.each<[string, () => Promise<Told>]>([
  [
    'a product with a price is archived',
    async () => {
      const { data: price } = await world.call('pricing.get', { params: { pricingId: acme.pricingId } });
      const params = { productId: price.productId };
      return {
        message: `product "Inference" has the price "Tokens" (${price.id})`,
        hint: 'archive its prices first',
        asked: ['products.archive', { params }],
        next: [
          ['plans.archive', { params: { planId: (await world.call('plans.list')).data[0]?.id ?? '' } }],
          ['pricing.archive', { params: { pricingId: price.id } }],
        ],
      };
    },
  ],
  [
    'a price of a plan is archived',
    async () => {
      const { data: plan } = await world.call('plans.create', {
        body: { name: 'Lean', items: [{ pricingId: await createFlatPrice(world) }] },
      });
      return {
        message: 'the price "Seat" is part of plan "Lean"',
        hint: 'archive that plan first',
        asked: ['pricing.archive', { params: { pricingId: plan.items[0]?.pricingId ?? '' } }],
        next: [['plans.archive', { params: { planId: plan.id } }]],
      };
    },
  ],
  [
    'a plan has prices by the week and by the month',
    async () => {
      const weekly = await createFlatPrice(world, { priceInterval: 'WEEK' });
      const plan = (...pricingIds: readonly string[]): Asked => [
        'plans.create',
        { body: { name: 'Mixed', items: pricingIds.map((pricingId) => ({ pricingId })) } },
      ];
      return {
        message:
          'items: the intervals of the prices do not nest (1 MONTH, 1 WEEK): each must be a whole multiple of the shortest',
        hint: 'put prices whose intervals do not nest into plans of their own',
        asked: plan(acme.pricingId, weekly),
        next: [plan(acme.pricingId)],
        instead: plan(weekly),
      };
    },
  ],
  [
    'an override changes nothing',
    async () => ({
      message: 'overrides[0]: overrides nothing: give unitAmount, flatAmount, pricingTiers or quantity',
      asked: await overriding({}),
      next: [await overriding({ unitAmount: '0.02' }), await overriding({ flatAmount: '2' })],
      instead: await overriding({ flatAmount: '2', unitAmount: '0.02' }),
    }),
  ],
  [
    'an override has tiers for a price without any',
    async () => ({
      message: 'overrides[0].pricingTiers: this price has no tiers: override unitAmount',
      asked: await overriding({ pricingTiers: [{ unitAmount: '1' }] }),
      next: [],
      instead: await overriding({ unitAmount: '1' }),
    }),
  ],
  [
    'an invoice is finalized before its day',
    async () => {
      const { id, invoiceNumber } = await invoiceAt(world, acme, 0);
      return {
        message: `invoice ${invoiceNumber} cannot be finalized before 2026-04-01T00:00:00.000Z`,
        hint: 'usage of its period may still come in; finalize it at that time or later',
        asked: ['invoices.finalize', { params: { invoiceId: id } }],
        next: [['clock.set', { body: { to: '2026-04-01T00:00:00.000Z' } }]],
      };
    },
  ],
  ['an invoice is finalized before an earlier one', orders],
  [
    'an invoice of a paused customer is sent',
    async () => {
      const params = { customerId: acme.customerId };
      await world.call('customers.pause', { params });
      const invoiceId = await paidByCredits();
      return {
        message: `customer ${acme.customerId} is paused, so invoice INV-000001 waits`,
        hint: 'resume the customer, then send it',
        asked: ['invoices.send', { params: { invoiceId } }],
        next: [['customers.resume', { params }]],
      };
    },
  ],
  [
    'usage of a finalized invoice is undone',
    async () => await reversal((invoiceId) => [['invoices.cancel', { params: { invoiceId } }]]),
  ],
  [
    'usage of an invoice that is to be paid is undone',
    async () =>
      await reversal((invoiceId) => [
        ['invoices.pay', { params: { invoiceId } }],
        ['invoices.refund', { params: { invoiceId }, body: { restoreCredits: true } }],
      ]),
  ],
  [
    'credits are granted on a contract that is billed out',
    async () => {
      const ended = await subscribe(world, { name: 'ended', contract: { endDate: '2026-04-01' } });
      const id = await endOfMarch(world, ended);
      await finalize(world, id);
      const granting = ({ contractId }: Subscription): Asked => [
        'credits.grant',
        { params: { contractId }, body: { amountCents: 1, expiresAt: '2027-01-01T00:00:00Z' } },
      ];
      return {
        message: `the last invoice of contract ${ended.contractId} is closed: no usage of it is billed any more`,
        hint: 'grant credits on another contract of the customer',
        asked: granting(ended),
        next: [],
        instead: granting(acme),
      };
    },
  ],
  [
    'a wallet would be too full',
    async () => {
      const most = { creditRateCents: 0, creditAmount: 1_000_000_000_000, expiresAt: '2027-01-01T00:00:00Z' };
      const { contractId } = acme;
      const granting: Asked = ['credits.grant', { params: { contractId }, body: most }];
      for (let count = 0; count < 9; count += 1) await world.call(...granting);
      const entryId = (await ledger(world, acme)).at(-1)?.id ?? '';
      return {
        message: `the wallet of contract ${contractId} would hold more than 9000000000000000000 cents or 9000000000000 credits`,
        hint: 'take away what is not needed, or grant credits on another contract of the customer',
        asked: granting,
        next: [['credits.reverse', { params: { contractId, entryId }, body: { description: 'Too much' } }]],
      };
    },
  ],
  [
    'a webhook of no type is tried',
    async () => ({
      message: 'no event has this type',
      hint: `the types are ${webhookEventTypes.join(', ')}`,
      asked: ['webhooks.trigger', { params: { eventType: 'invoice.paid' } }],
      next: [['webhooks.create', { body: { url: 'https://example.com/hooks' } }]],
      instead: ['webhooks.trigger', { params: { eventType: webhookEventTypes[0] } }],
    }),
  ],
  [
    'a webhook of no endpoint is tried',
    async () => ({
      message: 'no enabled endpoint receives invoice.created',
      hint: 'register one with: tally webhooks create',
      asked: ['webhooks.trigger', { params: { eventType: 'invoice.created' } }],
      next: [['webhooks.create', { body: { url: 'https://example.com/hooks' } }]],
    }),
  ],
  [
    'a delivery to a disabled endpoint is sent again',
    async () => {
      const { data: endpoint } = await world.call('webhooks.create', { body: { url: 'https://example.com/hooks' } });
      await world.call('webhooks.trigger', { params: { eventType: 'invoice.created' } });
      const [delivery] = (await world.call('webhooks.deliveries')).data;
      const update = (isEnabled: boolean): Asked => [
        'webhooks.update',
        { params: { endpointId: endpoint.id }, body: { isEnabled } },
      ];
      await world.call(...update(false));
      return {
        message: `the endpoint of delivery ${delivery?.id} is disabled`,
        hint: `enable it with: tally webhooks update ${endpoint.id} --is-enabled`,
        asked: ['webhooks.resend', { params: { deliveryId: delivery?.id ?? '' } }],
        next: [update(true)],
      };
    },
  ],
])('when %s', async (_what, arrange) => {
  const { message, hint, asked, next, instead } = await arrange();
  const error: BillingError = await refusal(world.call(...asked));
  expect([error.message, error.hint]).toEqual([message, hint]);
  for (const each of next) await world.call(...each);
  await world.call(...(instead ?? asked));
});
