/**
 * The run over everything that has fallen due, in transactions that hold up nobody for long. Each one happens whole or not at
 * all, and what it leaves of a contract stays due, so that an interrupted run can be repeated. Each one reads inside itself what
 * is due, so that two runs at once do each thing once.
 */

import { earlierOf } from '../calculation/billing-period.ts';
import { BillingError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Caller, ResponseBody } from '../operations/index.ts';
import type { Transaction } from '../store/database.ts';
import { findClock } from '../store/records/clock.ts';
import { listDueContracts, listEndedPauses } from '../store/records/due-work.ts';
import { endPause } from './customers.ts';
import { readDueContracts } from './due-contracts.ts';
import { dueBy, isLong, nothingDone, workOff, workOffEarliest } from './due-work.ts';
import type { Portion, WorkDone } from './due-work.ts';
import type { EngineParts } from './dependencies.ts';
import type { CallContext } from './handler.ts';
import { graceHoursOf, inRehearsal, inTransaction, keepTime } from './transaction.ts';
import { isOfDatabase } from './usage-sql.ts';
import { wireCents } from './wire.ts';

type RunBody = ResponseBody<'bill.run'>['data'];
type Failure = RunBody['failures'][number];

/** `until` is inclusive. */
export interface RunOptions {
  readonly until: Temporal.Instant;
  readonly report: RunReport;
  /** Do everything, and keep none of it. */
  readonly isRehearsal?: boolean;
  /** Once aborted, no further step is begun. */
  readonly signal?: AbortSignal | undefined;
}

/** Does what has fallen due in one organization, in the order in which customers and contracts were made. */
export async function runDue(parts: EngineParts, orgId: string, options: RunOptions): Promise<void> {
  const run: Run = { ...options, parts, orgId, caller: { organizationId: orgId, scopes: ['*'], isLocal: true } };
  const { until } = options;
  await eachBatch(
    run,
    async (tx) => await listEndedPauses(tx, orgId, dueBy(until, 0)),
    async (ids) => {
      for (const id of ids) await resumeCustomer(run, id);
      return ids.length;
    },
  );
  await eachBatch(
    run,
    async (tx) => await listDueContracts(tx, orgId, dueBy(until, graceHoursOf(parts, await findClock(tx)))),
    async (ids) => await workOffBatch(run, ids),
  );
}

/** What a run did and could not do. */
export interface RunReport {
  readonly add: (orgId: string, done: WorkDone, isRehearsal: boolean) => void;
  readonly fail: (failure: Failure) => void;
  /** Whether anything was added. */
  readonly hasAny: () => boolean;
  readonly body: () => Omit<RunBody, 'until' | 'isRehearsal'>;
}

/** Counts and sums cover everything; at most `limits.billRunListed` invoices, and as many failures, are listed. */
export function createRunReport(): RunReport {
  const counts = { draftedCount: 0, expiredGrantCount: 0, resumedCustomerCount: 0, endedContractCount: 0 };
  const invoices: RunBody['invoices'] = [];
  const failed = new Set<string>();
  const failures: Failure[] = [];
  let finalizedCount = 0;
  let totalCents = 0n;
  let hasAny = false;
  return {
    add(orgId, done, isRehearsal) {
      hasAny = true;
      for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] += done[name];
      finalizedCount += done.invoices.length;
      for (const { draftNumber, number, lineCount: _lineCount, ...invoice } of done.invoices) {
        totalCents += invoice.totalCents;
        if (invoices.length === limits.billRunListed) continue;
        invoices.push({
          ...invoice,
          organizationId: orgId,
          // A rehearsal gives back the number that it took, with all the rest.
          invoiceNumber: isRehearsal ? draftNumber : number,
          invoiceDate: invoice.invoiceDate.toString(),
          totalCents: wireCents(invoice.totalCents),
        });
      }
    },
    fail(failure) {
      const key = `${failure.organizationId} ${failure.contractId ?? failure.customerId}`;
      if (failed.has(key)) return;
      failed.add(key);
      if (failures.length < limits.billRunListed) failures.push(failure);
    },
    hasAny: () => hasAny,
    body: () => ({
      finalizedCount,
      totalCents: wireCents(totalCents),
      ...counts,
      failedCount: failed.size,
      invoices,
      failures,
    }),
  };
}

interface Run extends RunOptions {
  readonly parts: EngineParts;
  readonly orgId: string;
  readonly caller: Caller;
}

/**
 * Calls `work` with the ids that `list` gives, some at a time, until all are done. `work` returns how many it has done: 0 where
 * it has done only a part of the first.
 */
async function eachBatch(
  { parts, signal }: Run,
  list: (tx: Transaction) => Promise<readonly string[]>,
  work: (ids: readonly string[]) => Promise<number>,
): Promise<void> {
  const ids = await parts.store.read(list);
  let size: number = limits.billRunBatch;
  for (let first = 0; first < ids.length;) {
    if (signal?.aborted === true) return;
    const done = await work(ids.slice(first, first + size));
    first += done;
    // The next ones are probably alike: where a few were enough, anything read of more would be read for nothing.
    size = Math.min(limits.billRunBatch, Math.max(1, 2 * done));
  }
}

async function resumeCustomer(run: Run, customerId: string): Promise<void> {
  await reported(run, { customerId }, async () => {
    await step(run, async (context) => {
      const isEnded = await endPause(context, customerId);
      return isEnded ? { ...nothingDone, resumedCustomerCount: 1 } : undefined;
    });
  });
}

/**
 * Does several contracts in one transaction, which costs far less than one for each; if one fails, each by itself. Returns how
 * many are done, from the first on.
 */
async function workOffBatch(run: Run, contractIds: readonly string[]): Promise<number> {
  try {
    let count = 0;
    await step(run, async (context) => {
      const { done, contractCount } = await workOffSome(context, run, contractIds);
      count = contractCount;
      return done;
    });
    return count;
  } catch (error) {
    if (!(error instanceof BatchFailed)) throw error;
    for (const contractId of contractIds) await workOffContract(run, contractId);
    return contractIds.length;
  }
}

/**
 * What is due by `until`, or by the organization's own time where that is earlier: another organization may have written while
 * the clock ran ahead, or the clock may have been set back during the run. A rehearsal keeps nothing that a second transaction
 * could continue from, so it does all of a contract in one.
 */
function portionOf({ now, finalizationGraceHours }: CallContext, { until, isRehearsal = false }: Run): Portion {
  return { by: dueBy(earlierOf(now, until), finalizationGraceHours), isWhole: isRehearsal };
}

/** Thrown also where a meter has to be read first: otherwise the whole batch would be repeated for each reading. */
class BatchFailed extends Error {}

/** Does all of them, unless the first ones already hold up others for long enough; the last one may be done in part. */
async function workOffSome(
  context: CallContext,
  run: Run,
  contractIds: readonly string[],
): Promise<{ readonly done: WorkDone; readonly contractCount: number }> {
  const portion = portionOf(context, run);
  let done = nothingDone;
  try {
    for (const subject of await readDueContracts(context, contractIds)) {
      done = added(done, (await workOff(context, subject, portion)) ?? nothingDone);
      const place = contractIds.indexOf(subject.contract.id);
      if (done.hasMore) return { done, contractCount: place };
      if (isLong(done.invoices)) return { done, contractCount: place + 1 };
    }
  } catch (cause) {
    // Writes of others may share the transaction: if it cannot be kept, they get this error as it is.
    if (isOfDatabase(cause)) throw cause;
    throw new BatchFailed('a contract of a batch could not be done', { cause });
  }
  return { done, contractCount: contractIds.length };
}

function added(one: WorkDone, other: WorkDone): WorkDone {
  return {
    invoices: [...one.invoices, ...other.invoices],
    draftedCount: one.draftedCount + other.draftedCount,
    expiredGrantCount: one.expiredGrantCount + other.expiredGrantCount,
    resumedCustomerCount: one.resumedCustomerCount + other.resumedCustomerCount,
    endedContractCount: one.endedContractCount + other.endedContractCount,
    hasMore: other.hasMore,
  };
}

/** Does all of a contract, as much at a time as may be; if that fails, as many of its instants as can be done. */
async function workOffContract(run: Run, contractId: string): Promise<void> {
  const next = async (work: typeof workOff): Promise<WorkDone | undefined> =>
    await step(run, async (context) => {
      const [subject] = await readDueContracts(context, [contractId]);
      return subject && (await work(context, subject, portionOf(context, run)));
    });
  await reported(run, { contractId }, async () => {
    try {
      while ((await next(workOff))?.hasMore === true);
    } catch (error) {
      if (run.isRehearsal === true || isOfDatabase(error)) throw error;
      while ((await next(workOffEarliest)) !== undefined);
    }
  });
}

/** One transaction. Returns what was done; undefined where there was nothing to do, or once the run is aborted. */
async function step(
  run: Run,
  work: (context: CallContext) => Promise<WorkDone | undefined>,
): Promise<WorkDone | undefined> {
  const { parts, caller, orgId, report, signal, isRehearsal = false } = run;
  if (signal?.aborted === true) return undefined;
  const perform = isRehearsal ? inRehearsal : inTransaction;
  const done = await perform(parts, { caller, access: 'write' }, async (context) => {
    const found = await work(context);
    if (found !== undefined) await keepTime(context);
    return found;
  });
  if (done !== undefined) report.add(orgId, done, isRehearsal);
  return done;
}

/** A failure of one customer or contract is reported, and the others go on; a failure of the database ends the run. */
async function reported(
  { orgId, report }: Run,
  subject: Pick<Failure, 'contractId' | 'customerId'>,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isOfDatabase(error)) throw error;
    report.fail({ organizationId: orgId, ...subject, message: messageOf(error) });
  }
}

function messageOf(error: unknown): string {
  if (error instanceof BillingError) return error.message;
  return `unexpected: ${error instanceof Error ? error.message : 'not an Error'}`;
}
