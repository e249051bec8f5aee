/** The parts of a report, and the columns of each. */

import type { Column } from '../../operations/operation.ts';

const owner: readonly Column[] = [
  { header: 'CUSTOMER', path: 'customer' },
  { header: 'CONTRACT', path: 'contract' },
];

export const reportParts = {
  timeline: [
    { header: 'AT', path: 'at', format: 'timestamp' },
    { header: 'WHAT', path: 'what' },
    ...owner,
    { header: 'AMOUNT', path: 'amountCents', format: 'money' },
    { header: 'DETAIL', path: 'detail' },
  ],
  invoices: [
    ...owner,
    { header: 'START', path: 'period.start', format: 'date' },
    { header: 'END', path: 'period.end', format: 'date' },
    { header: 'NUMBER', path: 'invoiceNumber' },
    { header: 'STATUS', path: 'status' },
    { header: 'DUE', path: 'dueDate', format: 'date' },
    { header: 'TOTAL', path: 'totalCents', format: 'money' },
  ],
  ledger: [
    ...owner,
    { header: 'CREATED', path: 'createdAt', format: 'timestamp' },
    { header: 'TYPE', path: 'type' },
    { header: 'AMOUNT', path: 'amountCents', format: 'money' },
    { header: 'CREDITS', path: 'creditAmount', format: 'number' },
    { header: 'DESCRIPTION', path: 'description' },
  ],
  balances: [
    ...owner,
    { header: 'SETTLED', path: 'balanceCents', format: 'money' },
    { header: 'AFTER ALL USAGE', path: 'projectedBalanceCents', format: 'money' },
    { header: 'CREDITS', path: 'creditBalance', format: 'number' },
  ],
  budgets: [
    ...owner,
    { header: 'LABEL', path: 'label' },
    { header: 'CAP', path: 'maxCreditsCents', format: 'money' },
    { header: 'CAP CREDITS', path: 'maxCredits', format: 'number' },
    { header: 'CONSUMED', path: 'consumedCents', format: 'money' },
    { header: '%', path: 'percentConsumed', format: 'percent' },
    { header: 'EXHAUSTED', path: 'exhaustedAt', format: 'timestamp' },
  ],
  expectations: [
    { header: 'LINE', path: 'line', format: 'number' },
    { header: 'WHAT', path: 'what' },
    { header: 'AT', path: 'at', format: 'timestamp' },
    { header: 'EXPECTED', path: 'expected' },
    { header: 'ACTUAL', path: 'actual' },
    { header: 'MET', path: 'isMet', format: 'boolean' },
  ],
} as const satisfies Record<string, readonly Column[]>;
export type ReportPart = keyof typeof reportParts;

export const reportPartNames = Object.keys(reportParts) as ReportPart[];
