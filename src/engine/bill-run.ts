/**
 * The run over everything that has fallen due. Each instant of a contract is a transaction, so that a run that is cut off
 * leaves whole steps; what is due is asked again inside of it, so that two runs at once do each step once.
 */

import { BillingError, UnavailableError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Caller, ResponseBody } from '../operations/index.ts';
import type { Transaction } from '../store/database.ts';
import { MeterSqlError } from '../store/meter-sql.ts';
import { findClock } from '../store/records/clock.ts';
import { listDueContracts, listEndedPauses } from '../store/records/due-work.ts';
import type { DueSubject, SeqPage } from '../store/records/due-work.ts';
import { endPause } from './customers.ts';
import { dueBy, nothingDone, workOffInstant } from './due-work.ts';
import type { WorkDone } from './due-work.ts';
import type { EngineParts } from './engine.ts';
import type { CallContext } from './handler.ts';
import { inTransaction, keepTime } from './transaction.ts';
import { wireCents } from './wire.ts';

type RunBody = ResponseBody<'bill.run'>['data'];
type Failure = RunBody['failures'][number];

export interface RunOptions {
  readonly until: Temporal.Instant;
  readonly report: RunReport;
  /** Do everything, and keep nothing of it. */
  readonly isRehearsal?: boolean;
  /** Once aborted, no further step is begun. */
  readonly signal?: AbortSignal | undefined;
}

/** Does what has fallen due in one organization, in the order in which customers and contracts were made. */
export async function runDue(parts: EngineParts, orgId: string, options: RunOptions): Promise<void> {
  const run: Run = { ...options, parts, orgId, caller: { organizationId: orgId, scopes: ['*'], isLocal: true } };
  const { until } = options;
  await eachSubject(
    run,
    async (tx, page) => await listEndedPauses(tx, orgId, { ...page, date: dueBy(until, 0).date }),
    async ({ id }) => await resumeCustomer(run, id),
  );
  await eachSubject(
    run,
    async (tx, page) => {
      const graceHours = (await findClock(tx)) === undefined ? parts.finalizationGraceHours : 0;
      return await listDueContracts(tx, orgId, { ...page, by: dueBy(until, graceHours) });
    },
    async ({ id }) => await workOffContract(run, id),
  );
}

/** What a run did and could not do. */
export interface RunReport {
  readonly add: (orgId: string, done: WorkDone, isRehearsal: boolean) => void;
  readonly fail: (failure: Failure) => void;
  readonly body: () => Omit<RunBody, 'until' | 'isRehearsal'>;
}

export function createRunReport(): RunReport {
  const counts = { draftedCount: 0, expiredGrantCount: 0, resumedCustomerCount: 0, endedContractCount: 0 };
  const invoices: RunBody['invoices'] = [];
  const failures = new Map<string, Failure>();
  let finalizedCount = 0;
  let totalCents = 0n;
  let failedCount = 0;
  return {
    add(orgId, done, isRehearsal) {
      for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] += done[name];
      finalizedCount += done.invoices.length;
      for (const { draftNumber, number, ...invoice } of done.invoices) {
        totalCents += invoice.totalCents;
        if (invoices.length === limits.billRunListed) continue;
        invoices.push({
          ...invoice,
          organizationId: orgId,
          // The number that was taken is given back with all the rest.
          invoiceNumber: isRehearsal ? draftNumber : number,
          invoiceDate: invoice.invoiceDate.toString(),
          totalCents: wireCents(invoice.totalCents),
        });
      }
    },
    fail(failure) {
      const key = `${failure.organizationId} ${failure.contractId ?? failure.customerId}`;
      if (failures.has(key)) return;
      failedCount += 1;
      if (failures.size < limits.billRunListed) failures.set(key, failure);
    },
    body: () => ({
      finalizedCount,
      totalCents: wireCents(totalCents),
      ...counts,
      failedCount,
      invoices,
      failures: [...failures.values()],
    }),
  };
}

interface Run extends RunOptions {
  readonly parts: EngineParts;
  readonly orgId: string;
  readonly caller: Caller;
}

/** Calls `work` with everything that `list` gives, a page at a time. */
async function eachSubject(
  { parts, signal }: Run,
  list: (tx: Transaction, page: SeqPage) => Promise<readonly DueSubject[]>,
  work: (subject: DueSubject) => Promise<void>,
): Promise<void> {
  const limit = limits.billRunPage;
  let afterSeq = 0n;
  for (;;) {
    const page = { afterSeq, limit };
    const subjects = await parts.store.read(async (tx) => await list(tx, page));
    for (const subject of subjects) {
      if (signal?.aborted === true) return;
      await work(subject);
    }
    const last = subjects.at(-1);
    if (last === undefined || subjects.length < limit) return;
    afterSeq = last.seq;
  }
}

async function resumeCustomer(run: Run, customerId: string): Promise<void> {
  await reported(run, { customerId }, async () => {
    await step(run, async (context) => {
      const isEnded = await endPause(context, customerId);
      return { done: { ...nothingDone, resumedCustomerCount: isEnded ? 1 : 0 }, isMore: false };
    });
  });
}

async function workOffContract(run: Run, contractId: string): Promise<void> {
  const { until, isRehearsal = false } = run;
  await reported(run, { contractId }, async () => {
    if (isRehearsal) {
      await step(run, async (context) => await everyInstant(context, { contractId, until }));
      return;
    }
    while (await step(run, async (context) => await workOffInstant(context, { contractId, until })));
  });
}

interface Step {
  readonly done: WorkDone;
  readonly isMore: boolean;
}

/** Thrown where everything went well and nothing is to be kept. */
class Rehearsed extends Error {
  readonly done: WorkDone;

  constructor(done: WorkDone) {
    super('a rehearsal is not kept');
    this.done = done;
  }
}

/** One transaction; whether another has to follow. */
async function step(run: Run, work: (context: CallContext) => Promise<Step | undefined>): Promise<boolean> {
  const { parts, caller, orgId, report, isRehearsal = false } = run;
  try {
    const taken = await inTransaction(parts, { caller, access: 'write' }, async (context) => {
      const found = await work(context);
      if (found === undefined) return undefined;
      await keepTime(context);
      if (isRehearsal) throw new Rehearsed(found.done);
      return found;
    });
    if (taken === undefined) return false;
    report.add(orgId, taken.done, false);
    return taken.isMore;
  } catch (error) {
    if (!(error instanceof Rehearsed)) throw error;
    report.add(orgId, error.done, true);
    return false;
  }
}

/** The instants of a contract one after another in the one transaction. */
async function everyInstant(
  context: CallContext,
  due: { readonly contractId: string; readonly until: Temporal.Instant },
): Promise<Step | undefined> {
  const steps: WorkDone[] = [];
  let taken = await workOffInstant(context, due);
  while (taken !== undefined) {
    steps.push(taken.done);
    taken = taken.isMore ? await workOffInstant(context, due) : undefined;
  }
  const sum = (name: 'draftedCount' | 'expiredGrantCount' | 'endedContractCount') =>
    steps.reduce((total, done) => total + done[name], 0);
  const done: WorkDone = {
    ...nothingDone,
    invoices: steps.flatMap((each) => each.invoices),
    draftedCount: sum('draftedCount'),
    expiredGrantCount: sum('expiredGrantCount'),
    endedContractCount: sum('endedContractCount'),
  };
  return { done, isMore: false };
}

/** What fails with one customer or contract is told, and the others go on; what fails with the database ends the run. */
async function reported(
  { orgId, report }: Run,
  subject: Pick<Failure, 'contractId' | 'customerId'>,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof UnavailableError && !(error.cause instanceof MeterSqlError)) throw error;
    report.fail({ organizationId: orgId, ...subject, message: messageOf(error) });
  }
}

function messageOf(error: unknown): string {
  if (error instanceof BillingError) return error.message;
  return `unexpected: ${error instanceof Error ? error.message : 'not an Error'}`;
}
