/** Which budgets count events that have come, and the alerts of those that have reached their cap (semantics 10). */

import { type MeteredEvent, propertyText } from '../calculation/metering.ts';
import type { NewEvent } from '../store/event-store.ts';
import { type Budget, listArmedBudgets } from '../store/records/budgets.ts';
import { type Contract, findContract, listContractsOfCustomer } from '../store/records/contracts.ts';
import { markExhausted, readBudgets } from './budget-consumption.ts';
import type { CallContext } from './handler.ts';
import type { EventOwners } from './usage-finalized.ts';
import type { MeteredContract } from './usage-metering-options.ts';
import { metersTogether } from './usage-together.ts';

interface Recorded {
  readonly event: NewEvent;
  readonly properties: MeteredEvent['properties'];
}

/**
 * Meters anew only the contracts with a budget that counts one of these events. By tiers, other events can raise what usage
 * of a budget costs, too: that is found when its usage is next read, or grows.
 */
export async function exhaustBudgets(
  context: CallContext,
  recorded: readonly Recorded[],
  owners: EventOwners,
): Promise<void> {
  const { tx, orgId } = context;
  const ofCustomers = Map.groupBy(recorded, ({ event }) => event.customerId);
  const contractIds = [...ofCustomers.keys()].flatMap((id) => owners.contractsOf(id).map((contract) => contract.id));
  const armed = Map.groupBy(await listArmedBudgets(tx, orgId, contractIds), (budget) => budget.contractId);
  if (armed.size === 0) return;
  for (const [customerId, own] of ofCustomers) {
    const contracts = owners.contractsOf(customerId);
    const touched = touchedContracts(
      own,
      contracts.flatMap(({ id }) => armed.get(id) ?? []),
    );
    for await (const contract of contractsOf(context, customerId, touched)) {
      await markExhausted(context, contract, await readBudgets(context, contract));
    }
  }
}

/** For several contracts, what metering reads of a customer is read once: an event that names none may touch thousands. */
async function* contractsOf(
  { tx, orgId }: CallContext,
  customerId: string,
  ids: ReadonlySet<string>,
): AsyncGenerator<Contract & Pick<MeteredContract, 'earlier' | 'together'>> {
  const [first] = ids;
  if (first === undefined) return;
  if (ids.size === 1) {
    const contract = await findContract(tx, orgId, first);
    if (contract !== undefined) yield contract;
    return;
  }
  const all = await listContractsOfCustomer(tx, orgId, customerId);
  const together = metersTogether(all.map(({ id }) => id).filter((id) => ids.has(id)));
  for (const [place, contract] of all.entries()) {
    if (ids.has(contract.id)) yield { ...contract, earlier: all.slice(0, place), together };
  }
}

/**
 * The contracts that have a budget for a dimension of these events. Each dimension is looked up once for each contract that
 * events name, and once for all events that name none: there may be thousands of events, contracts and budgets.
 */
function touchedContracts(recorded: readonly Recorded[], budgets: readonly Budget[]): ReadonlySet<string> {
  const byDimension = Map.groupBy(budgets, ({ eventPropertyKey, eventPropertyValue }) =>
    dimensionOf(eventPropertyKey, eventPropertyValue),
  );
  const seen = new Set<string>();
  const touched = new Set<string>();
  for (const { event, properties } of recorded) {
    for (const name of Object.keys(properties)) {
      const dimension = dimensionOf(name, propertyText(properties, name) ?? '');
      const place = `${event.contractId ?? ''} ${dimension}`;
      const wanted = byDimension.get(dimension);
      if (wanted === undefined || seen.has(place)) continue;
      seen.add(place);
      for (const { contractId } of wanted) if ((event.contractId ?? contractId) === contractId) touched.add(contractId);
    }
  }
  return touched;
}

/** Neither text may contain a NUL. */
function dimensionOf(key: string, value: string): string {
  return `${key}\u0000${value}`;
}
