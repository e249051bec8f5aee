/** A replay while it runs: what is repeated, on which service, and what could not be. */

import { BillingError } from '../../errors.ts';
import type { Billing } from '../../operations/index.ts';
import type { CatalogFile } from '../catalog/file.ts';
import type { LiveCatalog } from '../catalog/live.ts';
import type { History } from './history.ts';

export interface ExtraGrant {
  /** Id of the customer; undefined for all. */
  readonly customerId: string | undefined;
  readonly amountCents: bigint;
  /** The first day of the contract when not given. */
  readonly at?: string | undefined;
  readonly expiresAt: string;
}

export interface Conditions {
  /** Applied to the existing catalog, as `tally catalog apply` does. */
  readonly catalog: CatalogFile | undefined;
  /** First day of service of every contract, instead of its own. */
  readonly startDate: string | undefined;
  readonly grants: readonly ExtraGrant[];
}

/** The same history again. */
export const unchanged: Conditions = { catalog: undefined, startDate: undefined, grants: [] };

export interface Scene {
  readonly history: History;
  readonly conditions: Conditions;
  readonly billing: Billing;
  readonly live: LiveCatalog;
  /** Ids of the plans that existed before the other catalog was applied. */
  readonly oldPlanIds: ReadonlySet<string>;
  /** Ids at the new service by ids at the source. */
  readonly customers: Map<string, string>;
  readonly contracts: Map<string, string>;
  readonly entries: Map<string, string>;
  readonly notes: { readonly customerId: string; readonly note: string }[];
  readonly incomplete: Set<string>;
  /** New grants that some contract got. */
  readonly given: Set<ExtraGrant>;
}

/** Something to do when the clock gets there. */
export interface Deed {
  readonly at: string;
  readonly act: () => Promise<unknown>;
}

/** Notes and leaves out whatever the other conditions do not allow. */
export async function repeated<T>(
  scene: Scene,
  customerId: string,
  words: string,
  act: () => Promise<T>,
): Promise<T | undefined> {
  return await orNoted(scene, customerId, `${words} cannot be repeated`, act);
}

/** The same for what only the other conditions have; `refusal` says what did not happen. */
export async function orNoted<T>(
  scene: Scene,
  customerId: string,
  refusal: string,
  act: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    note(scene, customerId, `${refusal}: ${error.message}`);
    return undefined;
  }
}

export function note({ notes }: Scene, customerId: string, words: string): void {
  notes.push({ customerId, note: words });
}
