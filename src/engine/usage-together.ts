/**
 * Contracts of a customer that are billed one after the other and mostly ask the same of its events. The events that name them
 * are read for several contracts at once, because a store looks at all events of the customer each time.
 */

import type { MeterRules } from '../calculation/usage-fold.ts';
import { limits } from '../limits.ts';
import type { AggregatedEvents, EventReadings } from '../store/event-store.ts';
import type { CallContext } from './handler.ts';

/** Holds for as long as no event is recorded in the transaction. */
export interface MeteredTogether {
  /** In the order in which they are billed. */
  readonly contractIds: readonly string[];
  readonly answers: Map<string, Answers>;
  /** How many readings wait to be asked for, in all answers. */
  heldReadings: number;
}

interface Answers {
  /** What each meter reads, for contracts that have not asked yet. */
  readonly waiting: Map<string, readonly EventReadings[]>;
  readonly readIds: Set<string>;
  /** The most readings that a contract has had, at least 1. */
  mostReadings: number;
}

/** Undefined for a single contract. */
export function metersTogether(contractIds: readonly string[]): MeteredTogether | undefined {
  return contractIds.length > 1 ? { contractIds, answers: new Map(), heldReadings: 0 } : undefined;
}

/** What each meter reads of the events that name a contract, for a contract that takes no others. */
export async function readNamed(
  { tx, events }: Pick<CallContext, 'tx' | 'events'>,
  of: Omit<AggregatedEvents, 'contract'>,
  {
    contractId,
    together,
    meters,
  }: {
    readonly contractId: string;
    readonly together: MeteredTogether | undefined;
    readonly meters: readonly MeterRules[];
  },
): Promise<readonly EventReadings[]> {
  if (together === undefined) {
    const [own = []] = await events.aggregateNamed(tx, of, { contractIds: [contractId], meters });
    return own;
  }
  const question = JSON.stringify([of, meters]);
  const answers = together.answers.getOrInsertComputed(question, newAnswers);
  const known = answers.waiting.get(contractId);
  if (known !== undefined) {
    answers.waiting.delete(contractId);
    together.heldReadings -= countOf(known);
    return known;
  }
  const contractIds = [contractId, ...behind(contractId, together, answers)];
  const [own = [], ...others] = await events.aggregateNamed(tx, of, { contractIds, meters });
  for (const id of contractIds) answers.readIds.add(id);
  for (const [place, readings] of others.entries()) {
    answers.waiting.set(contractIds[place + 1] ?? '', readings);
    together.heldReadings += countOf(readings);
  }
  answers.mostReadings = Math.max(answers.mostReadings, ...[own, ...others].map(countOf));
  return own;
}

/** Lets go of what waits for a contract that does not ask, or no more: it would take the room of others. */
export function passOver(together: MeteredTogether | undefined, contractId: string): void {
  if (together === undefined) return;
  for (const { waiting } of together.answers.values()) {
    const own = waiting.get(contractId);
    if (own !== undefined) together.heldReadings -= countOf(own);
    waiting.delete(contractId);
  }
}

const newAnswers = (): Answers => ({ waiting: new Map(), readIds: new Set(), mostReadings: 1 });

/** The contracts to be read with this one: none for a question that is asked for the first time, and no more than may be held. */
function behind(
  contractId: string,
  { contractIds, heldReadings }: MeteredTogether,
  { readIds, mostReadings }: Answers,
): readonly string[] {
  if (readIds.size === 0) return [];
  const most = Math.floor((limits.readingsReadAhead - heldReadings) / mostReadings);
  return contractIds
    .slice(contractIds.indexOf(contractId) + 1)
    .filter((id) => !readIds.has(id))
    .slice(0, Math.max(0, most));
}

/** At least 1, because a contract without readings takes room as well. */
function countOf(meters: readonly EventReadings[]): number {
  return 1 + meters.flat().reduce((sum, { length }) => sum + length, 0);
}
