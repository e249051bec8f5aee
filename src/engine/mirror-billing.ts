/**
 * A mirror as `Billing`: reads are answered from what was pulled, as the service answered them. Only the balance, a sum of
 * the ledger, is calculated anew; and nothing is written.
 */

import { foldLedger, grantIdOf } from '../calculation/ledger.ts';
import type { LedgerEntry, LedgerSourceType } from '../calculation/ledger.ts';
import { decimal, decimalText, microsOfCredits } from '../calculation/money.ts';
import { BadRequestError, BillingError, ConflictError, NotFoundError } from '../errors.ts';
import { type ExactNumber, textOfNumber } from '../exact-json.ts';
import { limits } from '../limits.ts';
import { loadOutline } from '../operations/index.ts';
import type { Answer, Billing, OperationName, OperationTable, ResponseBody } from '../operations/index.ts';
import type { Mirror, MirrorFilter, Mirrored, MirroredKind, StoredMirrored } from '../operations/mirror.ts';
import { changesState } from '../operations/operation.ts';
import type { OperationFacts } from '../operations/operation.ts';
import { parseCall } from '../operations/parse.ts';
import type { ParsedInput } from '../operations/parse.ts';
import { openMirror } from '../store/mirror-file.ts';
import { wireBalance } from './credits-balance.ts';
import type { WireEntry } from './credits-wire.ts';
import { listBody, pageOf } from './listing.ts';

type Reading<N extends OperationName> = (mirror: Mirror, input: ParsedInput<OperationTable[N]>) => Promise<unknown>;

interface PageQuery {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** The operations that a mirror can answer. */
const readings: { readonly [N in OperationName]?: Reading<N> } = {
  'customers.get': async (mirror, { params }) => await one(mirror, 'customer', params.customerId),
  'customers.list': async (mirror, { query }) =>
    await page(mirror, 'customer', {
      query,
      filter: { where: { 'metadata.externalCustomerId': query.externalCustomerId } },
    }),
  'plans.get': async (mirror, { params }) => await one(mirror, 'plan', params.planId),
  'plans.list': async (mirror, { query }) => await page(mirror, 'plan', { query }),
  'pricing.get': async (mirror, { params }) => await one(mirror, 'pricing', params.pricingId),
  'pricing.list': async (mirror, { query }) =>
    await page(mirror, 'pricing', { query, filter: { where: { productId: query.productId, model: query.model } } }),
  'contracts.get': async (mirror, { params }) => await one(mirror, 'contract', params.contractId),
  'contracts.list': listContracts,
  'invoices.get': async (mirror, { params, query }) => {
    const { body } = await found(mirror, 'invoice', params.invoiceId);
    return { data: invoiceOf(body, query.include) };
  },
  'invoices.list': async (mirror, { query }) => {
    const { createdAfter, createdBefore, customerId, status } = query;
    const filter = { where: { customerId, status }, createdAfter, createdBefore };
    return await page(mirror, 'invoice', { query, filter, shown: (body) => invoiceOf(body, query.include) });
  },
  'credits.ledger': readLedger,
  'credits.balance': readBalance,
  'budgets.usage': async (mirror, { params }) => await one(mirror, 'budgets', params.contractId),
  'budgets.list': listBudgets,
};

/** The service as far as the mirror at `url` has it. Throws ConflictError for a file that is not a mirror. */
export async function openMirrorBilling(
  url: string,
): Promise<{ readonly billing: Billing; readonly rehearsal: Billing; close(): Promise<void> }> {
  const mirror = await openMirror(url);
  const billing = mirrorBilling(mirror);
  // It refuses every write, and so every rehearsal of one.
  return { billing, rehearsal: billing, close: async () => await mirror.close() };
}

function mirrorBilling(mirror: Mirror): Billing {
  return {
    async call<N extends OperationName>(name: N, input = {}): Promise<Answer<N>> {
      const outline = await loadOutline(name);
      const reading: Reading<N> | undefined = readings[name];
      if (reading === undefined) throw await notMirrored(mirror, outline);
      const parsed = await parseCall(name, input);
      return { status: outline.status, body: (await reading(mirror, parsed)) as ResponseBody<N> };
    },
  };
}

async function notMirrored(mirror: Mirror, operation: OperationFacts): Promise<BillingError> {
  const { address } = await mirror.source();
  const why = changesState(operation)
    ? 'it is read-only: nothing was changed'
    : `it has no answer to ${operation.command.group} ${operation.command.verb}`;
  return new BillingError('notOffered', `${mirror.location} mirrors ${address}; ${why}`, {
    hint: 'ask the service itself with --profile, or try things out on a database of your own',
  });
}

const nouns: Readonly<Record<MirroredKind, string>> = {
  customer: 'customer',
  plan: 'plan',
  pricing: 'price',
  contract: 'contract',
  invoice: 'invoice',
  ledger: 'contract',
  budgets: 'contract',
};

async function found(mirror: Mirror, kind: MirroredKind, id: string): Promise<StoredMirrored> {
  const record = await mirror.find(kind, id);
  if (record !== undefined) return record;
  throw new NotFoundError(`the mirror has no ${nouns[kind]} with this id`, {
    hint: 'pull more contracts into it with: tally pull --contract ID --to FILE',
  });
}

async function one(mirror: Mirror, kind: MirroredKind, id: string) {
  return { data: (await found(mirror, kind, id)).body };
}

interface Listing {
  readonly query: PageQuery;
  readonly filter?: MirrorFilter;
  /** What is shown of a record, where that is not all. */
  readonly shown?: (body: Mirrored['body']) => unknown;
}

async function page(mirror: Mirror, kind: MirroredKind, { query, filter = {}, shown = (body) => body }: Listing) {
  const asked = pageOf(query, kind === 'pricing' ? limits.defaultPricingPageSize : undefined);
  const rows = await mirror.list(kind, { ...filter, ...asked });
  return listBody(
    rows,
    asked,
    rows.rows.map(({ body }) => shown(body)),
  );
}

/** Lines were pulled with every invoice; the dates of its period are not part of the documented interface. */
function invoiceOf(body: Mirrored['body'], include: readonly ('lineItems' | 'period')[] = []) {
  if (include.includes('period')) {
    throw new BadRequestError('include: a mirror has no periods, which the documented interface does not show');
  }
  if (include.includes('lineItems')) return body;
  const { lineItems: _lines, ...invoice } = body;
  return invoice;
}

async function listContracts(mirror: Mirror, { query }: ParsedInput<OperationTable['contracts.list']>) {
  const { externalCustomerId, planId, isActive } = query;
  const customers =
    externalCustomerId === undefined
      ? undefined
      : await mirror.list('customer', { where: { 'metadata.externalCustomerId': externalCustomerId }, limit: 1 });
  // A customer that the mirror lacks has no contracts in it.
  const owner = customers === undefined ? undefined : (customers.rows[0]?.id ?? '');
  if (owner !== undefined && query.customerId !== undefined && owner !== query.customerId) {
    return listBody({ rows: [], total: 0 }, pageOf(query), []);
  }
  const filter = { where: { customerId: owner ?? query.customerId, planId, isActive } };
  return await page(mirror, 'contract', { query, filter });
}

/** The entries of a mirrored ledger, newest first. */
function entriesOf({ body }: Mirrored): readonly WireEntry[] {
  return body['entries'] as readonly WireEntry[];
}

async function readLedger(mirror: Mirror, { params, query }: ParsedInput<OperationTable['credits.ledger']>) {
  const { type, createdAfter, createdBefore, limit, offset = 0, include = [] } = query;
  if (include.length > 0) {
    throw new BadRequestError('include: a mirror has no origins, which the documented interface does not show');
  }
  const matching = entriesOf(await found(mirror, 'ledger', params.contractId)).filter(
    (entry) =>
      (type === undefined || entry.type === type) &&
      (createdAfter === undefined || entry.createdAt >= createdAfter) &&
      (createdBefore === undefined || entry.createdAt < createdBefore),
  );
  const end = limit === undefined ? undefined : offset + limit;
  return { data: { totalCount: matching.length, entries: matching.slice(offset, end) } };
}

/**
 * The balance as of the pull, from the entries alone: drafts do not count, just as in the balance of the service. The time is
 * the service's own, which the budgets' answer shows: its clock may be simulated, and decides what has expired.
 */
async function readBalance(mirror: Mirror, { params, query }: ParsedInput<OperationTable['credits.balance']>) {
  if (query.include?.includes('projected') === true) {
    throw new BadRequestError('include: a mirror cannot project, since it has no events');
  }
  const record = await found(mirror, 'ledger', params.contractId);
  const queriedAt = (await mirror.find('budgets', params.contractId))?.body['queriedAt'];
  const at = Temporal.Instant.from(typeof queriedAt === 'string' ? queriedAt : record.pulledAt);
  const oldestFirst = entriesOf(record).toReversed();
  const entries = oldestFirst.map((entry, index) => ledgerEntryOf(entry, index, params.contractId));
  refuseStray(entries, params.contractId);
  return { data: wireBalance(foldLedger(entries, { at, openInvoiceIds: new Set() }), at) };
}

/** A service need not name the grant that an adjustment or a reversal moves (interface 2.8); left out, the balance would be wrong. */
function refuseStray(entries: readonly LedgerEntry[], contractId: string): void {
  const grantIds = new Set(entries.filter(({ type }) => type === 'grant').map(({ id }) => id));
  const stray = entries.find((entry) => !grantIds.has(grantIdOf(entry)));
  if (stray === undefined) return;
  throw new ConflictError(`entry ${stray.id} (${stray.type}) names no grant, so what the grants hold cannot be told`, {
    hint: `see what moved with: tally credits ledger ${contractId}`,
  });
}

/** Members that the interface does not show play no part in a balance, except for the price paid for a credit. */
function ledgerEntryOf(entry: WireEntry, seq: number, contractId: string): LedgerEntry {
  const creditRateCents = integerOf(entry.creditRateCents ?? 0);
  return {
    id: entry.id,
    seq,
    contractId,
    type: entry.type,
    amountCents: integerOf(entry.amountCents),
    creditMicros: microsOfCredits(decimal(textOfNumber(entry.creditAmount ?? 0))),
    creditRateCents,
    purchaseRateCents: entry.isPromotional ? 0n : creditRateCents,
    currency: entry.currency,
    description: entry.description,
    sourceType: entry.sourceType as LedgerSourceType,
    invoiceId: entry.invoiceId ?? undefined,
    grantEntryId: entry.grantEntryId ?? undefined,
    expiresAt: typeof entry.expiresAt === 'string' ? Temporal.Instant.from(entry.expiresAt) : undefined,
    isPromotional: entry.isPromotional,
    appliedCents: 0n,
    balanceAfterCents: 0n,
    creditBalanceAfterMicros: 0n,
    createdAt: Temporal.Instant.from(entry.createdAt),
  };
}

/** `5000.0` is an integer of JSON, too. */
function integerOf(value: ExactNumber): bigint {
  return BigInt(decimalText(decimal(textOfNumber(value))));
}

/** The budgets of the last pull, without what they had consumed. */
async function listBudgets(mirror: Mirror, { params }: ParsedInput<OperationTable['budgets.list']>) {
  const { budgets, contractId, walletMode } = (await found(mirror, 'budgets', params.contractId)).body;
  const shown = (budgets as readonly Readonly<Record<string, unknown>>[]).map(
    ({ consumedUnits: _units, consumedCents: _cents, percentConsumed: _percent, ...budget }) => budget,
  );
  return { data: { budgets: shown, contractId, walletMode } };
}
