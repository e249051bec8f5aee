/** What webhooks tell of invoices and contracts, held against the resources themselves. */

import { outboxOf } from '../support/outbox.ts';
import type { Sent } from '../support/outbox.ts';
import type { World } from '../support/world.ts';

/** Resources that events tell of, by the kind of their events. */
const readings: Readonly<Record<string, (world: World, id: string) => Promise<object>>> = {
  invoice: async (world, invoiceId) => (await world.call('invoices.get', { params: { invoiceId } })).data,
  contract: async (world, contractId) => (await world.call('contracts.get', { params: { contractId } })).data,
};

/** Every resource whose last event tells something else than it is, in words. */
export async function untruths(world: World): Promise<string[]> {
  const lastWords = new Map<string, Sent>();
  for (const event of await outboxOf(world)) lastWords.set(`${kindOf(event.type)} ${String(event.data['id'])}`, event);
  const problems: string[] = [];
  for (const { type, timestamp, data } of lastWords.values()) {
    const is = await readings[kindOf(type)]?.(world, String(data['id']));
    if (is === undefined) continue;
    const [told, read] = [data, is].map((each) => JSON.stringify(each, membersThatStay(data)));
    if (told !== read) problems.push(`${type} told at ${timestamp}: ${told}, but it is ${read}`);
  }
  return problems;
}

/**
 * What no webhook tells of: a draft comes to more with every event of usage, a contract ends when its time is over, and
 * sending an invoice moves nothing but the time of its last change.
 */
function membersThatStay(data: Sent['data']): string[] {
  const untold = ['isActive', 'updatedAt', ...(data['status'] === 'Drafted' ? ['totalCents'] : [])];
  return Object.keys(data).filter((name) => !untold.includes(name));
}

const kindOf = (type: string): string => type.slice(0, type.indexOf('.'));
