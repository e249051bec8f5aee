/** The history of the contracts in a mirror; their usage is what was invoiced (see mirror-usage.ts). */

import { Big } from 'big.js';

import { ConflictError } from '../../errors.ts';
import { exactNumber, isExactNumber, isJsonObject, textOfNumber } from '../../exact-json.ts';
import type { ResponseBody } from '../../operations/index.ts';
import type { Mirror, Mirrored } from '../../operations/mirror.ts';
import { compareText } from '../../text-order.ts';
import type { CatalogFile } from '../catalog/file.ts';
import type { Invoice, LedgerEntry } from './books.ts';
import { cancellationOf, chosen, firstPaidGrant, inTime, isManual } from './history.ts';
import type { HistoricContract, History, Movement } from './history.ts';
import { historyCatalogOf, meterByRates, withAddedMeters, withoutUsage } from './mirror-catalog.ts';
import type { MirroredCatalog, MirroredPlan } from './mirror-catalog.ts';
import { linesOf, periodOf, prepaid } from './mirror-lines.ts';
import type { MirroredPrice } from './mirror-lines.ts';
import { cardOf, itemOf, plainUnitAmount } from './mirror-prices.ts';
import type { BilledPrice } from './mirror-prices.ts';
import { eventsOf, hasLapsedIn, isUsage } from './mirror-usage.ts';

type BudgetUsage = ResponseBody<'budgets.usage'>['data'];

/** What the documented interface shows of a contract; the other fields are present if it was pulled with `--published`. */
interface ShownContract {
  readonly id: string;
  readonly customerId?: string;
  readonly planId?: string;
  readonly startDate: string;
  readonly endDate?: string;
  readonly isActive?: boolean;
}

interface Bodies {
  readonly customer: ResponseBody<'customers.get'>['data'];
  readonly plan: MirroredPlan;
  readonly pricing: MirroredPrice;
  readonly contract: ShownContract;
  readonly invoice: Invoice;
  readonly ledger: { readonly entries: readonly LedgerEntry[] };
  readonly budgets: BudgetUsage;
}

export interface MirroredHistory {
  readonly history: History;
  /** The other catalog, on the meters of the history. */
  readonly catalog: CatalogFile | undefined;
  /** The service's own time when the last contract was pulled. */
  readonly now: string;
  readonly notes: readonly { readonly customerId: string; readonly note: string }[];
  /** Remarks that are about no single customer. */
  readonly remarks: readonly string[];
}

interface MirroredContract {
  readonly contract: ShownContract & { readonly customerId: string };
  readonly plan: MirroredPlan;
  readonly pulledAt: string;
  readonly invoices: readonly Invoice[];
  readonly entries: readonly LedgerEntry[];
  readonly budgets: BudgetUsage['budgets'];
  readonly billed: readonly BilledPrice[];
  readonly unknown: readonly string[];
}

/** Reads the history; `only` names customers by either id, all when empty. Throws ConflictError for a contract without a plan. */
export async function readMirrorHistory(
  mirror: Mirror,
  { only, catalog: other }: { readonly only: readonly string[]; readonly catalog: CatalogFile | undefined },
): Promise<MirroredHistory> {
  const all = (await allOf(mirror, 'contract')).toReversed();
  const customers = chosen((await allOf(mirror, 'customer')).toReversed(), only, all);
  const ids = new Set(customers.map(({ id }) => id));
  const plans = await allOf(mirror, 'plan');
  const prices = await pricesOf(mirror, plans);
  const found: MirroredContract[] = [];
  for (const contract of all) {
    if (only.length > 0 && !ids.has(contract.customerId ?? '')) continue;
    found.push(await readContract(mirror, contract, { plans, prices: prices.map(({ price }) => price) }));
  }
  if (found.length === 0) {
    throw new ConflictError(`${mirror.location} has no contracts of these customers: there is nothing to compare`, {
      hint: 'pull some into it with: tally pull --contract ID --to FILE',
    });
  }
  const contracts = withUsualPrices(found);
  const mirrored: MirroredCatalog = { prices, plans: usedBy(plans, contracts), ...metersOf(contracts) };
  const billed = contracts.flatMap(({ invoices }) => invoices);
  return {
    history: {
      customers,
      catalog: historyCatalogOf(mirrored, other),
      contracts: contracts.map(historicContract),
      events: contracts.flatMap(eventsOf).toSorted((one, another) => compareText(one.timestamp, another.timestamp)),
      billed,
    },
    catalog: other === undefined ? undefined : withAddedMeters(mirrored, other),
    now:
      contracts
        .map(({ pulledAt }) => pulledAt)
        .toSorted()
        .at(-1) ?? '',
    notes: contracts.flatMap(notesOf),
    remarks: remarksOf(mirrored, other),
  };
}

function remarksOf(mirrored: MirroredCatalog, other: CatalogFile | undefined): string[] {
  if (other === undefined) return [];
  const nameOf = (id: string) => mirrored.prices.find(({ price }) => price.meterId === id)?.price.name ?? id;
  return [
    ...[...meterByRates(mirrored, other)].map(([id, code]) => `${code} is taken to be the meter of ${nameOf(id)}`),
    ...withoutUsage(mirrored, other).map((label) => `${label}: the mirror has no usage of its meter, so it bills none`),
  ];
}

/** The body as the service answered it, but with our form of numbers: a replay gives them to an engine that takes no `5.0`. */
function bodyOf<K extends keyof Bodies>(_kind: K, { body }: Mirrored): Bodies[K] {
  return inOurForm(body) as Bodies[K];
}

function inOurForm(value: unknown): unknown {
  if (isExactNumber(value)) return exactNumber(new Big(textOfNumber(value)).toFixed());
  if (Array.isArray(value)) return value.map(inOurForm);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inOurForm(each)]));
}

/** All records of a kind, newest first. */
async function allOf<K extends keyof Bodies>(mirror: Mirror, kind: K): Promise<Bodies[K][]> {
  return (await mirror.list(kind, {})).rows.map((row) => bodyOf(kind, row));
}

async function pricesOf(mirror: Mirror, plans: readonly MirroredPlan[]): Promise<MirroredCatalog['prices']> {
  const listed = await allOf(mirror, 'pricing');
  const known = new Set(listed.map(({ id }) => id));
  const others = new Set(
    plans.flatMap(({ items }) => items.map(({ pricingId }) => pricingId)).filter((id) => !known.has(id)),
  );
  const records = await Promise.all([...others].map(async (id) => await mirror.find('pricing', id)));
  return [
    ...listed.map((price) => ({ price, isListed: true })),
    ...records.flatMap((record) =>
      record === undefined ? [] : [{ price: bodyOf('pricing', record), isListed: false }],
    ),
  ];
}

function usedBy(plans: readonly MirroredPlan[], contracts: readonly MirroredContract[]): MirroredPlan[] {
  return plans.filter(({ id }) => contracts.some(({ plan }) => plan.id === id));
}

async function readContract(
  mirror: Mirror,
  contract: ShownContract,
  known: { readonly plans: readonly MirroredPlan[]; readonly prices: readonly MirroredPrice[] },
): Promise<MirroredContract> {
  const { customerId } = contract;
  const plan = known.plans.find(({ id }) => id === contract.planId);
  if (plan === undefined || customerId === undefined) {
    throw new ConflictError(
      `the mirror does not know the ${plan === undefined ? 'plan' : 'customer'} of contract ${contract.id}`,
      { hint: `pull it again with --plan and --customer, or with --published where the service shows contracts` },
    );
  }
  const [ledger, budgets] = await Promise.all([
    mirror.find('ledger', contract.id),
    mirror.find('budgets', contract.id),
  ]);
  const { rows } = await mirror.list('invoice', { contractId: contract.id });
  const invoices = rows.toReversed().map((row) => {
    const invoice = bodyOf('invoice', row);
    const period = periodOf(invoice);
    return period === undefined ? invoice : { ...invoice, period };
  });
  const items = plan.items.flatMap(({ pricingId, defaultQuantity }) => {
    const price = known.prices.find(({ id }) => id === pricingId);
    return price === undefined ? [] : [{ price, quantity: defaultQuantity }];
  });
  const { lines, unknown } = linesOf(
    invoices,
    items.map(({ price }) => price),
  );
  const usage = budgets === undefined ? undefined : bodyOf('budgets', budgets);
  return {
    contract: { ...contract, customerId },
    plan,
    pulledAt: usage?.queriedAt ?? ledger?.pulledAt ?? '',
    invoices,
    entries: ledger === undefined ? [] : bodyOf('ledger', ledger).entries.toReversed().map(withCredits),
    budgets: usage?.budgets ?? [],
    billed: items.map((item) => ({
      ...item,
      usualUnitAmount: undefined,
      lines: lines.filter(({ price }) => price.id === item.price.id),
    })),
    unknown,
  };
}

/** A service may write null where there are no credits. */
function withCredits(entry: LedgerEntry): LedgerEntry {
  return { ...entry, creditAmount: entry.creditAmount ?? 0, creditRateCents: entry.creditRateCents ?? 0 };
}

function withUsualPrices(contracts: readonly MirroredContract[]): MirroredContract[] {
  const usual = new Map(
    contracts.flatMap(({ billed }) =>
      billed.flatMap(({ price, lines }) => {
        const unitAmount = plainUnitAmount(lines);
        return unitAmount === undefined ? [] : [[price.id, unitAmount] as const];
      }),
    ),
  );
  return contracts.map((each) => ({
    ...each,
    billed: each.billed.map((price) => ({ ...price, usualUnitAmount: usual.get(price.price.id) })),
  }));
}

/** What lines show about each meter: its group keys, and its rates. */
function metersOf(contracts: readonly MirroredContract[]): Pick<MirroredCatalog, 'groupKeys' | 'rates'> {
  const billed = contracts.flatMap((contract) => contract.billed);
  const byMeter = Map.groupBy(billed, ({ price }) => price.meterId);
  const groupKeys = new Map<string, readonly string[]>();
  const rates = new Map<string, ReturnType<typeof cardOf>>();
  for (const [id, own] of byMeter) {
    if (id === undefined) continue;
    const used = own.flatMap(({ lines }) => lines.filter(isUsage));
    if (used.length > 0) groupKeys.set(id, [...new Set(used.flatMap(({ groups }) => Object.keys(groups)))]);
    rates.set(id, cardOf(own));
  }
  return { groupKeys, rates };
}

function historicContract(mirrored: MirroredContract): HistoricContract {
  const { contract, plan, entries, budgets, billed, invoices, unknown } = mirrored;
  // Credits that were bought later are on no invoice.
  const own = unknown.length === 0 ? undefined : firstPaidGrant(entries);
  const lastDay = contract.isActive === false ? lastDayOf(contract, invoices) : null;
  const rate = own === undefined ? '0' : textOfNumber(own.creditRateCents);
  return {
    contract: {
      name: '',
      createdAt: '',
      metadata: {},
      isActive: true,
      ...contract,
      planId: plan.id,
      terms: {
        netTerms: Number(plan.netTerms),
        effectiveEndDate: lastDay,
        creditGrantCents: own?.amountCents ?? null,
        creditSettings: {
          ...(rate === '0' ? {} : { creditRateCents: exactNumber(rate) }),
          ...(typeof own?.expiresAt === 'string' ? { expiresAt: own.expiresAt } : {}),
        },
        items: billed.map(itemOf),
      },
    },
    cancelledAt: cancellationOf(lastDay, invoices.filter(hasNoLines)),
    budgets: [...budgets],
    ownGrantId: own?.id,
    movements: movementsOf(entries, invoices, own?.id),
  };
}

/**
 * The end of a cancelled contract, whose date the interface does not show: that of its last invoice that still stands, or its
 * first day if every invoice went before it had lines.
 */
function lastDayOf({ startDate }: ShownContract, invoices: readonly Invoice[]): string | null {
  if (invoices.every(hasNoLines)) return startDate;
  const ends = invoices.flatMap(({ status, period }) =>
    status === 'Cancelled' || period === undefined ? [] : [period.end],
  );
  return ends.toSorted().at(-1) ?? null;
}

/** A draft that went with its contract; an invoice that was cancelled by itself keeps its lines. */
function hasNoLines({ period }: Invoice): boolean {
  return period === undefined;
}

/** The movements as far as a ledger tells: it does not show what a grant is limited to, nor which entry a reversal undoes. */
function movementsOf(
  entries: readonly LedgerEntry[],
  invoices: readonly Invoice[],
  ownGrantId: string | undefined,
): Movement[] {
  const undone = new Set<string>();
  return entries.flatMap((entry): Movement[] => {
    const at = entry.createdAt;
    if (entry.type === 'grant' && isManual(entry, ownGrantId)) {
      return [{ kind: 'grant', entry, paysFor: {}, at: inTime(entry, entries, invoices) }];
    }
    if (entry.type === 'adjustment') return [{ kind: 'adjust', at, entry, grantId: entry.grantEntryId ?? '' }];
    if (entry.type !== 'reversal' || typeof entry.invoiceId === 'string') return [];
    const target = entries.findLast(
      (each) =>
        isManual(each, ownGrantId) &&
        !undone.has(each.id) &&
        each.createdAt <= at &&
        isOpposite(each, entry) &&
        (each.grantEntryId ?? each.id) === (entry.grantEntryId ?? each.id),
    );
    if (target === undefined) return [];
    undone.add(target.id);
    return [{ kind: 'reverse', at, entry, targetId: target.id }];
  });
}

function isOpposite(one: LedgerEntry, other: LedgerEntry): boolean {
  return (['amountCents', 'creditAmount'] as const).every((name) => {
    const [a, b] = [textOfNumber(one[name]), textOfNumber(other[name])];
    return a === b ? Number(a) === 0 : a === `-${b}` || b === `-${a}`;
  });
}

function notesOf({ contract, billed, budgets, entries, invoices, unknown }: MirroredContract) {
  const usage = billed.flatMap(({ lines }) => lines.filter(isUsage));
  const isHidden = ({ eventPropertyKey, meterId }: BudgetUsage['budgets'][number]) =>
    usage.some(
      ({ price, groups }) =>
        (meterId === null || price.meterId === meterId) && !Object.hasOwn(groups, eventPropertyKey),
    );
  const notes = [
    ...unknown
      .filter((name) => name !== prepaid)
      .map((name) => `invoices charge for ${name}, which is not a price of the plan: left out`),
    ...budgets
      .filter(isHidden)
      .map(({ label }) => `the budget ${label} is on a property that some lines do not show: it does not cap those`),
    ...entries
      .filter((entry) => invoices.some((invoice) => hasLapsedIn(entry, invoice, entries)))
      .map(({ expiresAt }) => `${lapsing} ${String(expiresAt).slice(0, 10)}`),
  ];
  return notes.map((note) => ({ customerId: contract.customerId, note }));
}

const lapsing =
  'lines do not show the days of usage: where credits lapsed within a billing period, as much usage as they paid is taken to come before';
