/** Which events of a customer belong to which contract: those that name it, and at certain times those that name none. */

import { chooseByContract, type ChosenRows, chooseRows, type RowChoice } from './segment-rows.ts';
import type { Segment } from './segment.ts';
import type { EpochInterval, EventScan } from '../../../event-store.ts';
import type { SqliteConnection } from '../connection.ts';
import { findContractSeq } from './ids.ts';

/** The requested contract, and the intervals in which events that name no contract belong to another one. */
export interface Attribution {
  readonly contractSeq: number;
  readonly elsewhere: readonly EpochInterval[];
}

/** Undefined if no contract is requested, which means the events of all contracts. */
export function attributionOf(
  connection: SqliteConnection,
  orgId: string,
  contract: EventScan['contract'],
): Attribution | undefined {
  if (contract === undefined) return undefined;
  const contractSeq = findContractSeq(connection, orgId, contract.contractId) ?? -1;
  return { contractSeq, elsewhere: contract.unassignedOutside };
}

/** Whether an event belongs to the contract, by the contract that its row names (0 for none) and by its timestamp. */
export function isAttributed(
  { contractSeq, elsewhere }: Attribution,
  rowContractSeq: number,
  timestampEpochMs: number,
): boolean {
  if (rowContractSeq !== 0) return rowContractSeq === contractSeq;
  return !elsewhere.some(
    ({ fromEpochMs, toEpochMs }) => timestampEpochMs >= fromEpochMs && timestampEpochMs < toEpochMs,
  );
}

/** Whether only a part of the events in a span that name no contract belong to the contract. */
function isCut({ elsewhere }: Attribution, span: EpochInterval): boolean {
  const touching = elsewhere.filter(
    ({ fromEpochMs, toEpochMs }) => fromEpochMs < span.toEpochMs && span.fromEpochMs < toEpochMs,
  );
  const covers = ({ fromEpochMs, toEpochMs }: EpochInterval): boolean =>
    fromEpochMs <= span.fromEpochMs && span.toEpochMs <= toEpochMs;
  return touching.length > 0 && !touching.some(covers);
}

/** Tells which rows of a segment whose days begin at `start` belong to the contract; undefined if all do. */
function rowTest(
  attribution: Attribution,
  { fixed, valueOfAll }: Segment,
  start: number,
): ((row: number) => boolean) | undefined {
  const only = valueOfAll?.('contractSeq');
  if (only === attribution.contractSeq || (only === 0 && attribution.elsewhere.length === 0)) return undefined;
  const { contractSeq } = fixed;
  if (attribution.elsewhere.length === 0) {
    return (row) => contractSeq[row] === 0 || contractSeq[row] === attribution.contractSeq;
  }
  const { millisecond } = fixed;
  return (row) => isAttributed(attribution, contractSeq[row] ?? 0, start + (millisecond[row] ?? 0));
}

/** Who takes which events of a customer: each event goes to one taker at most. */
export interface Takers<Taker> {
  readonly each: readonly Taker[];
  /** By the contract that an event names (0 for none) and its timestamp. */
  readonly ofEvent: (contractSeq: number, timestampEpochMs: number) => Taker | undefined;
  /** Whether events of a span that name the same contract, or none, may go to several takers. */
  readonly isCut: (span: EpochInterval) => boolean;
  /** The rows of a segment whose days begin at `start`, by taker. */
  readonly ofRows: (
    segment: Segment,
    choice: Pick<RowChoice, 'from' | 'to'> & { readonly start: number },
  ) => readonly (readonly [Taker, ChosenRows])[];
}

/** One taker, for the attributed events, or for all events if no contract is requested. */
export function oneTaker<Taker>(attribution: Attribution | undefined, taker: Taker): Takers<Taker> {
  return {
    each: [taker],
    ofEvent: (contractSeq, timestampEpochMs) =>
      attribution === undefined || isAttributed(attribution, contractSeq, timestampEpochMs) ? taker : undefined,
    isCut: (span) => attribution !== undefined && isCut(attribution, span),
    ofRows: (segment, { start, from, to }) => [
      [taker, chooseRows(segment, { from, to, takes: attribution && rowTest(attribution, segment, start) })],
    ],
  };
}

/** One taker for each of these contracts, for the events that name it. */
export function namedTakers<Taker>(takers: ReadonlyMap<number, Taker>): Takers<Taker> {
  return {
    each: [...takers.values()],
    ofEvent: (contractSeq) => takers.get(contractSeq),
    isCut: () => false,
    ofRows: (segment, choice) =>
      chooseByContract(segment, choice).flatMap(([contractSeq, rows]) => {
        const taker = takers.get(contractSeq);
        return taker === undefined ? [] : [[taker, rows] as const];
      }),
  };
}
