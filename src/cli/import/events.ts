/**
 * Sends events from a file to a service, in batches that are accepted or refused as a whole. A refused row is taken out by its
 * index and reported, and the rest of its batch is sent again. Repeating an import changes nothing, because rows keep their
 * keys.
 */

import type { KnownEvents } from '../../answer-facts.ts';
import { BillingError, nounOfNamesNo, reasonOfStop, reworded } from '../../errors.ts';
import type { Answer, Billing } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import { withKnownHash } from '../wire/request-hash.ts';
import { type OnWait, throughOutage } from '../session/patiently.ts';
import { valueAt, wireText } from '../wire/rows.ts';
import type { Batch, Batches, RefusedRow } from './batches.ts';
import type { ImportedEvent } from './mapping.ts';
import type { RowUnit } from './readers.ts';

export interface ImportReport {
  /** Rows read, without the header. */
  readonly rows: number;
  readonly accepted: number;
  readonly refused: readonly RefusedRow[];
  /** Those accepted that the service knew already; undefined if it does not tell. */
  readonly known: KnownEvents | undefined;
  /** Those accepted that name a contract that does not serve at their time, as far as the service tells. */
  readonly outsideContractCount: number;
  /** Those accepted that came after their period was finalized, as far as the service tells. */
  readonly lateCount: number;
  /** False if it was stopped: rows up to `lastLine` are done, and the rest was not read. */
  readonly isComplete: boolean;
  readonly lastLine: number;
  /** What `lastLine` and the lines of refused rows count. */
  readonly unit: RowUnit;
}

export interface SendingOptions {
  /** The service that takes the events, or rehearses that. */
  readonly billing: Billing;
  readonly isRehearsal?: boolean;
  /** Called with the events that are accepted, in the order of the file. */
  readonly onAccepted?: ((events: readonly ImportedEvent[], lines: ArrayLike<number>) => void) | undefined;
  /** Called after each batch with the bytes of input that are done. */
  readonly onProgress?: (progress: { readonly rows: number; readonly bytes: number }) => void;
  readonly signal?: AbortSignal;
  /** Called before a batch without an answer, or beyond the rate, is sent again; without it, none is. */
  readonly onWait?: OnWait | undefined;
}

/** Throws what stops the whole import: a file that cannot be read to the end, a service that cannot be reached. */
export async function importEvents(
  batches: Batches,
  { billing, isRehearsal = false, onAccepted, onProgress, signal, onWait }: SendingOptions,
): Promise<ImportReport> {
  let rows = 0;
  let accepted = 0;
  let known: KnownEvents | undefined = { unchanged: 0, replaced: 0 };
  let outsideContractCount = 0;
  let lateCount = 0;
  let isBegun = false;
  let lastLine = 0;
  let unit: RowUnit = 'line';
  const refused: RefusedRow[] = [];
  const report = (isComplete: boolean) => ({
    rows,
    accepted,
    refused: refused.toSorted((one, other) => one.line - other.line),
    known,
    outsideContractCount,
    lateCount,
    isComplete,
    lastLine,
    unit,
  });
  const onAnswer = ({ knownEvents: more, outsideContractCount: outside = 0, lateCount: late = 0 }: Told): void => {
    isBegun = true;
    known = known && more && { unchanged: known.unchanged + more.unchanged, replaced: known.replaced + more.replaced };
    outsideContractCount += outside;
    lateCount += late;
  };
  try {
    for await (const batch of batches) {
      for (const row of batch.refused) refused.push(row);
      rows += batch.lines.length + batch.refused.length;
      accepted += await send(batch, { billing, onAccepted, onAnswer, refused, onWait, signal });
      ({ lastLine, unit } = batch);
      if (batch.isRest) continue;
      onProgress?.({ rows, bytes: batch.bytes });
      if (signal?.aborted === true) return report(false);
    }
  } catch (error) {
    const begun = isBegun ? 'a part is done' : undefined;
    throw isRehearsal ? error : explained(error, lastLine === 0 ? begun : `${unit}s up to ${lastLine} are done`);
  }
  return report(true);
}

type Rows = Pick<Batch, 'events' | 'lines' | 'requestHash'>;

type Told = Pick<Answer, 'knownEvents' | 'outsideContractCount' | 'lateCount'>;

interface Sending extends Pick<SendingOptions, 'billing' | 'onAccepted' | 'onWait'> {
  readonly signal: AbortSignal | undefined;
  /** Called with what the service tells of each accepted batch. */
  readonly onAnswer: (told: Told) => void;
  readonly refused: RefusedRow[];
}

/** Returns how many rows were accepted; the others are added to `refused`. */
async function send(rows: Rows, sending: Sending): Promise<number> {
  const { events, lines, requestHash } = rows;
  if (events.length === 0) return 0;
  const input: CallInput = { body: { events } };
  const withHash = requestHash === undefined ? input : withKnownHash(input, requestHash);
  const { billing, onWait, signal } = sending;
  const call = async () => await billing.call('usage.ingestBatch', withHash);
  try {
    sending.onAnswer(await (onWait === undefined ? call() : throughOutage(call, { onWait, signal })));
  } catch (error) {
    if (!(error instanceof BillingError) || !isAboutRows(error)) throw error;
    return await sendWithout(rows, error, sending);
  }
  sending.onAccepted?.(events, lines);
  return events.length;
}

function isAboutRows(error: BillingError): boolean {
  return error.kind === 'invalidInput' || error.kind === 'conflict' || error.kind === 'payloadTooLarge';
}

/** About as many refusals as a part of a batch is expected to take until all of its wrong rows are named. */
const refusalsPerPart = 5;

/** The refusal names events by index. If it does not surely name one, halves are sent until the row is alone. */
async function sendWithout(rows: Rows, error: BillingError, sending: Sending): Promise<number> {
  const { refused } = sending;
  const count = rows.events.length;
  const namesNone = error.kind === 'payloadTooLarge' || speaksOfPlaces(rows);
  const reasons = namesNone ? new Map<number, string>() : reasonsByIndex(error.message);
  // An index outside the batch is not ours: without this check the same rows would be sent forever.
  if (reasons.size > 0 && [...reasons.keys()].every((index) => index < count)) {
    for (const [index, reason] of reasons) {
      const [line, event] = [rows.lines[index], rows.events[index]];
      if (line !== undefined) refused.push({ line, reason: naming(reason, event) });
    }
    const rest = chosen(rows, (index) => !reasons.has(index));
    // If most rows are refused and only the first are named, each refusal names as many again, however many are sent. If fewer
    // are, whole batches would be sent again and again, and small parts would take many more requests.
    const others = Number(/; and (\d+) more$/.exec(error.message)?.[1] ?? 0);
    const parts = Math.max(1, Math.floor(others / reasons.size / refusalsPerPart));
    return await sendInParts(rest, others > count / 2 ? reasons.size : Math.ceil(count / parts), sending);
  }
  const line = rows.lines[0];
  if (count === 1 && line !== undefined) {
    const reason = error.message.replace(/^events\[0\](?:\.|: )?/, '').replaceAll('; events[0].', '; ');
    refused.push({ line, reason: naming(reason, rows.events[0]) });
    return 0;
  }
  return await sendInParts(rows, Math.ceil(count / 2), sending);
}

async function sendInParts(rows: Rows, partSize: number, sending: Sending): Promise<number> {
  let accepted = 0;
  for (let start = 0; start < rows.events.length; start += partSize) {
    const isOfPart = (index: number) => index >= start && index < start + partSize;
    accepted += await send(chosen(rows, isOfPart), sending);
  }
  return accepted;
}

/** Adds the id: a service does not repeat an id that it does not know, and in a file of thousands the person needs it. */
function naming(reason: string, event: ImportedEvent | undefined): string {
  const [, field = '', message = ''] = /^(customerId|externalCustomerId|contractId): (.*)$/.exec(reason) ?? [];
  const id = wireText(valueAt(event, field));
  return nounOfNamesNo(message) === undefined || id === '' ? reason : `${reason}: ${id}`;
}

function chosen({ events, lines }: Rows, isChosen: (index: number) => boolean): Rows {
  return {
    events: events.filter((_event, index) => isChosen(index)),
    lines: Array.from(lines).filter((_line, index) => isChosen(index)),
  };
}

/** A refusal repeats names and keys of events, which could be mistaken for the index of another event. */
function speaksOfPlaces({ events }: Rows): boolean {
  return JSON.stringify(events).includes('events[');
}

/** The reasons in `events[3].timestamp: is too late; events[7]: …` by index, in the words of the refusal. */
function reasonsByIndex(message: string): Map<number, string> {
  const reasons = new Map<number, string>();
  for (const match of message.matchAll(/events\[(\d+)\]\.?(.*?)(?=; events\[|(?:; and \d+ more)?$)/gs)) {
    const index = Number(match[1]);
    const words = (match[2] ?? '').replace(/^: /, '');
    const earlier = reasons.get(index);
    reasons.set(index, earlier === undefined ? words : `${earlier}; ${words}`);
  }
  return reasons;
}

/** Adds `done`, how far the import came before it was stopped: repeating it is safe. */
function explained(error: unknown, done: string | undefined): unknown {
  if (!(error instanceof BillingError) || done === undefined) return error;
  return reworded(error, `${reasonOfStop(error)} (${done}; repeat the import to go on)`);
}
