/** Contracts, with the prices frozen into them. */

import { type Selectable, sql } from 'kysely';

import type { ContractItem } from '../../calculation/rate-card.ts';
import { reviveExactJson } from '../../exact-json.ts';
import type { ExactNumber } from '../../exact-json.ts';
import { limits } from '../../limits.ts';
import { keepLatest } from '../../once.ts';
import type { DepletionAction } from '../../operations/wire-values.ts';
import type { Database, Transaction } from '../database.ts';
import { type OfOrganization, prepared } from '../prepared.ts';
import { countOf, firstPage, type Page, pageOf, type PageStart, readPage, type Rows } from './page.ts';
import { instantText, optionalDate, optionalInstant, optionalInstantText } from './row-values.ts';

/** How the credits of a contract behave; budgets are records of their own. */
export interface CreditSettings {
  readonly onDepletion?: DepletionAction | undefined;
  /** Cents per credit: what a free credit is worth. */
  readonly creditRateCents?: bigint | undefined;
  /** When the initial grant of the contract expires. */
  readonly expiresAt?: Temporal.Instant | undefined;
  readonly alertThresholdsCents?: readonly bigint[] | undefined;
}

/** The caller's own keys (interface 2.6); numbers keep their digits. */
export type ContractMetadata = Readonly<Record<string, string | boolean | ExactNumber>>;

/** A contract as it is stored (interface 2.6). */
export interface Contract {
  readonly id: string;
  readonly customerId: string;
  readonly planId: string;
  readonly name: string;
  readonly startDate: Temporal.PlainDate;
  /** Exclusive; undefined for a rolling contract. */
  readonly endDate: Temporal.PlainDate | undefined;
  readonly netTermsDays: number;
  readonly metadata: ContractMetadata;
  readonly creditSettings: CreditSettings;
  /** The prices frozen into it. */
  readonly items: readonly ContractItem[];
  /** Paid credits that the contract began with; undefined if there are none. */
  readonly creditGrantCents: bigint | undefined;
  readonly cancelledAt: Temporal.Instant | undefined;
  /** Exclusive: the date on which a cancellation ended service. */
  readonly effectiveEndDate: Temporal.PlainDate | undefined;
  readonly budgetsVersion: number;
  readonly createdAt: Temporal.Instant;
  readonly updatedAt: Temporal.Instant;
}

/** All given fields must match. */
export interface ContractFilter {
  readonly customerId?: string | undefined;
  readonly externalCustomerId?: string | undefined;
  readonly planId?: string | undefined;
  /** Whether the contract is neither cancelled nor ended on `today`. */
  readonly isActive?: boolean | undefined;
  readonly today: Temporal.PlainDate;
}

type ContractRow = Selectable<Database['contracts']>;

/** One contract; undefined for an id that the organization does not have. */
export async function findContract(tx: Transaction, orgId: string, id: string): Promise<Contract | undefined> {
  const [row] = await contractOfId(tx, { orgId, id });
  return row === undefined ? undefined : toContract(row);
}

const contractOfId = prepared(
  (tx, { orgId, id }: OfOrganization<'id'>) =>
    tx.selectFrom('contracts').selectAll().where('orgId', '=', orgId).where('id', '=', id),
  { name: 'contract', of: () => [{ orgId: '', id: '' }] },
);

/** A page of contracts, newest first. */
export async function listContracts(
  tx: Transaction,
  orgId: string,
  { limit, offset, ...filter }: ContractFilter & Page,
): Promise<Rows<Contract>> {
  const { customerId, externalCustomerId, planId, isActive } = filter;
  const today = filter.today.toString();
  const activeOn = isActive === true ? today : undefined;
  const inactiveOn = isActive === false ? today : undefined;
  const chosen = { orgId, customerId, externalCustomerId, planId, activeOn, inactiveOn };
  const { rows, total } = await readPage(tx, {
    name: `contracts ${JSON.stringify(chosen)}`,
    page: { limit, offset },
    read: async (start) => await pageOfContracts(tx, { ...chosen, ...start }),
    count: async () => await contractCount(tx, chosen),
  });
  return { rows: rows.map(toContract), total };
}

interface Chosen extends Pick<ContractFilter, 'customerId' | 'externalCustomerId' | 'planId'> {
  readonly orgId: string;
  readonly activeOn: string | undefined;
  readonly inactiveOn: string | undefined;
}

const unfiltered: Chosen = {
  orgId: '',
  customerId: undefined,
  externalCustomerId: undefined,
  planId: undefined,
  activeOn: undefined,
  inactiveOn: undefined,
};

const pageOfContracts = prepared(
  (tx, chosen: Chosen & PageStart) => pageOf(contractsAmong(tx, chosen).selectAll(), 'contracts', chosen),
  { name: 'page of contracts', of: () => [{ ...unfiltered, ...firstPage }] },
);

const contractCount = prepared((tx, chosen: Chosen) => countOf(contractsAmong(tx, chosen)), {
  name: 'number of contracts',
  of: () => [unfiltered],
});

/** Contracts whose noted expiry is before an instant: those of which any grant can expire before it. */
export async function listExpiringContracts(
  tx: Transaction,
  orgId: string,
  { expiresBefore, ...filter }: ExpiryFilter,
): Promise<readonly Pick<Contract, 'id' | 'customerId'>[]> {
  return await expiringContracts(tx, {
    ...unfiltered,
    orgId,
    ...filter,
    expiresBefore: instantText(expiresBefore),
  });
}

export interface ExpiryFilter extends Pick<ContractFilter, 'customerId' | 'externalCustomerId'> {
  /** Exclusive. */
  readonly expiresBefore: Temporal.Instant;
}

const expiringContracts = prepared(
  (tx, { expiresBefore, ...chosen }: Chosen & { readonly expiresBefore: string }) =>
    contractsAmong(tx, chosen)
      .select(['id', 'customerId'])
      .where('nextExpiryAt', '<', expiresBefore)
      .orderBy('nextExpiryAt'),
  { name: 'expiring contracts', of: () => [{ ...unfiltered, expiresBefore: '' }] },
);

/** Oldest first: the order in which the contracts of a customer take events (semantics 8). */
const inOrder = (tx: Transaction, { orgId, customerId }: OfOrganization<'customerId'>) =>
  tx
    .selectFrom('contracts')
    .selectAll()
    .where('orgId', '=', orgId)
    .where('customerId', '=', customerId)
    .orderBy('createdAt')
    .orderBy('seq');

/** Every contract of a customer, oldest first. */
export async function listContractsOfCustomer(
  tx: Transaction,
  orgId: string,
  customerId: string,
): Promise<readonly Contract[]> {
  return (await contractsOfCustomer(tx, { orgId, customerId })).map(toContract);
}

const contractsOfCustomer = prepared(inOrder, {
  name: 'contracts of a customer',
  of: () => [{ orgId: '', customerId: '' }],
});

/** The contracts of a customer that were made before the given one, oldest first. */
export async function listContractsBefore(
  tx: Transaction,
  orgId: string,
  { customerId, contractId }: { readonly customerId: string; readonly contractId: string },
): Promise<readonly Contract[]> {
  return (await contractsBefore(tx, { orgId, customerId, contractId })).map(toContract);
}

const contractsBefore = prepared(
  (tx, of: OfOrganization<'customerId' | 'contractId'>) =>
    inOrder(tx, of).where(
      sql<boolean>`("createdAt", "seq") <
        (select "createdAt", "seq" from "contracts" where "orgId" = ${of.orgId} and "id" = ${of.contractId})`,
    ),
  { name: 'contracts before one', of: () => [{ orgId: '', customerId: '', contractId: '' }] },
);

/** Inserts the contract alone: its budgets, drafts and grant are records of their own. */
export async function insertContract(tx: Transaction, orgId: string, contract: Contract): Promise<void> {
  const { id, customerId, planId, name, netTermsDays, budgetsVersion } = contract;
  await tx
    .insertInto('contracts')
    .values({
      orgId,
      id,
      customerId,
      planId,
      name,
      netTermsDays,
      budgetsVersion,
      startDate: contract.startDate.toString(),
      endDate: contract.endDate?.toString() ?? null,
      metadata: JSON.stringify(contract.metadata),
      creditSettings: creditSettingsJson(contract.creditSettings),
      items: JSON.stringify(contract.items),
      creditGrantCents: contract.creditGrantCents ?? null,
      cancelledAt: optionalInstantText(contract.cancelledAt),
      effectiveEndDate: contract.effectiveEndDate?.toString() ?? null,
      createdAt: instantText(contract.createdAt),
      updatedAt: instantText(contract.updatedAt),
    })
    .execute();
}

/** The fields of a contract that calls change; an absent one stays as it is. */
export interface ContractChanges {
  readonly metadata?: ContractMetadata;
  readonly cancelledAt?: Temporal.Instant;
  readonly effectiveEndDate?: Temporal.PlainDate;
  readonly budgetsVersion?: number;
  /** Null where the credits that the contract began with are not billed. */
  readonly creditGrantCents?: null;
  readonly updatedAt: Temporal.Instant;
}

/** Changes nothing if the organization has no contract with this id. */
export async function updateContract(
  tx: Transaction,
  orgId: string,
  { id, ...changes }: ContractChanges & { readonly id: string },
): Promise<void> {
  const { metadata, cancelledAt, effectiveEndDate, updatedAt, ...plain } = changes;
  await tx
    .updateTable('contracts')
    .set({
      ...plain,
      updatedAt: instantText(updatedAt),
      metadata: metadata && JSON.stringify(metadata),
      cancelledAt: cancelledAt && instantText(cancelledAt),
      effectiveEndDate: effectiveEndDate?.toString(),
    })
    .where('orgId', '=', orgId)
    .where('id', '=', id)
    .execute();
}

function contractsAmong(tx: Transaction, chosen: Chosen) {
  const { orgId, customerId, externalCustomerId, planId, activeOn, inactiveOn } = chosen;
  let query = tx.selectFrom('contracts').where('orgId', '=', orgId);
  if (customerId !== undefined) query = query.where('customerId', '=', customerId);
  if (planId !== undefined) query = query.where('planId', '=', planId);
  if (externalCustomerId !== undefined) {
    // Compares with one customer, whose contracts an index holds in order; `in` would walk through all of the organization's.
    query = query.where('customerId', '=', (row) =>
      row
        .selectFrom('customers')
        .select('customers.id')
        .where('customers.orgId', '=', orgId)
        .where('customers.externalCustomerId', '=', externalCustomerId),
    );
  }
  if (activeOn !== undefined) {
    query = query
      .where('cancelledAt', 'is', null)
      .where((row) => row.or([row('endDate', 'is', null), row('endDate', '>', activeOn)]));
  }
  if (inactiveOn !== undefined) {
    query = query.where((row) => row.or([row('cancelledAt', 'is not', null), row('endDate', '<=', inactiveOn)]));
  }
  return query;
}

interface StoredCreditSettings {
  readonly onDepletion?: DepletionAction;
  readonly creditRateCents?: number;
  readonly expiresAt?: string;
  readonly alertThresholdsCents?: readonly number[];
}

function creditSettingsJson(settings: CreditSettings): string {
  const { onDepletion, creditRateCents, expiresAt, alertThresholdsCents } = settings;
  const stored: StoredCreditSettings = {
    ...(onDepletion === undefined ? {} : { onDepletion }),
    ...(creditRateCents === undefined ? {} : { creditRateCents: Number(creditRateCents) }),
    ...(expiresAt === undefined ? {} : { expiresAt: instantText(expiresAt) }),
    ...(alertThresholdsCents === undefined ? {} : { alertThresholdsCents: alertThresholdsCents.map(Number) }),
  };
  return JSON.stringify(stored);
}

/** Parses the JSON text of a row. */
export function toCreditSettings(text: string): CreditSettings {
  const stored = JSON.parse(text) as StoredCreditSettings;
  return {
    onDepletion: stored.onDepletion,
    creditRateCents: stored.creditRateCents === undefined ? undefined : BigInt(stored.creditRateCents),
    expiresAt: stored.expiresAt === undefined ? undefined : Temporal.Instant.from(stored.expiresAt),
    alertThresholdsCents: stored.alertThresholdsCents?.map(BigInt),
  };
}

const latestItems = keepLatest<readonly ContractItem[]>(64, limits.contractPricesBytes * 4);

/**
 * Parses the JSON text of a row. Equal texts give the same object, because the contracts of a plan mostly share one text. The
 * object is never changed, and what is derived from it is computed once.
 */
export function toContractItems(text: string): readonly ContractItem[] {
  return latestItems(text, () => JSON.parse(text) as ContractItem[]);
}

/** Contracts with the same frozen prices share one object of `items`. */
export function toContract(row: ContractRow): Contract {
  const { id, customerId, planId, name } = row;
  return {
    id,
    customerId,
    planId,
    name,
    startDate: Temporal.PlainDate.from(row.startDate),
    endDate: optionalDate(row.endDate),
    netTermsDays: Number(row.netTermsDays),
    metadata: reviveExactJson(row.metadata) as ContractMetadata,
    creditSettings: toCreditSettings(row.creditSettings),
    items: toContractItems(row.items),
    creditGrantCents: row.creditGrantCents ?? undefined,
    cancelledAt: optionalInstant(row.cancelledAt),
    effectiveEndDate: optionalDate(row.effectiveEndDate),
    budgetsVersion: Number(row.budgetsVersion),
    createdAt: Temporal.Instant.from(row.createdAt),
    updatedAt: Temporal.Instant.from(row.updatedAt),
  };
}
