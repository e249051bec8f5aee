/**
 * What must hold in the engine's own books, whatever the model says: the invariants of the service as far as its
 * operations show them. Numbers are those of reliability's list.
 */

import type { ResponseBody } from '../../src/operations/index.ts';
import { textOfNumber } from '../../src/exact-json.ts';
import type { ExactNumber } from '../../src/exact-json.ts';
import type { World } from '../support/world.ts';
import { compare, decimal, halfUp, whole } from './fraction.ts';

type Entry = ResponseBody<'credits.ledger'>['data']['entries'][number];
type Block = ResponseBody<'credits.balance'>['data']['blocks'][number];
type Invoice = ResponseBody<'invoices.list'>['data'][number];

/** What was seen before, and may not change. */
export interface Seen {
  /** Ledgers by contract, oldest entry first, each as text. */
  readonly ledgers: Map<string, readonly string[]>;
  readonly invoices: Map<string, { readonly status: string; readonly content: string }>;
}

export const createSeen = (): Seen => ({ ledgers: new Map(), invoices: new Map() });

const cents = (value: ExactNumber): bigint => BigInt(textOfNumber(value));
const micros = (value: ExactNumber): bigint => halfUp(decimal(textOfNumber(value).replace('-', '')), 6) * signOf(value);
const signOf = (value: ExactNumber): bigint => (textOfNumber(value).startsWith('-') ? -1n : 1n);
const total = (values: readonly bigint[]): bigint => values.reduce((sum, value) => sum + value, 0n);

/** Every invariant that does not hold, in words; none when the books are in order. */
export async function brokenInvariants(world: World, contractIds: readonly string[], seen: Seen): Promise<string[]> {
  const invoices = await allInvoices(world);
  const broken = [...numbers(invoices), ...invoices.flatMap((invoice) => invoiceProblems(invoice, seen))];
  for (const contractId of contractIds) {
    const params = { contractId };
    const entries = (await world.call('credits.ledger', { params })).data.entries.toReversed();
    const { balance, blocks } = (await world.call('credits.balance', { params })).data;
    broken.push(...ledgerProblems(entries), ...blocks.flatMap((block) => blockProblems(block, entries)));
    broken.push(...appendOnly(contractId, entries, seen));
    if (cents(balance.balanceCents) !== total(blocks.map((block) => cents(block.remainingCents)))) {
      broken.push(`3 balance: ${contractId} is not the sum of its blocks`);
    }
    const own = invoices.filter((invoice) => invoice.contractId === contractId && invoice.status !== 'Drafted');
    for (const invoice of own) broken.push(...(await creditProblems(world, invoice)));
  }
  return broken;
}

async function allInvoices(world: World): Promise<Invoice[]> {
  const all: Invoice[] = [];
  for (;;) {
    const query = { limit: '100', offset: String(all.length), include: 'lineItems' };
    const page = await world.call('invoices.list', { query });
    all.push(...page.data);
    if (!page.hasMore) return all;
  }
}

function ledgerProblems(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry, index) => {
    const amount = cents(entry.amountCents);
    const before = entries.slice(0, index);
    const problems: string[] = [];
    const isIn = entry.type === 'grant';
    const isOut = entry.type === 'usage' || entry.type === 'expiration';
    if ((isIn && amount < 0n) || (isOut && amount > 0n)) problems.push(`1 sign: ${entry.type} ${entry.id}`);
    if (entry.type === 'reversal' && !before.some((other) => isOpposite(other, entry))) {
      problems.push(`1 sign: ${entry.id} is no entry's opposite`);
    }
    const grant = before.find((other) => other.id === entry.grantEntryId);
    if (isOut && grant?.type !== 'grant') problems.push(`5 link: ${entry.type} ${entry.id} has no grant`);
    if (isIn !== (entry.grantEntryId === null)) problems.push(`5 link: ${entry.type} ${entry.id}`);
    if (entry.type === 'usage' && entry.invoiceId === null) problems.push(`5 link: ${entry.id} has no invoice`);
    if (index > 0 && (entries[index - 1]?.createdAt ?? '') > entry.createdAt) problems.push(`12 order: ${entry.id}`);
    return problems;
  });
}

function isOpposite(entry: Entry, reversal: Entry): boolean {
  const grantId = entry.type === 'grant' ? entry.id : entry.grantEntryId;
  return (
    grantId === reversal.grantEntryId &&
    cents(entry.amountCents) === -cents(reversal.amountCents) &&
    micros(entry.creditAmount) === -micros(reversal.creditAmount)
  );
}

function blockProblems(block: Block, entries: readonly Entry[]): string[] {
  const own = entries.filter((entry) => entry.id === block.id || entry.grantEntryId === block.id);
  const problems: string[] = [];
  let left = { cents: 0n, micros: 0n };
  let hasReturns = false;
  for (const entry of own) {
    left = { cents: left.cents + cents(entry.amountCents), micros: left.micros + micros(entry.creditAmount) };
    const isWithin = left.cents >= 0n && left.cents <= cents(block.originalCents);
    if (!isWithin || left.micros < 0n || left.micros > micros(block.originalCredits)) {
      problems.push(`2 bounds: ${block.id} after ${entry.id}`);
    }
    const isRated = micros(block.originalCredits) > 0n && cents(block.originalCents) > 0n;
    // What usage took may be worth less than half a millionth of a credit, and is given back as it was taken.
    hasReturns ||= entry.type === 'reversal';
    const isDust = left.cents === 0n ? left.micros !== 0n : left.micros === 0n && !hasReturns;
    if (isRated && isDust) problems.push(`4 dust: ${block.id} after ${entry.id}`);
  }
  const shown = { cents: cents(block.remainingCents), micros: micros(block.remainingCredits) };
  const isExpired = block.status === 'expired';
  if (isExpired && (shown.cents !== 0n || shown.micros !== 0n))
    problems.push(`9 expiry: ${block.id} has something left`);
  if (!isExpired && (shown.cents !== left.cents || shown.micros !== left.micros)) {
    problems.push(`6 conservation: ${block.id} is not the sum of its entries`);
  }
  return problems;
}

function appendOnly(contractId: string, entries: readonly Entry[], seen: Seen): string[] {
  const texts = entries.map((entry) => JSON.stringify(entry));
  const before = seen.ledgers.get(contractId) ?? [];
  seen.ledgers.set(contractId, texts);
  return before.every((text, index) => text === texts[index]) ? [] : [`12 append-only: the ledger of ${contractId}`];
}

function invoiceProblems(invoice: Invoice, seen: Seen): string[] {
  const lines = invoice.lineItems ?? [];
  const problems: string[] = [];
  const sum = total(lines.map((line) => cents(line.totalAmountCents)));
  if (sum !== cents(invoice.totalCents) || sum < 0n) problems.push(`13 sum: invoice ${invoice.id}`);
  for (const line of lines) {
    const isMinus = line.totalAmount.startsWith('-');
    const exact = halfUp(decimal(line.totalAmount.replace('-', '')), 2) * (isMinus ? -1n : 1n);
    if (exact !== cents(line.totalAmountCents)) problems.push(`13 sum: line ${line.id} of invoice ${invoice.id}`);
  }
  const { status, latestPaymentDate: _paid, updatedAt: _at, ...content } = invoice;
  const before = seen.invoices.get(invoice.id);
  const text = JSON.stringify(content);
  if (before !== undefined && before.status !== 'Drafted' && before.content !== text) {
    problems.push(`15 immutability: invoice ${invoice.id}`);
  }
  if (before !== undefined && !canFollow(before.status, status)) {
    problems.push(`24 transitions: invoice ${invoice.id} went from ${before.status} to ${status}`);
  }
  seen.invoices.set(invoice.id, { status, content: text });
  return problems;
}

/** What an invoice may have become since it was seen, in one step or in several. */
const later: Readonly<Record<string, readonly string[]>> = {
  Drafted: ['Drafted', 'In Progress', 'In Transit', 'Paid', 'Cancelled', 'Refunded'],
  'In Progress': ['In Progress', 'In Transit', 'Paid', 'Cancelled', 'Refunded'],
  'In Transit': ['In Transit', 'In Progress', 'Paid', 'Cancelled', 'Refunded'],
  Paid: ['Paid', 'Refunded'],
  Cancelled: ['Cancelled'],
  Refunded: ['Refunded'],
};

const canFollow = (before: string, after: string): boolean => later[before]?.includes(after) === true;

function numbers(invoices: readonly Invoice[]): string[] {
  const legal = invoices.map((invoice) => invoice.invoiceNumber).filter((number) => number.startsWith('INV-'));
  const wanted = legal.map((_number, index) => `INV-${String(index + 1).padStart(6, '0')}`);
  return JSON.stringify(legal.toSorted()) === JSON.stringify(wanted) ? [] : ['17 numbers: there is a gap'];
}

/** The credit lines of a finalized invoice are what its ledger entries came to, and no more than usage. */
async function creditProblems(world: World, invoice: Invoice): Promise<string[]> {
  const report = (await world.call('invoices.creditReport', { params: { invoiceId: invoice.id } })).data;
  const applied = cents(report.summary.totalCents);
  const lines = (invoice.lineItems ?? []).map((line) => cents(line.totalAmountCents));
  const shown = -total(lines.filter((amount) => amount < 0n));
  if (invoice.status === 'Cancelled') return applied === 0n ? [] : [`14 credits: ${invoice.id} kept some`];
  const isRestored = invoice.status === 'Refunded' && applied < shown;
  if (applied !== shown && !isRestored) return [`14 credits: invoice ${invoice.id} shows ${shown}, took ${applied}`];
  return compare(whole(shown), whole(total(lines.filter((amount) => amount > 0n)))) > 0
    ? [`14 credits: invoice ${invoice.id} took more than it asks`]
    : [];
}
