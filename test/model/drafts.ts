/** Draft invoices of a contract: one for each billing period (semantics 6). */

import { dayOfInstant } from './calendar.ts';
import { gridPeriods, usageWindows } from './rating.ts';
import type { Contract, Invoice, State } from './state.ts';

/** Appends the drafts that should exist by now. */
export function topUpDrafts(state: State, contract: Contract): void {
  if (contract.cancelledFrom !== undefined) return;
  const today = dayOfInstant(state.now);
  const periods = gridPeriods(contract, today);
  const current = Math.max(0, periods.filter((period) => period.start <= today).length - 1);
  for (const period of periods.slice(contract.invoices.length, current + 120)) addDraft(state, contract, period);
  dateDrafts(contract);
}

function addDraft(state: State, contract: Contract, period: { start: number; end: number }): void {
  const index = contract.invoices.length;
  const invoice: Invoice = {
    id: `${contract.id}.invoice${index}`,
    contract,
    index,
    ...period,
    seq: state.contracts.reduce((count, each) => count + each.invoices.length, 0),
    day: period.start,
    createdAt: state.now,
    updatedAt: state.now,
    status: 'Drafted',
    number: undefined,
    frozen: undefined,
    latestPaymentDate: undefined,
  };
  contract.invoices.push(invoice);
}

/** Dates of drafts: the period's end where they meter anything, else its start (semantics 7); that of the end of service. */
export function dateDrafts(contract: Contract): void {
  for (const invoice of contract.invoices) {
    if (invoice.status !== 'Drafted') continue;
    const isInArrears = usageWindows(invoice).length > 0 && invoice.index !== contract.closing;
    invoice.day = isInArrears ? invoice.end : invoice.start;
  }
}
