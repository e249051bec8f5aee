/** Which events of a customer are of which contract: those that name it, and in its time those that name none. */

import { chooseByContract, type ChosenRows, chooseRows, type RowChoice } from './segment-rows.ts';
import type { Segment } from './segment.ts';
import type { EpochInterval, EventScan } from '../../../event-store.ts';
import type { SqliteConnection } from '../connection.ts';
import { findContractSeq } from './ids.ts';

/** The contract that is asked for, and when events that name none are another's. */
export interface Attribution {
  readonly contractSeq: number;
  readonly elsewhere: readonly EpochInterval[];
}

/** Undefined where no contract is asked for, and events of all of them are wanted. */
export function attributionOf(
  connection: SqliteConnection,
  orgId: string,
  contract: EventScan['contract'],
): Attribution | undefined {
  if (contract === undefined) return undefined;
  const contractSeq = findContractSeq(connection, orgId, contract.contractId) ?? -1;
  return { contractSeq, elsewhere: contract.unassignedOutside };
}

/** Whether an event is the contract's, by the contract that its row names, 0 for none, and by its own time. */
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

/** Whether only a part of a span's events that name no contract are the contract's. */
function isCut({ elsewhere }: Attribution, span: EpochInterval): boolean {
  const touching = elsewhere.filter(
    ({ fromEpochMs, toEpochMs }) => fromEpochMs < span.toEpochMs && span.fromEpochMs < toEpochMs,
  );
  const covers = ({ fromEpochMs, toEpochMs }: EpochInterval): boolean =>
    fromEpochMs <= span.fromEpochMs && span.toEpochMs <= toEpochMs;
  return touching.length > 0 && !touching.some(covers);
}

/** Which rows of a segment whose days begin at `start` are the contract's; undefined where every one is. */
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

/** Who takes which events of a customer: each is one's at most. */
export interface Takers<Taker> {
  readonly each: readonly Taker[];
  /** By the contract that an event names, 0 for none, and its own time. */
  readonly ofEvent: (contractSeq: number, timestampEpochMs: number) => Taker | undefined;
  /** Whether events of a span that name the same contract, or none, may be several's. */
  readonly isCut: (span: EpochInterval) => boolean;
  /** The rows of a segment whose days begin at `start`. */
  readonly ofRows: (
    segment: Segment,
    choice: Pick<RowChoice, 'from' | 'to'> & { readonly start: number },
  ) => readonly (readonly [Taker, ChosenRows])[];
}

/** One who takes what is attributed; everything where no contract is asked for. */
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

/** Of each of these contracts one, who takes the events that name it. */
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
