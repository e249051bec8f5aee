/** The result of a simulation, for people and programs: timeline, invoices, ledger, balances, budgets, expectations. */

import type { Billing } from '../../operations/index.ts';
import { compareText } from '../../text-order.ts';
import { wireText } from '../wire/rows.ts';
import type { Contract, Invoice } from './books.ts';
import { deliveriesOf, exhaustionOf, invoicesOf, ledgerOf, oldestFirst } from './books.ts';
import type { Outcome } from './expectations.ts';
import type { Played } from './play.ts';
import type { Scenario } from './scenario.ts';
import { timelineOf } from './timeline.ts';
import type { OwnerOf } from './timeline.ts';

/** Everything that the service holds at the end, and the outcomes of the expectations. */
export async function reportOf(
  scenario: Scenario,
  {
    billing,
    played,
    outcomes,
  }: { readonly billing: Billing; readonly played: Omit<Played, 'usage'>; readonly outcomes: readonly Outcome[] },
) {
  const { file } = scenario;
  const contracts = await oldestFirst(billing, 'contracts.list');
  const own = ownersOf(contracts, played);
  const invoices = await invoicesOf(billing);
  const deliveries = await deliveriesOf(billing);
  const ledger = [];
  const balances = [];
  const budgets = [];
  for (const { id: contractId } of contracts) {
    const mine = own(contractId);
    for (const entry of await ledgerOf(billing, contractId)) ledger.push({ ...mine, ...entry });
    balances.push({ ...mine, ...(await balanceOf(billing, contractId)) });
    const usage = (await billing.call('budgets.usage', { params: { contractId } })).body.data;
    budgets.push(
      ...usage.budgets.map((each) => ({
        ...mine,
        ...each,
        exhaustedAt: exhaustionOf(deliveries, contractId, each.label),
      })),
    );
  }
  return {
    name: file.name,
    seed: file.seed,
    start: file.start,
    until: file.until,
    eventCount: played.eventCount,
    timeline: timelineOf({ steps: played.steps, deliveries, ledger, invoices, own }),
    invoices: invoices
      .map((invoice) => ({ ...own(invoice.contractId), ...invoice }))
      .toSorted(byContractAndPeriod(contracts)),
    ledger,
    balances,
    budgets,
    expectations: outcomes,
  };
}
export type Report = Awaited<ReturnType<typeof reportOf>>;

/** The scenario's names for ids; the id if it has none. */
function ownersOf(contracts: readonly Contract[], { names }: Pick<Played, 'names'>): OwnerOf {
  const nameOf = (known: ReadonlyMap<string, unknown>) => new Map([...known].map(([name, id]) => [id, name]));
  const [customerNames, contractNames] = [nameOf(names.customers), nameOf(names.contracts)];
  const customerIds = new Map(contracts.map(({ id, customerId }) => [id, customerId]));
  return (contractId, ofCustomer) => {
    const customerId = ofCustomer ?? customerIds.get(contractId ?? '');
    return {
      customer: customerNames.get(customerId) ?? wireText(customerId),
      contract: contractId === undefined ? '' : (contractNames.get(contractId) ?? contractId),
    };
  };
}

async function balanceOf(billing: Billing, contractId: string) {
  const { data } = (await billing.call('credits.balance', { params: { contractId }, query: { include: 'projected' } }))
    .body;
  const { balanceCents, creditBalance } = data.balance;
  return { balanceCents, projectedBalanceCents: data.projected?.balanceCents, creditBalance };
}

function byContractAndPeriod(contracts: readonly Contract[]) {
  const places = new Map(contracts.map(({ id }, index) => [id, index]));
  return (one: Invoice, other: Invoice): number => {
    const distance = (places.get(one.contractId) ?? 0) - (places.get(other.contractId) ?? 0);
    if (distance !== 0) return distance;
    return compareText(one.period?.start ?? '', other.period?.start ?? '');
  };
}
