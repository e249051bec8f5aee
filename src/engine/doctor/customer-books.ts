/**
 * What the contracts of a customer are examined with, in one transaction or several. It is read once for all of them as long as
 * nothing is written: read anew for each, it took ten seconds for a thousand contracts.
 */

import { createEventMatcher } from '../../calculation/metering.ts';
import type { EpochInterval } from '../../store/event-store.ts';
import { stateSeen } from '../../store/page-ends.ts';
import { listContractsOfCustomer } from '../../store/records/contracts.ts';
import type { Contract } from '../../store/records/contracts.ts';
import type { Meter } from '../../store/records/meters.ts';
import type { CallContext } from '../handler.ts';
import { compareText } from '../../text-order.ts';
import { type Coverage, coveragesOf } from '../usage-attribution.ts';
import { type MeteredTogether, metersTogether } from '../usage-together.ts';

/** The contracts of a customer, oldest first. */
export interface CustomerBooks {
  readonly id: string;
  readonly contracts: readonly Contract[];
  /** In the same order. */
  readonly coverages: readonly Coverage[];
  /** How many events of an interval name no contract, by meter and interval. */
  readonly unnamedCounts: Map<string, number>;
  /**
   * Their finalized invoices are metered together: one by one, each looked at all events of the customer. Events recorded
   * meanwhile do not matter, since for what is finalized they are late.
   */
  readonly together: MeteredTogether | undefined;
}

/** What is carried from contract to contract of an organization. */
export interface KnownOfOrganization {
  /** Catalog ids already found: they never go away. */
  readonly catalogIds: Set<string>;
  /** The latest customer, and the state of the database in which it was read. */
  latest: { readonly state: string; readonly customer: CustomerBooks } | undefined;
}

/** What an examination of an organization begins with. */
export function nothingKnown(): KnownOfOrganization {
  return { catalogIds: new Set(), latest: undefined };
}

/** A customer's books as this transaction sees them: those of `known`, while nothing has been written since they were read. */
export async function readCustomerBooks(
  { tx, orgId }: Pick<CallContext, 'tx' | 'orgId'>,
  customerId: string,
  known: KnownOfOrganization,
): Promise<CustomerBooks> {
  const state = await stateSeen(tx);
  const { latest } = known;
  if (latest !== undefined && latest.state === state && latest.customer.id === customerId) return latest.customer;
  const contracts = await listContractsOfCustomer(tx, orgId, customerId);
  // In the order in which they are examined.
  const ids = contracts.map(({ id }) => id).toSorted(compareText);
  const customer = {
    id: customerId,
    contracts,
    coverages: coveragesOf(contracts),
    unnamedCounts: new Map(),
    together: metersTogether(ids),
  };
  known.latest = state === undefined ? undefined : { state, customer };
  return customer;
}

/** The contracts of the customer that were made before the one with this id. */
export function contractsBefore({ contracts }: CustomerBooks, contractId: string): readonly Contract[] {
  const place = contracts.findIndex(({ id }) => id === contractId);
  return contracts.slice(0, Math.max(place, 0));
}

/** Counts events of the customer in an interval that name no contract and that the meter takes; late ones are left out. */
export async function countUnnamed(
  { tx, orgId, events }: Pick<CallContext, 'tx' | 'orgId' | 'events'>,
  { id: customerId, unnamedCounts }: CustomerBooks,
  { meter, interval }: { readonly meter: Meter; readonly interval: EpochInterval },
): Promise<number> {
  const key = `${meter.id} ${interval.fromEpochMs} ${interval.toEpochMs}`;
  const known = unnamedCounts.get(key);
  if (known !== undefined) return known;
  const matches = createEventMatcher(meter);
  let count = 0;
  await events.scan(tx, { ...interval, orgId, customerId }, (event) => {
    if (event.contractId === null && matches(event)) count += 1;
  });
  unnamedCounts.set(key, count);
  return count;
}
