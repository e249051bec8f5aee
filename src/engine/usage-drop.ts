/**
 * Dropping events that are billed, for good. First all that may still be asked of them is frozen, contract by contract. Then
 * the book notes from when on there are events, and only then the events go. Cut off at any point, a drop can be repeated.
 */

import { earlierOf, startOfDay } from '../calculation/billing-period.ts';
import { standingGrants } from '../calculation/ledger.ts';
import { type UsageWindow, usageWindowsAt } from '../calculation/invoice-periods.ts';
import { usageWindowsOver } from '../calculation/usage-windows.ts';
import { ConflictError, InvalidInputError, stoppedMidway } from '../errors.ts';
import type { OperationTable, ResponseBody } from '../operations/index.ts';
import { listBudgets } from '../store/records/budgets.ts';
import { listOwnedContracts, type OwnedContract } from '../store/records/census.ts';
import { type Contract, findContract } from '../store/records/contracts.ts';
import { type FrozenUsage, writeFrozenUsage } from '../store/records/frozen-usage.ts';
import { type Invoice, listInvoicesOfContract } from '../store/records/invoices.ts';
import { listLedger } from '../store/records/ledger.ts';
import { updateOrganization } from '../store/records/organizations.ts';
import { billingTermsOf } from './contract-terms.ts';
import type { EngineParts } from './dependencies.ts';
import type { CallContext, Undertaking } from './handler.ts';
import { inTransaction, keepTime } from './transaction.ts';
import { checkWritable } from './only-read.ts';
import { frozenByWindow, frozenUsageOf, isDropped, windowKey } from './usage-frozen.ts';
import { meteringFor, type MeteringOptions } from './usage-metering-options.ts';
import { meterContract } from './usage-metering.ts';
import { wireTimestamp } from './wire.ts';

const contractsAtOnce = 100;

type Answer = ResponseBody<'events.drop'>['data'];

/**
 * Answers `events.drop`. Throws ConflictError while an invoice that is not finalized needs one of the events, and where they
 * do not live in a database of their own; UnavailableError, also for a rehearsal, where the book can only be read.
 */
export const dropEvents: Undertaking<OperationTable['events.drop']> = async (parts, caller, { body }) => {
  const { retention } = parts.store.events;
  const before = Temporal.Instant.from(body.before);
  const isRehearsal = body.rehearse === true;
  const { contractIds, ...found } = await inTransaction(parts, { caller, access: 'read' }, async (context) => {
    refuseFuture(context, before);
    const eventCount = await countEvents(context, before);
    // Told first: finalizing what is open would help nobody.
    if (retention === undefined && eventCount > 0) throw keptInBook(parts);
    return { ...(await survey(context, before)), eventCount };
  });
  const answer = { body: { data: { before: wireTimestamp(before), isRehearsal, ...found } satisfies Answer } };
  if (retention === undefined) return answer;
  if (isRehearsal) {
    // As the rehearsals that write and take it back.
    if (parts.store.isReadOnly) await checkWritable(parts.store);
    return answer;
  }
  for (let first = 0; first < contractIds.length; first += contractsAtOnce) {
    const some = contractIds.slice(first, first + contractsAtOnce);
    await inTransaction(parts, { caller, access: 'write' }, async (context) => await freeze(context, some, before));
  }
  await inTransaction(parts, { caller, access: 'write' }, async (context) => await decide(context, before));
  const { organizationId } = caller;
  try {
    await parts.store.write(async (tx) => await retention.drop(tx, organizationId), { turn: organizationId });
  } catch (error) {
    throw stoppedMidway(error, {
      kept: 'these events are dropped, and nobody sees them any more; their rows are still stored',
      hint: 'repeat the command to have the rows removed',
      isRetryable: true,
    });
  }
  return answer;
};

function keptInBook({ store }: EngineParts): ConflictError {
  return new ConflictError(`the events of ${store.location} are in that database itself, where none are ever dropped`, {
    hint: 'move the book with its events to a database of their own first: tally copy --to DATABASE --to-events URL',
  });
}

function refuseFuture({ now, timestamp }: CallContext, before: Temporal.Instant): void {
  if (Temporal.Instant.compare(before, now) <= 0) return;
  throw new InvalidInputError([{ path: 'before', message: `must not be after now, ${timestamp}` }]);
}

async function countEvents({ tx, orgId, events }: CallContext, before: Temporal.Instant): Promise<number> {
  return (await events.list(tx, { orgId, toEpochMs: before.epochMilliseconds, limit: 1, offset: 0 })).total;
}

/** From the commit of this transaction on there are no events from before. What has been frozen is completed first. */
async function decide(context: CallContext, before: Temporal.Instant): Promise<void> {
  const { contractIds } = await survey(context, before);
  await freeze(context, contractIds, before);
  if (isDropped(context, before)) return;
  await updateOrganization(context.tx, context.orgId, { eventsDroppedBeforeEpochMs: before.epochMilliseconds });
  await keepTime(context);
}

/** A usage window that begins before the instant, and the invoice that bills it; undefined where that is not made yet. */
interface Claim {
  readonly contract: Contract;
  readonly window: UsageWindow;
  readonly invoice: Invoice | undefined;
}

/** The contracts with usage from before an instant. Throws ConflictError where some of it is not billed yet. */
async function survey(
  context: CallContext,
  before: Temporal.Instant,
): Promise<{ readonly contractIds: readonly string[]; readonly contractCount: number; readonly windowCount: number }> {
  const contractIds: string[] = [];
  const open: Claim[] = [];
  let windowCount = 0;
  for await (const contractId of contractsOf(context)) {
    const claims = await claimsOf(context, contractId, before);
    if (claims.length === 0) continue;
    contractIds.push(contractId);
    windowCount += claims.length;
    for (const claim of claims) if (isOpen(claim, before)) open.push(claim);
  }
  refuseOpen(open, before);
  return { contractIds, contractCount: contractIds.length, windowCount };
}

async function* contractsOf({ tx, orgId }: CallContext): AsyncGenerator<string> {
  let after: OwnedContract | undefined;
  do {
    const contracts = await listOwnedContracts(tx, orgId, { after, limit: contractsAtOnce });
    for (const { id } of contracts) yield id;
    after = contracts.at(-1);
  } while (after !== undefined);
}

async function claimsOf(
  { tx, orgId }: CallContext,
  contractId: string,
  before: Temporal.Instant,
): Promise<readonly Claim[]> {
  const contract = await findContract(tx, orgId, contractId);
  if (contract === undefined) return [];
  const terms = billingTermsOf(contract);
  const range = { start: startOfDay(terms.startDate), end: before };
  if (Temporal.Instant.compare(range.start, range.end) >= 0) return [];
  const windows = usageWindowsOver(terms, range);
  if (windows.length === 0) return [];
  const invoices = new Map(
    (await listInvoicesOfContract(tx, orgId, contractId)).flatMap((invoice) =>
      usageWindowsAt(terms, invoice.periodIndex).map((window) => [windowKey(window), invoice]),
    ),
  );
  return windows.map((window) => ({ contract, window, invoice: invoices.get(windowKey(window)) }));
}

/** Usage of a cancelled invoice is no longer billed, but its cost still grows as long as events are taken for it. */
function isOpen({ invoice, window }: Claim, before: Temporal.Instant): boolean {
  if (invoice === undefined || invoice.status === 'Drafted') return true;
  return invoice.status === 'Cancelled' && Temporal.Instant.compare(window.end, before) > 0;
}

function refuseOpen(open: readonly Claim[], before: Temporal.Instant): void {
  const [first] = open;
  if (first === undefined) return;
  const { contract, window, invoice } = first;
  const which = invoice === undefined ? 'an invoice that is still to come' : `invoice ${invoice.number}`;
  const isCancelled = invoice?.status === 'Cancelled';
  const more = open.length === 1 ? '' : `, and ${open.length - 1} more`;
  const earliest = open.map((claim) => claim.window.start).reduce(earlierOf);
  throw new ConflictError(
    `events from before ${wireTimestamp(before)} are ${isCancelled ? 'still counted' : 'not billed yet'}: ${which} of contract ${contract.id}, for usage from ${wireTimestamp(window.start)} to ${wireTimestamp(window.end)}, is ${isCancelled ? 'cancelled' : 'not finalized'}${more}`,
    {
      hint: `${isCancelled ? 'drop that usage whole once it has ended' : 'finalize first with: tally bill run'}, or drop those from before ${wireTimestamp(earliest)}`,
    },
  );
}

/** Keeps what meters read of these contracts from before an instant, as far as that is not kept yet. */
async function freeze(context: CallContext, contractIds: readonly string[], before: Temporal.Instant): Promise<void> {
  const { tx, orgId } = context;
  for (const contractId of contractIds) {
    const claims = await claimsOf(context, contractId, before);
    const [first] = claims;
    if (first === undefined) continue;
    const options = await meteringOf(context, contractId);
    const frozen = await frozenByWindow(context, contractId);
    const windows = claims
      .map(({ window }) => window)
      .filter((window) => !isDropped(context, window.start) && !tells(frozen.get(windowKey(window)), options));
    for (const [window, metered] of await meterContract(context, first.contract, windows, options)) {
      await writeFrozenUsage(tx, orgId, { contractId, usage: frozenUsageOf(window, metered, options) });
    }
  }
}

/** Metering as budgets need it, which tell most apart. */
async function meteringOf({ tx, orgId }: CallContext, contractId: string): Promise<MeteringOptions> {
  const grants = standingGrants(await listLedger(tx, orgId, contractId));
  return meteringFor(grants, await listBudgets(tx, orgId, contractId));
}

/** Whether what is frozen tells apart all that is asked for now. */
function tells(frozen: FrozenUsage | undefined, { dimensions }: MeteringOptions): boolean {
  return (
    frozen !== undefined &&
    (frozen.dimensions.needsEventName || !dimensions.needsEventName) &&
    dimensions.propertyKeys.every((key) => frozen.dimensions.propertyKeys.includes(key))
  );
}
