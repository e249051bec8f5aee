/**
 * Usage whose events are dropped. What its meters read was frozen before that, phase by phase and with all that grants and
 * budgets told apart. So metering a whole window of a contract reads the same as before, and any other reading is refused.
 */

import { decimal, decimalText } from '../calculation/money.ts';
import type { MeteredUsage } from '../calculation/usage-atoms.ts';
import { ConflictError } from '../errors.ts';
import type { Moment } from '../operations/field-rules.ts';
import type { Transaction } from '../store/database.ts';
import { type FrozenUsage, listFrozenUsage } from '../store/records/frozen-usage.ts';
import type { Organization } from '../store/records/organizations.ts';
import { type MeteringOptions, type MeteringWindow, narrows } from './usage-metering-options.ts';
import { wireTimestamp } from './wire.ts';

export interface RetentionContext {
  readonly tx: Transaction;
  readonly orgId: string;
  readonly organization: Pick<Organization, 'eventsDroppedBeforeEpochMs'>;
}

type Mark = Pick<RetentionContext, 'organization'>;

/** Whether some of the events from an instant on are dropped. */
export function isDropped({ organization }: Mark, from: Temporal.Instant | number): boolean {
  const epochMs = typeof from === 'number' ? from : from.epochMilliseconds;
  return epochMs < organization.eventsDroppedBeforeEpochMs;
}

/** The instant from which on there are events; undefined where none was dropped. */
export function droppedBefore({ organization }: Mark): Temporal.Instant | undefined {
  const { eventsDroppedBeforeEpochMs } = organization;
  return eventsDroppedBeforeEpochMs === 0
    ? undefined
    : Temporal.Instant.fromEpochMilliseconds(eventsDroppedBeforeEpochMs);
}

/** The rest of a hint where usage of a whole billing period would have been read all the same. */
export const orWholePeriods = '; for a contract, whole billing periods can be read too, without filters';

/** Throws ConflictError where the events from `from` on are not all there; `what` begins the sentence. */
export function refuseDropped(context: Mark, from: Moment, what: string, alternative = ''): void {
  if (!isDropped(context, from.epochMilliseconds)) return;
  const hint = `begin at ${markText(context)} or later${alternative}`;
  throw droppedError(context, `${what} from ${wireTimestamp(from)} on`, hint);
}

export function droppedError(context: Mark, what: string, hint: string): ConflictError {
  return new ConflictError(`${what}: events from before ${markText(context)} were dropped`, { hint });
}

function markText({ organization }: Mark): string {
  return wireTimestamp({ epochMilliseconds: organization.eventsDroppedBeforeEpochMs });
}

/**
 * What was frozen of these windows, which begin where events are dropped. Throws ConflictError for a part of a window, and
 * for a part of its usage.
 */
export async function readFrozenUsage(
  context: RetentionContext,
  contractId: string,
  { windows, options }: { readonly windows: readonly MeteringWindow[]; readonly options: MeteringOptions },
): Promise<ReadonlyMap<MeteringWindow, MeteredUsage>> {
  const frozen = await frozenByWindow(context, contractId);
  const found = new Map<MeteringWindow, MeteredUsage>();
  for (const window of windows) {
    const usage = frozen.get(windowKey(window));
    const isWhole = usage?.phases.at(-1)?.endEpochMs === window.end.epochMilliseconds;
    if (usage === undefined || !isWhole || narrows(options.filter)) {
      refuseDropped(context, window.start, 'usage cannot be read', orWholePeriods);
      continue;
    }
    if (usage.combination === 'SQL' && options.leavesOutSql === true) continue;
    found.set(window, thawed(window, usage));
  }
  return found;
}

/** What was frozen of a contract, by the `windowKey` of its windows. */
export async function frozenByWindow(
  { tx, orgId }: RetentionContext,
  contractId: string,
): Promise<ReadonlyMap<string, FrozenUsage>> {
  return new Map((await listFrozenUsage(tx, orgId, contractId)).map((usage) => [keyOf(usage), usage]));
}

/** What a meter read of a window, as it is kept. */
export function frozenUsageOf(
  window: MeteringWindow,
  { combination, phases }: MeteredUsage,
  { dimensions }: MeteringOptions,
): FrozenUsage {
  return {
    itemId: window.item.id,
    startEpochMs: window.start.epochMilliseconds,
    combination,
    dimensions,
    phases: phases.map(({ end, readings }) => ({
      endEpochMs: end.epochMilliseconds,
      readings: readings.map((reading) => ({ ...reading, quantity: decimalText(reading.quantity) })),
    })),
  };
}

function thawed({ item }: MeteringWindow, { combination, phases }: FrozenUsage): MeteredUsage {
  return {
    item,
    combination,
    phases: phases.map(({ endEpochMs, readings }) => ({
      end: Temporal.Instant.fromEpochMilliseconds(endEpochMs),
      readings: readings.map((reading) => ({ ...reading, quantity: decimal(reading.quantity) })),
    })),
  };
}

/** One text for each window of a contract. */
export function windowKey({ item, start }: Pick<MeteringWindow, 'item' | 'start'>): string {
  return keyOf({ itemId: item.id, startEpochMs: start.epochMilliseconds });
}

/** The same text as `windowKey` gives for the window that was frozen. */
function keyOf({ itemId, startEpochMs }: Pick<FrozenUsage, 'itemId' | 'startEpochMs'>): string {
  return `${itemId} ${startEpochMs}`;
}
