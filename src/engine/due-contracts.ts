/**
 * Contracts that are due, with all that billing reads of them. It is read for many contracts at once: reading for each by
 * itself takes as long as the work that follows.
 */

import { limits } from '../limits.ts';
import { listBudgetsOf } from '../store/records/budgets.ts';
import type { Contract } from '../store/records/contracts.ts';
import { type Customer, listCustomersOf } from '../store/records/customers.ts';
import { type ContractDue, listContractsOfSameCustomers } from '../store/records/due-work.ts';
import { type Invoice, listInvoicesOf } from '../store/records/invoices.ts';
import { emptyStoredLedger, listLedgersOf } from '../store/records/ledger.ts';
import type { CallContext } from './handler.ts';
import type { BillingFacts } from './open-billing.ts';
import { type MeteredTogether, metersTogether } from './usage-together.ts';

/** A contract with what falls due on it, and what is needed to work that off. */
export interface DueContract {
  readonly contract: Contract;
  readonly due: ContractDue;
  readonly customer: Customer | undefined;
  /** All of them, in the order of periods. */
  readonly invoices: readonly Invoice[];
  /** The customer's contracts made before this one, oldest first. */
  readonly earlier: readonly Contract[];
  /** This contract and the customer's others that were read with it. */
  readonly together: MeteredTogether | undefined;
  /** The rest of what billing reads; undefined where the ledgers are too long to be held together. */
  readonly facts: Omit<BillingFacts, 'invoices'> | undefined;
}

/** These contracts as they stand, in their order; ids that the organization does not have are left out. */
export async function readDueContracts(
  { tx, orgId }: Pick<CallContext, 'tx' | 'orgId'>,
  contractIds: readonly string[],
): Promise<DueContract[]> {
  const found = await listContractsOfSameCustomers(tx, orgId, contractIds);
  const byId = new Map(found.map((each) => [each.contract.id, each]));
  const ofCustomer = Map.groupBy(
    found.map(({ contract }) => contract),
    ({ customerId }) => customerId,
  );
  const customers = await listCustomersOf(tx, orgId, [...ofCustomer.keys()]);
  const invoices = await listInvoicesOf(tx, orgId, contractIds);
  const budgets = await listBudgetsOf(tx, orgId, contractIds);
  const ledgers = await listLedgersOf(tx, orgId, contractIds, limits.entriesReadAhead);
  const asked = Map.groupBy(contractIds, (id) => byId.get(id)?.contract.customerId);
  const together = new Map([...asked].map(([customerId, ids]) => [customerId, metersTogether(ids)]));
  return contractIds.flatMap((id) => {
    const each = byId.get(id);
    if (each === undefined) return [];
    const { contract, ...dated } = each;
    const own = invoices.get(id) ?? [];
    const siblings = ofCustomer.get(contract.customerId) ?? [];
    const earlier = siblings.slice(0, siblings.indexOf(contract));
    const facts = ledgers && { ledger: ledgers.get(id) ?? emptyStoredLedger, budgets: budgets.get(id) ?? [] };
    const invoiceDate = own.find(({ status }) => status === 'Drafted')?.invoiceDate;
    const due = { ...dated, invoiceDate };
    const customer = customers.get(contract.customerId);
    return [{ contract, due, customer, invoices: own, earlier, together: together.get(contract.customerId), facts }];
  });
}
