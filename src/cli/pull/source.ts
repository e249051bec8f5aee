/**
 * What a service shows of a contract through the documented interface. No operation there reads a contract: its dates come
 * from the cost of its usage, its customer from its invoices, and its plan is not available.
 */

import type { Billing, OperationName, ResponseBody } from '../../operations/index.ts';
import { loadOperation } from '../../operations/index.ts';
import type { CallInput, Operation } from '../../operations/operation.ts';
import type { Mirrored, MirroredBody, MirroredKind } from '../../operations/mirror.ts';
import { once, onceEach } from '../../once.ts';
import { createTurns } from '../../turns.ts';
import { pagesOf } from '../every-row.ts';
import type { ListPage } from '../every-row.ts';
import { patiently } from '../session/patiently.ts';
import type { OnWait } from '../session/patiently.ts';
import type { Wanted } from './wanted.ts';

export interface Pulled {
  readonly customerId: string | undefined;
  readonly records: readonly Mirrored[];
  /** What could not be found. */
  readonly lacks: readonly ('customer' | 'plan')[];
}

export interface PullSource {
  /** Every price that the service lists. */
  prices(): Promise<readonly Mirrored[]>;
  /** Everything of one contract. Throws NotFoundError for one that the service does not know. */
  contract(wanted: Wanted): Promise<Pulled>;
}

/** Customers whose invoices are kept in memory for their next contract. */
const rememberedCustomers = 16;

export function createPullSource(
  billing: Billing,
  { hasContracts, onWait }: { readonly hasContracts: boolean; readonly onWait: OnWait },
): PullSource {
  /** Calls documented operations, and besides them only what was asked for. */
  async function call<N extends OperationName>(name: N, input: CallInput): Promise<ResponseBody<N>> {
    const operation: Operation = await loadOperation(name);
    if (operation.documented !== true && !(hasContracts && name === 'contracts.get'))
      throw new TypeError(`${name} is not part of the documented interface`);
    return (await patiently(async () => await billing.call(name, input), onWait)).body;
  }

  const prices = once(async () => {
    const listed = await ranked(pagesOf(async (query) => await call('pricing.list', { query })));
    return listed.map(({ body, rank }) => record('pricing', body, { rank }));
  });
  const customer = onceEach(async (customerId: string) => {
    const { data } = await call('customers.get', { params: { customerId } });
    const filter = { customerId, include: 'lineItems' };
    const invoices = await ranked(pagesOf(async (query) => await call('invoices.list', { query }), filter));
    return {
      record: record('customer', data),
      invoices: invoices.map(({ body, rank }) =>
        record('invoice', body, { rank, contractId: String(body['contractId']) }),
      ),
    };
  }, rememberedCustomers);
  const plan = onceEach(async (planId: string) => {
    const { data } = await call('plans.get', { params: { planId } });
    const listed = new Set((await prices()).map(({ id }) => id));
    const items = (data as Partial<typeof data>).items ?? [];
    const others = [...new Set(items.map(({ pricingId }) => pricingId))].filter((id) => !listed.has(id));
    const unlisted: Mirrored[] = [];
    for (const pricingId of others) {
      unlisted.push(record('pricing', (await call('pricing.get', { params: { pricingId } })).data, { rank: -1 }));
    }
    return [record('plan', data), ...unlisted];
  });
  const findOwner = createOwnerSearch(async (query) => await call('invoices.list', { query }));

  async function customerOf(contractId: string, ledger: ResponseBody<'credits.ledger'>): Promise<string | undefined> {
    const invoiceId = ledger.data.entries.find((entry) => typeof entry.invoiceId === 'string')?.invoiceId;
    if (typeof invoiceId !== 'string') return await findOwner(contractId);
    return (await call('invoices.get', { params: { invoiceId } })).data.customerId;
  }

  async function contract(wanted: Wanted): Promise<Pulled> {
    const { contractId } = wanted;
    const params = { contractId };
    // Called first: it shows whether the contract exists.
    const ledger = await call('credits.ledger', { params });
    const [budgets, cost, whole] = await Promise.all([
      call('budgets.usage', { params }),
      call('usage.cost', { body: { contractId } }),
      hasContracts ? call('contracts.get', { params }) : undefined,
    ]);
    const planId = whole?.data.planId ?? wanted.planId;
    const customerId = whole?.data.customerId ?? wanted.customerId ?? (await customerOf(contractId, ledger));
    const owner = customerId === undefined ? undefined : await customer(customerId);
    const bodyOfContract = whole?.data ?? { id: contractId, customerId, planId, ...datesOf(cost) };
    return {
      customerId,
      records: [
        ...(owner === undefined ? [] : [owner.record]),
        ...(planId === undefined ? [] : await plan(planId)),
        record('contract', bodyOfContract),
        ...(owner?.invoices ?? []).filter((invoice) => invoice.contractId === contractId),
        record('ledger', ledger.data, { id: contractId, contractId }),
        record('budgets', budgets.data, { id: contractId, contractId }),
      ],
      lacks: [
        ...(customerId === undefined ? (['customer'] as const) : []),
        ...(planId === undefined ? (['plan'] as const) : []),
      ],
    };
  }

  return { prices, contract };
}

function record(kind: MirroredKind, body: object, own: Partial<Omit<Mirrored, 'kind' | 'body'>> = {}): Mirrored {
  const shown = body as MirroredBody;
  return { kind, id: String(shown['id']), rank: 0, body: shown, ...own };
}

/** Newest first, as the pages come. Records created meanwhile push others to the next page: each is taken once. */
async function ranked(
  pages: AsyncIterable<ListPage<MirroredBody>>,
): Promise<{ readonly body: MirroredBody; readonly rank: number }[]> {
  const found: MirroredBody[] = [];
  for await (const { rows } of pages) for (const row of rows) found.push(row);
  return found.map((body, index) => ({ body, rank: found.length - index }));
}

/**
 * Finds the customers of contracts in the list of all invoices, reading one page further for each unknown contract: the
 * interface lists invoices by customer, not by contract. After a failure the list is read from its beginning.
 */
function createOwnerSearch(read: (query: Record<string, string>) => Promise<unknown>) {
  const owners = new Map<unknown, string>();
  let pages: ReturnType<typeof pagesOf<MirroredBody>> | undefined;
  let isOver = false;
  const inTurn = createTurns();

  async function readOn(): Promise<void> {
    pages ??= pagesOf<MirroredBody>(read);
    const { done, value } = await pages.next().catch((error: unknown) => {
      pages = undefined;
      throw error;
    });
    isOver = done === true;
    for (const invoice of value?.rows ?? []) owners.set(invoice['contractId'], String(invoice['customerId']));
  }

  async function search(contractId: string): Promise<string | undefined> {
    while (!owners.has(contractId) && !isOver) await readOn();
    return owners.get(contractId);
  }

  return async (contractId: string): Promise<string | undefined> => await inTurn(async () => await search(contractId));
}

/**
 * The dates of a contract, from the range for which its cost is calculated if none is given (interface 4.18). If the range
 * ends on the day of the request, or where it begins, the contract may also have no end. Some services leave the range out.
 */
function datesOf({ startDate, endDate, queriedAt }: Partial<ResponseBody<'usage.cost'>>) {
  const [start, end, asked] = [startDate, endDate, queriedAt].map((instant) => instant?.slice(0, 10));
  return end === asked || end === start ? { startDate: start } : { startDate: start, endDate: end };
}
