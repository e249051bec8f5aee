/** How work of the engine gets its transaction, its one instant, and what SQL meters read. */

import { NotFoundError, UnavailableError } from '../errors.ts';
import { limits } from '../limits.ts';
import { instantAt, type Moment } from '../operations/field-rules.ts';
import type { Caller } from '../operations/index.ts';
import type { Transaction } from '../store/database.ts';
import { findOrganizationAndClock, keepLastCreatedAt } from '../store/records/organizations.ts';
import type { Organization, OrganizationAndClock } from '../store/records/organizations.ts';
import type { EngineParts } from './dependencies.ts';
import type { CallContext } from './handler.ts';
import { borrowedLedgers } from './known-ledgers.ts';
import { type SqlReadings, withSqlReadings } from './usage-sql.ts';
import { wireTimestamp } from './wire.ts';

/**
 * Does `work` in a transaction, and once more for each SQL meter that it has to read: only what the last run returns counts,
 * and only its writes are kept.
 */
export async function inTransaction<T>(
  dependencies: EngineParts,
  { caller, access }: { readonly caller: Caller; readonly access: 'read' | 'write' },
  work: (context: CallContext) => Promise<T>,
): Promise<T> {
  const { store, meterSql } = dependencies;
  const deadlineMilliseconds = access === 'write' ? limits.meterSqlBillRunMilliseconds : limits.meterSqlMilliseconds;
  let keptTime: string | undefined;
  const outcome = await withSqlReadings(
    { meterSql, deadlineMilliseconds },
    async (sqlReadings) =>
      await store[access](
        async (tx) => {
          const context = await createContext(dependencies, caller, { tx, sqlReadings, access });
          const result = await work(context);
          ({ keptTime } = context);
          return result;
        },
        { turn: caller.organizationId },
      ),
  );
  if (keptTime !== undefined) store.noteNewest?.(keptTime);
  return outcome;
}

/** Thrown where everything went well and nothing is to be kept. */
class Rehearsed extends Error {
  readonly outcome: unknown;

  constructor(outcome: unknown) {
    super('a rehearsal is not kept');
    this.outcome = outcome;
  }
}

/** Does `work` as a write would, returns its result, and keeps nothing of it. */
export async function inRehearsal<T>(
  dependencies: EngineParts,
  { caller }: { readonly caller: Caller },
  work: (context: CallContext) => Promise<T>,
): Promise<T> {
  const parts = { ...dependencies, ledgers: borrowedLedgers(dependencies.ledgers) };
  try {
    return await inTransaction(parts, { caller, access: 'write' }, async (context) => {
      throw new Rehearsed(await work(context));
    });
  } catch (error) {
    if (!(error instanceof Rehearsed)) throw error;
    return error.outcome as T;
  }
}

/** Keeps the instant of a write: the organization's time never goes back before it (reliability 4.4). */
export async function keepTime(context: CallContext): Promise<void> {
  context.keptTime = context.timestamp;
  if (context.timestamp <= context.organization.lastCreatedAt) return;
  await keepLastCreatedAt(context.tx, context.orgId, context.timestamp);
}

async function createContext(
  dependencies: EngineParts,
  caller: Caller,
  {
    tx,
    sqlReadings,
    access,
  }: { readonly tx: Transaction; readonly sqlReadings: SqlReadings; readonly access: 'read' | 'write' },
): Promise<CallContext> {
  const found = await findOrganizationAndClock(tx, caller.organizationId);
  if (found === undefined) throw new NotFoundError('this organization does not exist');
  // Read once, and not by most readings.
  const machineTime = access === 'write' ? dependencies.now() : undefined;
  if (machineTime !== undefined && found.simulated === undefined) checkMachineTime(machineTime);
  return new OneCall(dependencies, { caller, tx, sqlReadings, found, machineTime });
}

interface CallFacts extends Pick<CallContext, 'caller' | 'tx' | 'sqlReadings'> {
  readonly found: OrganizationAndClock;
  readonly machineTime: Moment | undefined;
}

/** A class, because making an object with so many getters of its own takes as long as a short reading. */
class OneCall implements CallContext {
  readonly tx: CallContext['tx'];
  readonly ledgers: CallContext['ledgers'];
  readonly sqlReadings: CallContext['sqlReadings'];
  readonly caller: CallContext['caller'];
  readonly organization: CallContext['organization'];
  readonly orgId: string;
  readonly newId: CallContext['newId'];
  readonly randomBytes: CallContext['randomBytes'];
  readonly finalizationGraceHours: number;
  keptTime: string | undefined = undefined;
  readonly #dependencies: EngineParts;
  readonly #facts: CallFacts;
  #known: Time | undefined;
  #now: Temporal.Instant | undefined;

  constructor(dependencies: EngineParts, facts: CallFacts) {
    const { organization, simulated } = facts.found;
    this.tx = facts.tx;
    this.ledgers = dependencies.ledgers;
    this.sqlReadings = facts.sqlReadings;
    this.caller = facts.caller;
    this.organization = organization;
    this.orgId = organization.id;
    this.newId = dependencies.newId;
    this.randomBytes = dependencies.randomBytes;
    this.finalizationGraceHours = graceHoursOf(dependencies, simulated);
    this.#dependencies = dependencies;
    this.#facts = facts;
  }

  get events(): CallContext['events'] {
    return this.#dependencies.store.events;
  }

  get now(): Temporal.Instant {
    return (this.#now ??= this.#instant());
  }

  get timestamp(): string {
    return this.#time().timestamp;
  }

  get aheadOfClock(): string | undefined {
    return this.#time().aheadOfClock;
  }

  get machineTime(): Temporal.Instant {
    return instantAt(this.#time().machineTime);
  }

  #instant(): Temporal.Instant {
    const { timestamp, machineTime, isMachineTime } = this.#time();
    return isMachineTime ? instantAt(machineTime) : Temporal.Instant.from(timestamp);
  }

  #time(): Time {
    const { found, machineTime } = this.#facts;
    const { lastCreatedAt } = found.organization;
    return (this.#known ??= timeOf({ ...found, lastCreatedAt }, machineTime ?? this.#dependencies.now()));
  }
}

/**
 * Hours between an invoice's date and its finalization: none where time is `simulated`, because nobody sends usage late to a
 * clock that waits for it (semantics 7).
 */
export function graceHoursOf(
  { finalizationGraceHours }: Pick<EngineParts, 'finalizationGraceHours'>,
  simulated: Temporal.Instant | string | undefined,
): number {
  return simulated === undefined ? finalizationGraceHours : 0;
}

/**
 * Throws an UnavailableError for an instant after `limits.lastYear`: a write would keep that time for ever, because time never
 * goes back, and would draft every month until then.
 */
export function checkMachineTime(machineTime: Moment): void {
  if (machineTime.epochMilliseconds < Date.UTC(limits.lastYear + 1, 0)) return;
  throw new UnavailableError(
    `the clock of this machine stands at ${wireTimestamp(machineTime)}, after the year ${limits.lastYear}: correct it`,
  );
}

/** The instant of the newest row, where the real clock is more than `limits.clockLagSeconds` behind it (reliability 9). */
export function aheadOfClock(newest: string, machineTime: Moment): string | undefined {
  const milliseconds = Temporal.Instant.from(newest).epochMilliseconds - machineTime.epochMilliseconds;
  return milliseconds > limits.clockLagSeconds * 1000 ? newest : undefined;
}

interface Time extends Pick<CallContext, 'timestamp' | 'aheadOfClock'> {
  readonly machineTime: Moment;
  /** Whether `timestamp` is that of the machine: neither simulated nor taken from the newest row. */
  readonly isMachineTime: boolean;
}

/** The time of an organization: its clock's, which may be `simulated`, but never before the newest row. */
export function timeOf(
  { simulated, lastCreatedAt }: Pick<OrganizationAndClock, 'simulated'> & Pick<Organization, 'lastCreatedAt'>,
  machineTime: Moment,
): Time {
  // Instants in this form sort as texts.
  const timestamp = simulated ?? wireTimestamp(machineTime);
  const isReal = simulated === undefined;
  if (timestamp >= lastCreatedAt) return { timestamp, machineTime, isMachineTime: isReal, aheadOfClock: undefined };
  return {
    timestamp: lastCreatedAt,
    machineTime,
    isMachineTime: false,
    aheadOfClock: isReal ? aheadOfClock(lastCreatedAt, machineTime) : undefined,
  };
}
