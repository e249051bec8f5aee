/**
 * Pulls contracts from a remote service into a mirror, several at a time and each as a whole: what a stopped pull has written
 * stays, and the same command continues from there. With `--check` the two are compared, and nothing is written.
 */

import { sha256Of } from '../../digest.ts';
import { BillingError, NotFoundError } from '../../errors.ts';
import type { ErrorKind } from '../../errors.ts';
import { timestampOf } from '../../operations/field-rules.ts';
import type { Mirror, Mirrored, MirroredBody, MirrorSource } from '../../operations/mirror.ts';
import { once } from '../../once.ts';
import { createTurns } from '../../turns.ts';
import { applyUnits, stopped } from '../bulk/apply.ts';
import type { RowOutcome } from '../bulk/apply.ts';
import { reading } from '../session/open-session.ts';
import { checkFields, columnPaths } from '../output/output.ts';
import { createWaitingNote } from '../session/patiently.ts';
import type { OnWait } from '../session/patiently.ts';
import { counted, say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import type { Target } from '../target/target.ts';
import { compareRecords } from './compare.ts';
import { checkView, pullView, report, reportCheck } from './report.ts';
import type { ContractOutcome } from './report.ts';
import { createPullSource } from './source.ts';
import type { PullSource } from './source.ts';
import { readWanted, withKnown } from './wanted.ts';
import type { Wanted, WantedFlags } from './wanted.ts';
import { tell } from '../session/tell.ts';

export interface PullFlags extends WantedFlags {
  readonly to: string;
  readonly check?: true;
  readonly published?: true;
}

/** Contracts at a time, few because a service counts requests and one contract takes several. */
const concurrency = 4;
/** After a day, contracts pulled before an interruption are old enough to be pulled again. */
const resumableHours = 24;

export async function pull(flags: PullFlags, session: Session): Promise<void> {
  const isCheck = flags.check === true;
  if (session.flags.dryRun === true) {
    throw new BillingError('usage', '--dry-run is for requests that change a service', { hint: 'give --check' });
  }
  const view = isCheck ? checkView : pullView;
  checkFields(session.output, columnPaths(view), view);
  const given = await readWanted(flags, session.terminal);
  const source = sourceOf(await session.target(), flags);
  const mirror = await openMirror(flags, given, { session, source });
  try {
    const stored = await mirror.source();
    const hasContracts = flags.published === true || stored.hasContracts;
    const wanted = await completed(given, mirror);
    if (wanted.length === 0) {
      throw new BillingError('usage', 'there is no contract to pull', { hint: 'give --contract ID, or --from FILE' });
    }
    await reading(session, await session.target(), async ({ billing }) => {
      const onWait = createWaitingNote(session);
      const service = createPullSource(billing, { hasContracts, onWait });
      await work({ mirror, service, wanted, session, isCheck, hasContracts, onWait });
    });
  } finally {
    await mirror.close();
  }
}

function sourceOf(target: Target, { published }: PullFlags): MirrorSource {
  if (target.kind === 'embedded') {
    throw new BillingError('notOffered', 'pull reads a remote service, but this is a database', {
      hint: 'name a service with --profile, and the mirror with --to',
    });
  }
  const { environment, baseUrl, profile } = target;
  return { environment, address: baseUrl, profile, hasContracts: published === true };
}

/** A mirror is created only for named contracts. */
async function openMirror(
  { to, check }: PullFlags,
  given: readonly Wanted[],
  { session, source }: { readonly session: Session; readonly source: MirrorSource },
): Promise<Mirror> {
  const maintenance = await session.dependencies.openMaintenance();
  if (check !== true && given.length > 0) return await maintenance.openMirror(to, source);
  const existing = await maintenance.openMirror(to);
  if (check === true) return existing;
  await existing.close();
  return await maintenance.openMirror(to, source);
}

/** Adds what the mirror knows about its contracts; without any id, all its contracts are meant. */
async function completed(given: readonly Wanted[], mirror: Mirror): Promise<Wanted[]> {
  const { rows } = await mirror.list('contract', {});
  const known = new Map(
    rows.map(({ id, body }): [string, Wanted] => [
      id,
      { contractId: id, customerId: textOf(body['customerId']), planId: textOf(body['planId']) },
    ]),
  );
  if (given.length === 0) return [...known.values()].toReversed();
  return given.map((wanted) => withKnown(wanted, known.get(wanted.contractId)));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

interface Work {
  readonly mirror: Mirror;
  readonly service: PullSource;
  readonly wanted: readonly Wanted[];
  readonly session: Session;
  readonly isCheck: boolean;
  readonly hasContracts: boolean;
  readonly onWait: OnWait;
}

async function work(job: Work): Promise<void> {
  const { mirror, wanted, session, isCheck, hasContracts } = job;
  const now = () => Temporal.Instant.fromEpochMilliseconds(session.dependencies.machine.now());
  const resumedFrom = isCheck ? undefined : await begin(job, now());
  const { compared, keep: keepPrices } = await pricesOf(job, now());
  const left = resumedFrom === undefined ? wanted : await notPulledSince(resumedFrom, job);
  if (left.length < wanted.length) {
    tell(session, say`${wanted.length - left.length} of ${wanted.length} were pulled before the interruption`);
  }
  const pulled = new Set(wanted).difference(new Set(left));
  const outcomes = new Map(pulled.values().map(({ contractId }) => [contractId, earlier(contractId)]));
  const failures = new Map<string, BillingError>();
  if (outcomes.size > 0) await keepPrices();
  const pullOne = createPull(job, { outcomes, failures, keepPrices, now });
  const units = left.map((each, index) => ({ lines: [index], send: async () => [await pullOne(each, index)] }));
  const { stoppedBy } = await applyUnits(units, session, { concurrency, noun: 'contracts', onWait: job.onWait });
  const prices = isCheck || outcomes.size > 0 ? compared : [];
  const done = { wanted, outcomes, failures, prices };
  const alike = kindOfAll(failures, wanted.length);
  let differenceCount = 0;
  if (isCheck && alike === undefined) differenceCount = await reportCheck(done, session);
  else if (alike === undefined) await report(done, { session, location: mirror.location, hasContracts });
  if (stoppedBy !== undefined) {
    const undone = `${wanted.length - outcomes.size} of ${counted(wanted.length, 'contract')}`;
    const words = `${stoppedBy.message} (${undone} not ${isCheck ? 'compared' : 'pulled'})`;
    throw stopped(stoppedBy, words, `repeat the command${isCheck ? '' : ': it goes on where it stopped'}`);
  }
  if ([...failures.values()].every((error) => error instanceof NotFoundError) && !isCheck) {
    await mirror.noteRun(undefined);
  }
  if (failures.size > 0) throw failureOf(failures, alike);
  if (differenceCount > 0) throw differing(differenceCount);
}

interface Pulling {
  readonly outcomes: Map<string, ContractOutcome>;
  readonly failures: Map<string, BillingError>;
  readonly keepPrices: () => Promise<void>;
  readonly now: () => Temporal.Instant;
}

/** Pulls a contract as a whole and notes the outcome; throws what the service throws. */
function createPull({ mirror, service, isCheck }: Work, { outcomes, failures, keepPrices, now }: Pulling) {
  // Two contracts of a customer must not both find the customer new.
  const inTurn = createTurns();
  return async (wanted: Wanted, line: number): Promise<RowOutcome> => {
    const { contractId } = wanted;
    try {
      const pulledAt = timestampOf(now());
      const { customerId, records, lacks } = await service.contract(wanted);
      const compared = await inTurn(async () => {
        const before = await recordsBefore(mirror, contractId, records);
        if (!isCheck) {
          await keepPrices();
          await mirror.keep(records, { pulledAt, contractId });
        }
        return compareRecords(before, records);
      });
      failures.delete(contractId);
      outcomes.set(contractId, { contractId, customerId, compared, lacks });
      return { line, status: 'done', id: contractId, error: '' };
    } catch (error) {
      if (error instanceof BillingError) failures.set(contractId, error);
      throw error;
    }
  };
}

function differing(count: number): BillingError {
  return new BillingError('checkFailed', `the mirror differs from the service in ${counted(count, 'place')}`, {
    hint: 'bring it up to date with the same command without --check',
  });
}

/** When the interrupted pull of the same contracts began, which this one continues; undefined if there is none. */
async function begin({ mirror, wanted, hasContracts }: Work, now: Temporal.Instant): Promise<string | undefined> {
  const ids = wanted.map(({ contractId }) => contractId).toSorted();
  const digest = sha256Of(JSON.stringify({ ids, hasContracts }));
  const before = await mirror.unfinishedRun();
  if (before !== undefined && before.digest === digest) {
    const age = Temporal.Instant.from(before.startedAt).until(now, { largestUnit: 'hour' }).hours;
    // Below 0 where a clock that ran ahead was set right meanwhile: how long ago that was, nothing tells.
    if (Math.abs(age) < resumableHours) return before.startedAt;
  }
  await mirror.noteRun({ digest, startedAt: timestampOf(now) });
  return undefined;
}

/** Also those that were pulled without the customer or the plan that is named now. */
async function notPulledSince(startedAt: string, { mirror, wanted, hasContracts }: Work): Promise<Wanted[]> {
  const left: Wanted[] = [];
  for (const each of wanted) {
    const record = await mirror.find('contract', each.contractId);
    const isPulled = record !== undefined && record.pulledAt >= startedAt;
    if (!isPulled || !(hasContracts || isAsNamed(each, record.body))) left.push(each);
  }
  return left;
}

function isAsNamed({ customerId, planId }: Wanted, body: MirroredBody): boolean {
  return customerId === textOf(body['customerId']) && planId === textOf(body['planId']);
}

/**
 * Prices that are no longer listed keep their ids, for the plans that contain them. They are to be kept with the first contract:
 * at an address where another service has moved in, none is found, and the mirror must not take its prices. Nor must it go on
 * asking for the path of contracts where that path has answered nothing.
 */
async function pricesOf({ mirror, service, hasContracts }: Work, now: Temporal.Instant) {
  const listed = await service.prices();
  const { rows } = await mirror.list('pricing', {});
  const keep = once(async () => {
    await mirror.noteSource({ ...(await mirror.source()), hasContracts });
    const ids = new Set(listed.map(({ id }) => id));
    const unlisted = rows.filter(({ id }) => !ids.has(id)).map((price) => ({ ...price, rank: -1 }));
    await mirror.keep([...listed, ...unlisted], { pulledAt: timestampOf(now) });
  });
  return { compared: compareRecords(rows, listed), keep };
}

async function recordsBefore(mirror: Mirror, contractId: string, records: readonly Mirrored[]) {
  const invoices = await mirror.list('invoice', { contractId });
  const others = records.filter(({ kind }) => kind !== 'invoice');
  const found = await Promise.all(others.map(async ({ kind, id }) => await mirror.find(kind, id)));
  return [...found.filter((record) => record !== undefined), ...invoices.rows];
}

function earlier(contractId: string): ContractOutcome {
  return { contractId, customerId: undefined, compared: [], lacks: [], isEarlier: true };
}

/** The kind of failure if every contract failed in the same way; undefined otherwise. */
function kindOfAll(failures: ReadonlyMap<string, BillingError>, total: number): ErrorKind | undefined {
  const kinds = new Set([...failures.values()].map(({ kind }) => kind));
  return failures.size === total && kinds.size === 1 ? [...kinds][0] : undefined;
}

/** If every contract failed in the same way, the exit code is that of the failure, such as 4; else 10. */
function failureOf(failures: ReadonlyMap<string, BillingError>, alike: ErrorKind | undefined): BillingError {
  const words = [...failures].map(([id, { message }]) => `${id}: ${message}`);
  const rest = words.length > shownFailures ? `; and ${words.length - shownFailures} more` : '';
  // A service that has refused for the rate says how long to wait.
  const other = [...failures.values()].find((error) => !(error instanceof NotFoundError));
  const next = other?.hint ?? 'check these ids and the key of the profile';
  return new BillingError(alike ?? 'checkFailed', `${words.slice(0, shownFailures).join('; ')}${rest}`, {
    hint: alike === undefined ? `the others are done; ${next}` : next,
  });
}

const shownFailures = 5;
