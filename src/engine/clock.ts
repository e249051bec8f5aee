/** The time of a database: real, or simulated and standing still until it is advanced (semantics 3, 7). */

import { earlierOf } from '../calculation/billing-period.ts';
import { ConflictError, InvalidInputError, stoppedMidway } from '../errors.ts';
import { limits } from '../limits.ts';
import { instantAt } from '../operations/field-rules.ts';
import type { Answer, DueReport, OperationName, RoomDeclarations } from '../operations/index.ts';
import type { Transaction } from '../store/database.ts';
import { beginAt, findClock, hasNoRecords, removeClock, setClock } from '../store/records/clock.ts';
import { findNextDue } from '../store/records/due-work.ts';
import { listOrganizations } from '../store/records/organizations.ts';
import type { Organization } from '../store/records/organizations.ts';
import { createRunReport, runDue } from './bill-run.ts';
import type { RunOptions } from './bill-run.ts';
import { dueBy, earliestDue } from './due-work.ts';
import type { EngineParts } from './dependencies.ts';
import type { UndertakingsOf } from './handler.ts';
import { isOnlyRead } from './only-read.ts';
import { aheadOfClock, graceHoursOf } from './transaction.ts';
import { dropEvents } from './usage-drop.ts';
import { wireTimestamp } from './wire.ts';

export const clockUndertakings: UndertakingsOf<RoomDeclarations['clock']> = {
  'clock.show': async (parts) => ({ body: { data: await parts.store.read(async (tx) => await show(parts, tx)) } }),

  'clock.advance': async (parts, _caller, { body }) => {
    const target = await parts.store.write(async (tx) => {
      const move = await advanceOf(parts, tx, body);
      // Simulated from now on, if time was real.
      await setClock(tx, move.now);
      return move.target;
    });
    return { body: { data: await advanced(parts, target) } };
  },

  'clock.set': async (parts, _caller, { body }) => {
    const to = Temporal.Instant.from(body.to);
    const isAnew = await parts.store.write(async (tx) => {
      const now = await settingOf(parts, tx, to);
      if (now === undefined) await beginAt(tx, to);
      await setClock(tx, now ?? to);
      return now === undefined;
    });
    if (isAnew) parts.store.forgetNewest?.();
    return { body: { data: await advanced(parts, to) } };
  },

  'clock.reset': async (parts) => {
    const { data, isAnew } = await parts.store.write(async (tx) => {
      const real = instantAt(parts.now());
      const isAnew = await mayBeginAnew(tx, real);
      if (isAnew) await beginAt(tx, real);
      await removeClock(tx);
      return { data: await show(parts, tx), isAnew };
    });
    if (isAnew) parts.store.forgetNewest?.();
    return { body: { data } };
  },

  'bill.run': async (parts, caller, { body }) => {
    const { isRehearsal, organizationIds, until, ...noted } = await parts.store.read(async (tx) => {
      const simulated = await findClock(tx);
      // Not the time of the books: where that is ahead of the clock, periods would be billed that are not over.
      const now = simulated ?? instantAt(parts.now());
      const asked = body.until === undefined ? now : Temporal.Instant.from(body.until);
      if (Temporal.Instant.compare(asked, now) > 0) {
        throw new InvalidInputError([{ path: 'until', message: `must not be after now, ${wireTimestamp(now)}` }]);
      }
      const all = await listOrganizations(tx);
      const billed = body.allOrganizations === true ? all : all.filter(({ id }) => id === caller.organizationId);
      return {
        isRehearsal: body.rehearse === true,
        organizationIds: billed.map(({ id }) => id),
        until: asked,
        ...(simulated === undefined ? clockFactsOf(billed, now) : {}),
      };
    });
    const report = createRunReport();
    await runEach(parts, organizationIds, { until, report, isRehearsal });
    return { body: { data: { until: wireTimestamp(until), isRehearsal, ...report.body() } }, ...noted };
  },

  'events.drop': dropEvents,
};

/** Throws the refusal to move the clock, as far as reading can tell: what falls due on the way is not rehearsed. */
export async function refuseToMove(parts: EngineParts, name: OperationName, input: unknown): Promise<void> {
  await parts.store.read(async (tx) => {
    const { body } = input as { readonly body: Advance & { readonly to: string } };
    if (name === 'clock.advance') await advanceOf(parts, tx, body);
    if (name === 'clock.set') await settingOf(parts, tx, Temporal.Instant.from(body.to));
    if (name === 'clock.reset') await mayBeginAnew(tx, instantAt(parts.now()));
  });
}

/**
 * Does what a server does by itself: everything that is due now. Undefined on a simulated database, which waits for its clock
 * to be advanced, and on a read-only one, which waits for a server that may write. Of several servers on one database one does
 * the work, and the others find nothing due.
 */
export async function billDue(parts: EngineParts, signal: AbortSignal | undefined): Promise<DueReport | undefined> {
  const found = await parts.store.read(async (tx) => ({
    isSimulated: (await findClock(tx)) !== undefined,
    organizations: await listOrganizations(tx),
  }));
  if (found.isSimulated || (await isOnlyRead(parts.store))) return undefined;
  const report = createRunReport();
  const until = instantAt(parts.now());
  const organizationIds = found.organizations.map(({ id }) => id);
  const facts = clockFactsOf(found.organizations, until);
  try {
    await parts.store.exclusively('bill run', async () => {
      await runEach(parts, organizationIds, { until, report, signal });
    });
  } catch (error) {
    if (!report.hasAny()) throw error;
    return { ...report.body(), ...facts, stoppedBy: error };
  }
  return { ...report.body(), ...facts };
}

function clockFactsOf(
  organizations: readonly Organization[],
  machineTime: Temporal.Instant,
): Pick<Answer, 'aheadOfClock'> {
  // Instants in this form sort as texts.
  const newest = organizations
    .map(({ lastCreatedAt }) => lastCreatedAt)
    .toSorted()
    .at(-1);
  const ahead = newest === undefined ? undefined : aheadOfClock(newest, machineTime);
  return ahead === undefined ? {} : { aheadOfClock: ahead };
}

async function runEach(parts: EngineParts, organizationIds: readonly string[], options: RunOptions): Promise<void> {
  try {
    for (const orgId of organizationIds) await runDue(parts, orgId, options);
  } catch (error) {
    if (options.isRehearsal === true || !options.report.hasAny()) throw error;
    const { finalizedCount } = options.report.body();
    const kept = `what the run had done is kept (finalized invoices: ${finalizedCount})`;
    throw stoppedMidway(error, { kept, isRetryable: true });
  }
}

async function show(parts: EngineParts, tx: Transaction) {
  const simulated = await findClock(tx);
  const next = await nextDue(tx, await listOrganizations(tx), {
    after: Temporal.Instant.fromEpochMilliseconds(0),
    graceHours: graceHoursOf(parts, simulated),
  });
  return {
    now: wireTimestamp(await instantOf(parts, tx)),
    isSimulated: simulated !== undefined,
    nextDueAt: next === undefined ? null : wireTimestamp(next),
  };
}

/** The time of the database, which is never behind anything recorded. */
async function instantOf(parts: EngineParts, tx: Transaction): Promise<Temporal.Instant> {
  const clock = (await findClock(tx)) ?? instantAt(parts.now());
  const recorded = (await listOrganizations(tx)).map(({ lastCreatedAt }) => Temporal.Instant.from(lastCreatedAt));
  return [clock, ...recorded].reduce((one, other) => (Temporal.Instant.compare(one, other) < 0 ? other : one));
}

interface Advance {
  readonly to?: string | undefined;
  readonly by?: string | undefined;
}

/** The instants that an advance leads from and to. */
async function advanceOf(parts: EngineParts, tx: Transaction, { to, by = 'P0D' }: Advance) {
  await refuseProduction(tx);
  const now = await instantOf(parts, tx);
  return { now, target: checkTarget(now, to === undefined ? added(now, by) : Temporal.Instant.from(to)) };
}

/** The instant that setting the clock leads from; undefined without records, because then any instant will do. */
async function settingOf(parts: EngineParts, tx: Transaction, to: Temporal.Instant) {
  await refuseProduction(tx);
  if (await hasNoRecords(tx)) return undefined;
  const now = await instantOf(parts, tx);
  checkTarget(now, to);
  return now;
}

/** Whether going back to the real clock begins anew, without records. Throws ConflictError while real time is behind. */
async function mayBeginAnew(tx: Transaction, real: Temporal.Instant): Promise<boolean> {
  const simulated = await findClock(tx);
  if (simulated === undefined) return false;
  if (await hasNoRecords(tx)) return true;
  if (Temporal.Instant.compare(real, simulated) >= 0) return false;
  throw new ConflictError(`the clock stands at ${wireTimestamp(simulated)}, which is still in the future`, {
    hint: 'time never goes backwards: keep the simulation, or begin with another database',
  });
}

async function refuseProduction(tx: Transaction): Promise<void> {
  const inProduction = (await listOrganizations(tx)).find(({ environment }) => environment === 'production');
  if (inProduction === undefined) return;
  throw new ConflictError(`the organization "${inProduction.name}" is in production, where time is real`, {
    hint: 'simulate on another database, such as a copy of this one',
  });
}

function added(now: Temporal.Instant, by: string): Temporal.Instant {
  return now.toZonedDateTimeISO('UTC').add(Temporal.Duration.from(by)).toInstant();
}

function checkTarget(now: Temporal.Instant, target: Temporal.Instant): Temporal.Instant {
  if (Temporal.Instant.compare(target, now) < 0) {
    throw new ConflictError(`the clock stands at ${wireTimestamp(now)}, and time never goes backwards`, {
      hint: 'an earlier instant needs a database without records',
    });
  }
  if (target.toZonedDateTimeISO('UTC').year > limits.lastYear) {
    throw new InvalidInputError([{ path: 'by', message: `goes beyond the year ${limits.lastYear}` }]);
  }
  return target;
}

/** Lets time pass until `target`, from one instant with work to the next. */
async function advanced(parts: EngineParts, target: Temporal.Instant) {
  const report = createRunReport();
  const { store } = parts;
  let reached = await store.read(async (tx) => await standingAt(tx));
  try {
    for (;;) {
      // Before time goes on, this also finishes what another process was interrupted in.
      for (const { id } of reached.organizations) await runDue(parts, id, { until: reached.now, report });
      if (Temporal.Instant.compare(reached.now, target) >= 0) break;
      reached = await store.write(async (tx) => await moveOn(tx, target));
    }
  } catch (error) {
    // The same command again, with --by, would lead beyond its target.
    throw stoppedMidway(error, {
      kept: `the clock stands at ${wireTimestamp(reached.now)}, and what was done until then is kept`,
      hint: `once that is fixed, go on with: tally clock advance --to ${wireTimestamp(target)}`,
    });
  }
  return { now: wireTimestamp(reached.now), isSimulated: true, ...report.body() };
}

interface Standing {
  readonly now: Temporal.Instant;
  readonly organizations: readonly Organization[];
}

async function standingAt(tx: Transaction): Promise<Standing> {
  const now = await findClock(tx);
  if (now === undefined) throw new ConflictError('somebody has gone back to the real clock in the meantime');
  return { now, organizations: await listOrganizations(tx) };
}

/** Sets the clock to the next instant at which something falls due, or to `target` where nothing does before it. */
async function moveOn(tx: Transaction, target: Temporal.Instant): Promise<Standing> {
  const standing = await standingAt(tx);
  const next = await nextDue(tx, standing.organizations, { after: standing.now, graceHours: 0 });
  const now = next === undefined ? target : earlierOf(next, target);
  if (Temporal.Instant.compare(now, standing.now) <= 0) return standing;
  await setClock(tx, now);
  return { ...standing, now };
}

async function nextDue(
  tx: Transaction,
  organizations: readonly Organization[],
  { after, graceHours }: { readonly after: Temporal.Instant; readonly graceHours: number },
): Promise<Temporal.Instant | undefined> {
  let earliest: Temporal.Instant | undefined;
  for (const { id } of organizations) {
    const next = earliestDue(await findNextDue(tx, id, dueBy(after, graceHours)), graceHours);
    if (next !== undefined) earliest = earlierOf(next, earliest ?? next);
  }
  return earliest;
}
