/** A customer on a monthly price of one cent a token, and what tests of credits and invoices read of it. */

import { ConflictError, InvalidInputError, NotFoundError } from '../../src/errors.ts';
import { textOfNumber } from '../../src/exact-json.ts';
import type { OperationName, ResponseBody } from '../../src/operations/index.ts';
import type { CallInput } from '../../src/operations/operation.ts';
import { createContract, createCustomer, createMeter, createPrice, send } from './usage-scenario.ts';
import type { World } from './world.ts';

type Body = Record<string, unknown>;

export interface Subscription {
  readonly customerId: string;
  readonly contractId: string;
  readonly meterId: string;
  readonly pricingId: string;
}

/** The contract begins on 2026-03-01 and rolls unless `contract` says otherwise. */
export async function subscribe(
  world: World,
  parts: { readonly contract?: Body; readonly price?: Body; readonly meter?: Body; readonly name?: string } = {},
): Promise<Subscription> {
  const name = parts.name ?? 'acme';
  const customerId = await createCustomer(world, name);
  const meterId = await createMeter(world, `TOKENS_${name.toUpperCase()}`, parts.meter);
  const pricingId = await createPrice(world, meterId, parts.price);
  const contractId = await createContract(world, {
    customerId,
    pricingIds: [pricingId],
    startDate: '2026-03-01',
    endDate: undefined,
    ...parts.contract,
  });
  return { customerId, contractId, meterId, pricingId };
}

/** Tokens used at an instant, which are as many cents. */
export async function use(
  world: World,
  { contractId, customerId }: Subscription,
  usage: {
    readonly tokens: number | string;
    readonly at: string;
    readonly key?: string;
    readonly eventName?: string;
  } & Body,
): Promise<void> {
  const { tokens, at, key, eventName, ...properties } = usage;
  await send(world, {
    customerId,
    contractId,
    timestamp: at,
    properties: { tokens, ...properties },
    ...(key === undefined ? {} : { idempotencyKey: key }),
    ...(eventName === undefined ? {} : { eventName }),
  });
}

type Entry = ResponseBody<'credits.ledger'>['data']['entries'][number];
type Invoice = ResponseBody<'invoices.list'>['data'][number];

/** A promotional grant of cents, until the end of 2026 unless `body` says otherwise; gives its id. */
export async function grant(world: World, { contractId }: Subscription, body: Body): Promise<string> {
  const { data } = await world.call('credits.grant', {
    params: { contractId },
    body: { expiresAt: '2026-12-31T00:00:00Z', ...body },
  });
  return data.id;
}

export async function grantPaid(world: World, { contractId }: Subscription, body: Body): Promise<string> {
  return (await world.call('credits.grantPaid', { params: { contractId }, body })).data.id;
}

/** The ledger, oldest entry first. */
export async function ledger(world: World, { contractId }: Subscription): Promise<Entry[]> {
  return (await world.call('credits.ledger', { params: { contractId } })).data.entries.toReversed();
}

/** The ledger as `type cents credits` of one grant, or of all. */
export async function movements(world: World, subscription: Subscription, grantId?: string): Promise<string[]> {
  return (await ledger(world, subscription))
    .filter((entry) => grantId === undefined || entry.grantEntryId === grantId || entry.id === grantId)
    .map((entry) => `${entry.type} ${textOfNumber(entry.amountCents)} ${textOfNumber(entry.creditAmount)}`);
}

export async function balance(world: World, { contractId }: Subscription, query: Record<string, string> = {}) {
  return (await world.call('credits.balance', { params: { contractId }, query })).data;
}

export async function settle(world: World, { contractId }: Subscription): Promise<Entry[]> {
  return (await world.call('credits.settle', { params: { contractId } })).data.entries;
}

/** The invoices of a customer with their lines, in the order of periods. */
export async function invoices(world: World, { customerId, contractId }: Subscription): Promise<Invoice[]> {
  const { data } = await world.call('invoices.list', { query: { customerId, include: 'lineItems', limit: '100' } });
  return data.filter((invoice) => invoice.contractId === contractId).toReversed();
}

/** One invoice of a contract, by its place. */
export async function invoiceAt(world: World, subscription: Subscription, index: number): Promise<Invoice> {
  const invoice = (await invoices(world, subscription))[index];
  if (invoice === undefined) throw new Error(`this contract has no invoice ${index}`);
  return invoice;
}

/** March with usage of 300 cents, at the instant at which its invoice may be finalized; gives the id of the invoice. */
export async function endOfMarch(world: World, subscription: Subscription): Promise<string> {
  await use(world, subscription, { tokens: 300, at: '2026-03-01T00:00:00Z' });
  world.clock.set('2026-04-01T00:00:00Z');
  return (await invoiceAt(world, subscription, 0)).id;
}

export async function finalize(world: World, invoiceId: string): Promise<Invoice> {
  return (await world.call('invoices.finalize', { params: { invoiceId } })).data;
}

/** The lines of an invoice as `name cents`. */
export function linesOf(invoice: Invoice): string[] {
  return (invoice.lineItems ?? []).map((line) => `${line.name} ${textOfNumber(line.totalAmountCents)}`);
}

/** How a call was refused: its kind and words, or `accepted`. */
export async function refusal(world: World, name: OperationName, input: CallInput): Promise<string> {
  try {
    await world.call(name, input);
    return 'accepted';
  } catch (error) {
    if (error instanceof ConflictError) return `409 ${error.message}`;
    if (error instanceof InvalidInputError) return `422 ${error.message}`;
    if (error instanceof NotFoundError) return `404 ${error.message}`;
    throw error;
  }
}
