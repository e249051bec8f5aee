/** Meters and their rate cards. */

import type { Selectable } from 'kysely';

import type { PropertyFilter } from '../../calculation/metering.ts';
import type { DimensionRate } from '../../calculation/rate-card.ts';
import type { AggregationType } from '../../operations/wire-values.ts';
import type { MetersTable, Transaction } from '../database.ts';
import { type OfOrganization, prepared } from '../prepared.ts';
import { askedInParts, ofFew, type OfList } from './padded.ts';
import { countOf, type Page, pageOf, type Rows } from './page.ts';

/** A meter as it is stored (interface 2.9). */
export interface Meter {
  readonly id: string;
  /** Unique among the unarchived meters of the organization. */
  readonly code: string;
  readonly displayName: string;
  readonly description: string | null;
  readonly aggregationType: AggregationType;
  readonly eventTypeFilter: { readonly include: readonly string[]; readonly exclude: readonly string[] };
  readonly propertyFilters: readonly PropertyFilter[];
  /** Present for SUM, MAX and MIN, unless the meter is a query (`sql`). */
  readonly aggregationKey: string | null;
  readonly groupKeys: readonly string[];
  readonly sql: string | null;
  readonly status: MetersTable['status'];
  readonly archivedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The prices of a meter by group values (semantics 5). */
export interface StoredRateCard {
  readonly meterId: string;
  /** In the order in which they were given. */
  readonly rates: readonly DimensionRate[];
  readonly fallbackUnitAmount: string | null;
  readonly updatedAt: string;
}

/** Finds archived meters too; undefined for an id that the organization does not have. */
export async function findMeter(tx: Transaction, orgId: string, id: string): Promise<Meter | undefined> {
  const [meter] = await findMeters(tx, orgId, [id]);
  return meter;
}

/** The meters among these ids, archived ones too; ids that the organization does not have are left out. */
export async function findMeters(tx: Transaction, orgId: string, ids: readonly string[]): Promise<readonly Meter[]> {
  return (await askedInParts(ids, (part) => metersOfIds(tx, { orgId, ids: part }))).map(toMeter);
}

const metersOfIds = prepared(
  (tx, { orgId, ids }: OfList<'ids'>) =>
    tx.selectFrom('meters').selectAll().where('orgId', '=', orgId).where('id', 'in', ids).orderBy('seq'),
  { name: 'meters', of: () => ofFew('ids') },
);

/** The unarchived meter with a code. */
export async function findMeterByCode(tx: Transaction, orgId: string, code: string): Promise<Meter | undefined> {
  const row = await tx
    .selectFrom('meters')
    .selectAll()
    .where('orgId', '=', orgId)
    .where('code', '=', code)
    .where('archivedAt', 'is', null)
    .executeTakeFirst();
  return row === undefined ? undefined : toMeter(row);
}

/** A page of meters, newest first. */
export async function listMeters(
  tx: Transaction,
  orgId: string,
  { status, limit, offset }: { readonly status?: Meter['status'] | undefined } & Page,
): Promise<Rows<Meter>> {
  const rows = await pageOfMeters(tx, { orgId, status, limit, offset });
  const [counted] = await meterCount(tx, { orgId, status });
  return { rows: rows.map(toMeter), total: Number(counted?.total) };
}

interface Chosen {
  readonly orgId: string;
  readonly status: Meter['status'] | undefined;
}

const active: Chosen = { orgId: '', status: 'active' };

const pageOfMeters = prepared(
  (tx, chosen: Chosen & Page) => pageOf(metersAmong(tx, chosen).selectAll(), 'meters', chosen),
  { name: 'page of meters', of: () => [{ ...active, limit: 1, offset: 0 }] },
);

const meterCount = prepared((tx, chosen: Chosen) => countOf(metersAmong(tx, chosen)), {
  name: 'number of meters',
  of: () => [active],
});

function metersAmong(tx: Transaction, { orgId, status }: Chosen) {
  const query = tx.selectFrom('meters').where('orgId', '=', orgId);
  return status === undefined ? query : query.where('status', '=', status);
}

/** Every active meter, oldest first. */
export async function listActiveMeters(tx: Transaction, orgId: string): Promise<readonly Meter[]> {
  const rows = await activeMeters(tx, { orgId });
  return rows.map(toMeter);
}

const activeMeters = prepared(
  (tx, { orgId }: OfOrganization) =>
    metersAmong(tx, { orgId, status: 'active' }).selectAll().orderBy('createdAt').orderBy('seq'),
  { name: 'active meters', of: () => [{ orgId: '' }] },
);

/** If an unarchived meter of the organization has the code, this is a ConstraintViolation. */
export async function insertMeter(tx: Transaction, orgId: string, meter: Meter): Promise<void> {
  await tx
    .insertInto('meters')
    .values({
      ...meter,
      orgId,
      eventTypeFilter: JSON.stringify(meter.eventTypeFilter),
      propertyFilters: JSON.stringify(meter.propertyFilters),
      groupKeys: JSON.stringify(meter.groupKeys),
    })
    .execute();
}

/** Takes a meter out of use: it becomes inactive, and its code is free again. */
export async function archiveMeter(
  tx: Transaction,
  orgId: string,
  { id, archivedAt }: { readonly id: string; readonly archivedAt: string },
): Promise<void> {
  await tx
    .updateTable('meters')
    .set({ status: 'inactive', archivedAt, updatedAt: archivedAt })
    .where('orgId', '=', orgId)
    .where('id', '=', id)
    .execute();
}

/** The rate card of a meter; undefined if it has none. */
export async function findRateCard(
  tx: Transaction,
  orgId: string,
  meterId: string,
): Promise<StoredRateCard | undefined> {
  const [row] = await rateCardOf(tx, { orgId, meterId });
  return row === undefined ? undefined : { ...row, rates: JSON.parse(row.rates) as DimensionRate[] };
}

const rateCardOf = prepared(
  (tx, { orgId, meterId }: OfOrganization<'meterId'>) =>
    tx
      .selectFrom('rateCards')
      .select(['meterId', 'rates', 'fallbackUnitAmount', 'updatedAt'])
      .where('orgId', '=', orgId)
      .where('meterId', '=', meterId),
  { name: 'rate card', of: () => [{ orgId: '', meterId: '' }] },
);

/** Writes a rate card, in place of the meter's earlier one. */
export async function saveRateCard(tx: Transaction, orgId: string, rateCard: StoredRateCard): Promise<void> {
  const { meterId, ...rest } = rateCard;
  const changes = { ...rest, rates: JSON.stringify(rest.rates) };
  await tx
    .insertInto('rateCards')
    .values({ ...changes, orgId, meterId })
    .onConflict((conflict) => conflict.columns(['orgId', 'meterId']).doUpdateSet(changes))
    .execute();
}

function toMeter({ orgId: _orgId, seq: _seq, ...row }: Selectable<MetersTable>): Meter {
  return {
    ...row,
    eventTypeFilter: JSON.parse(row.eventTypeFilter) as Meter['eventTypeFilter'],
    propertyFilters: JSON.parse(row.propertyFilters) as PropertyFilter[],
    groupKeys: JSON.parse(row.groupKeys) as string[],
  };
}
