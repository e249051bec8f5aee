/** Grants of all contracts that expire soon and of which usage leaves something. */

import { foldLedger, type GrantState, hasExpired } from '../calculation/ledger.ts';
import { counted } from '../counted.ts';
import { ConflictError, UnreadableMeterError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ResponseBody } from '../operations/index.ts';
import { type Contract, type ExpiryFilter, listExpiringContracts } from '../store/records/contracts.ts';
import { compareText } from '../text-order.ts';
import { wireHolding } from './credits-balance.ts';
import { projectGrants } from './credits-projected.ts';
import { type DueContract, readDueContracts } from './due-contracts.ts';
import type { CallContext } from './handler.ts';
import { type BillingFacts, type KnownOfContract, readFacts } from './open-billing.ts';
import { SqlReadingNeeded } from './usage-sql.ts';
import { metersTogether, passOver } from './usage-together.ts';
import { wireCents, wireCredits, wireTimestamp } from './wire.ts';

type Answer = ResponseBody<'credits.expiring'>['data'];
type Expiring = Answer['grants'][number];

interface ExpiringQuery extends Omit<ExpiryFilter, 'expiresBefore'> {
  readonly expiresBefore?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** Answers `credits.expiring`. A contract that cannot be read fails the call, by its name. */
export async function listExpiring(
  context: CallContext,
  { expiresBefore: given, limit, offset = 0, ...filter }: ExpiringQuery,
): Promise<Answer> {
  const usual = context.now.add({ hours: 24 * limits.expiringDays });
  const expiresBefore = given === undefined ? usual : Temporal.Instant.from(given);
  const grants = await readExpiring(context, { ...filter, expiresBefore });
  return {
    expiresBefore: wireTimestamp(expiresBefore),
    asOf: context.timestamp,
    totalCount: grants.length,
    grants: grants.toSorted(byExpiry).slice(offset, limit === undefined ? undefined : offset + limit),
  };
}

/**
 * All of them. No transaction waits for a query of a meter: those that are needed run before the next attempt, as many as can
 * be held with their events.
 */
async function readExpiring(context: CallContext, filter: ExpiryFilter): Promise<Expiring[]> {
  const ofCustomer = Map.groupBy(
    await listExpiringContracts(context.tx, context.orgId, filter),
    ({ customerId }) => customerId,
  );
  const contractIds = [...ofCustomer.values()].flat().map(({ id }) => id);
  // All contracts of a customer, and not those of a batch alone: totals that a transaction folds are kept only after it.
  const togetherOf = new Map(
    [...ofCustomer].map(([customerId, own]) => [customerId, metersTogether(own.map(({ id }) => id))]),
  );
  const found: Expiring[] = [];
  const queries: (() => Promise<void>)[] = [];
  let meteredCount = 0;
  let heldEvents = 0;
  const queriesNeeded = () =>
    new SqlReadingNeeded(async () => {
      for (const query of queries) await query();
    }, heldEvents);
  for (let first = 0; first < contractIds.length; first += limits.billRunBatch) {
    for (const subject of await readDueContracts(context, contractIds.slice(first, first + limits.billRunBatch))) {
      const { id, customerId } = subject.contract;
      const together = togetherOf.get(customerId);
      const facts = await factsOf(context, subject);
      if (!mayExpire(facts, context.now, filter)) {
        passOver(together, id);
        continue;
      }
      meteredCount += 1;
      if (meteredCount > limits.expiringContracts) throw tooMany(filter);
      const known = { facts, earlier: subject.earlier, together };
      try {
        found.push(...(await naming(id, async () => await expiringOf(context, subject.contract, { known, filter }))));
      } catch (error) {
        if (!(error instanceof SqlReadingNeeded)) throw error;
        passOver(together, id);
        queries.push(async () => await naming(id, error.read));
        heldEvents += error.eventCount;
        if (heldEvents > limits.sqlEventsHeld) throw queriesNeeded();
      }
    }
  }
  if (queries.length > 0) throw queriesNeeded();
  return found;
}

async function factsOf(context: CallContext, { contract, invoices, facts }: DueContract): Promise<BillingFacts> {
  return facts === undefined ? await readFacts(context, contract) : { ...facts, invoices };
}

/** Whether usage could leave something of a grant, whatever it comes to: nothing is metered for those that are used up for good. */
function mayExpire({ invoices, ledger }: BillingFacts, at: Temporal.Instant, filter: ExpiryFilter): boolean {
  const openInvoiceIds = new Set(invoices.filter(({ status }) => status === 'Drafted').map(({ id }) => id));
  return foldLedger(ledger.entries, { at, openInvoiceIds }).grants.some(
    (grant) =>
      expiresIn(grant, filter) && !hasExpired(grant, at) && (grant.availableCents > 0n || grant.availableMicros > 0n),
  );
}

function expiresIn({ expiresAt }: GrantState, { expiresBefore }: ExpiryFilter): boolean {
  return expiresAt !== undefined && expiresAt.epochMilliseconds < expiresBefore.epochMilliseconds;
}

async function expiringOf(
  context: CallContext,
  contract: Contract,
  { known, filter }: { readonly known: KnownOfContract; readonly filter: ExpiryFilter },
): Promise<Expiring[]> {
  const grants = await projectGrants(context, contract, known);
  return grants
    .filter(({ grant, leftCents, leftMicros }) => expiresIn(grant, filter) && (leftCents > 0n || leftMicros > 0n))
    .map(({ grant, leftCents, leftMicros }) => ({
      contractId: contract.id,
      customerId: contract.customerId,
      grantEntryId: grant.grantId,
      ...wireHolding(grant, context.now),
      projected: { remainingCents: wireCents(leftCents), remainingCredits: wireCredits(leftMicros) },
    }));
}

function byExpiry(one: Expiring, other: Expiring): number {
  return (
    compareText(one.expiresAt ?? '', other.expiresAt ?? '') ||
    compareText(one.contractId, other.contractId) ||
    compareText(one.grantEntryId, other.grantEntryId)
  );
}

function tooMany({ expiresBefore }: ExpiryFilter): ConflictError {
  const most = counted(limits.expiringContracts, 'contract');
  return new ConflictError(`more than ${most} hold credits that expire before ${wireTimestamp(expiresBefore)}`, {
    hint: 'ask for fewer days, or for one customer at a time',
  });
}

/** Why the usage of a contract cannot be read, such as a meter that gives no number, is told with the contract. */
async function naming<T>(contractId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnreadableMeterError || error instanceof ConflictError)) throw error;
    const message = `contract ${contractId}: ${error.message}`;
    const options = { hint: error.hint, cause: error };
    throw error instanceof ConflictError
      ? new ConflictError(message, options)
      : new UnreadableMeterError(message, options);
  }
}
