/**
 * The parts of the catalog that contract after contract needs, read once for each call: no call that bills changes what a
 * meter counts or how a plan sends its invoices.
 */

import { findMeters } from '../store/records/meters.ts';
import type { Meter } from '../store/records/meters.ts';
import { findInvoiceSendMethod } from '../store/records/plans.ts';
import type { CallContext } from './handler.ts';

type CatalogContext = Pick<CallContext, 'tx' | 'orgId'>;

interface KnownCatalog {
  readonly meters: Map<string, Meter>;
  readonly sendMethods: Map<string, string | undefined>;
}

/** By the context and not by its transaction: that may be shared with calls that change the catalog. */
const known = new WeakMap<CatalogContext, KnownCatalog>();

/** The meters among these ids, each once, archived ones too. */
export async function knownMeters(context: CatalogContext, ids: readonly string[]): Promise<readonly Meter[]> {
  const { meters } = catalogOf(context);
  const distinct = [...new Set(ids)];
  const unknown = distinct.filter((id) => !meters.has(id));
  for (const meter of await findMeters(context.tx, context.orgId, unknown)) meters.set(meter.id, meter);
  return distinct.flatMap((id) => meters.get(id) ?? []);
}

/** Remembers meters that the call has read already, so that `knownMeters` need not read them. */
export function knowMeters(context: CatalogContext, read: readonly Meter[]): void {
  const { meters } = catalogOf(context);
  for (const meter of read) meters.set(meter.id, meter);
}

/** How invoices of a plan are sent; undefined for an id that the organization does not have. */
export async function knownSendMethod(context: CatalogContext, planId: string): Promise<string | undefined> {
  const { sendMethods } = catalogOf(context);
  if (!sendMethods.has(planId)) {
    sendMethods.set(planId, await findInvoiceSendMethod(context.tx, context.orgId, planId));
  }
  return sendMethods.get(planId);
}

function catalogOf(context: CatalogContext): KnownCatalog {
  return known.getOrInsertComputed(context, () => ({ meters: new Map(), sendMethods: new Map() }));
}
