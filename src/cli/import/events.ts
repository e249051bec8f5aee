/**
 * Events from a file into a service, in batches that are accepted or refused as one. A refused row is taken out by its
 * index and reported, and the rest of its batch goes on. Repeating an import changes nothing, since rows keep their keys.
 */

import { BillingError, nounOfNamesNo, reworded } from '../../errors.ts';
import type { Answer, Billing, KnownEvents } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import { withKnownHash } from '../wire/request-hash.ts';
import { valueAt, wireText } from '../wire/rows.ts';
import type { Batch, Batches, RefusedRow } from './batches.ts';
import type { ImportedEvent } from './mapping.ts';
import type { RowUnit } from './readers.ts';

export interface ImportReport {
  /** Rows read, the header not counted. */
  readonly rows: number;
  readonly accepted: number;
  readonly refused: readonly RefusedRow[];
  /** Of the accepted ones; undefined where the service does not tell. */
  readonly known: KnownEvents | undefined;
  /** Of the accepted ones, as far as the service tells: they name a contract that does not serve at their time. */
  readonly outsideContractCount: number;
  /** False when it was stopped: rows up to `lastLine` are done, and the rest was not read. */
  readonly isComplete: boolean;
  readonly lastLine: number;
  /** What `lastLine` and the lines of refused rows count. */
  readonly unit: RowUnit;
}

export interface SendingOptions {
  /** Takes the events, or rehearses that. */
  readonly billing: Billing;
  readonly isRehearsal?: boolean;
  /** Given the events that are accepted, in the order of the file. */
  readonly onAccepted?: ((events: readonly ImportedEvent[], lines: ArrayLike<number>) => void) | undefined;
  /** Called after each batch with the bytes of input that are done. */
  readonly onProgress?: (progress: { readonly rows: number; readonly bytes: number }) => void;
  readonly signal?: AbortSignal;
}

/** Throws what stops the whole import: a file that cannot be read to its end, a service that cannot be reached. */
export async function importEvents(
  batches: Batches,
  { billing, isRehearsal = false, onAccepted, onProgress, signal }: SendingOptions,
): Promise<ImportReport> {
  let rows = 0;
  let accepted = 0;
  let known: KnownEvents | undefined = { unchanged: 0, replaced: 0 };
  let outsideContractCount = 0;
  let isBegun = false;
  let lastLine = 0;
  let unit: RowUnit = 'line';
  const refused: RefusedRow[] = [];
  const report = (isComplete: boolean) => ({
    rows,
    accepted,
    refused: sorted(refused),
    known,
    outsideContractCount,
    isComplete,
    lastLine,
    unit,
  });
  const onAnswer = ({ knownEvents: more, outsideContractCount: outside = 0 }: Told): void => {
    isBegun = true;
    known = known && more && { unchanged: known.unchanged + more.unchanged, replaced: known.replaced + more.replaced };
    outsideContractCount += outside;
  };
  try {
    for await (const batch of batches) {
      for (const row of batch.refused) refused.push(row);
      rows += batch.lines.length + batch.refused.length;
      accepted += await send(batch, { billing, onAccepted, onAnswer, refused });
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

type Told = Pick<Answer, 'knownEvents' | 'outsideContractCount'>;

interface Sending extends Pick<SendingOptions, 'billing' | 'onAccepted'> {
  /** Given what is told of each batch that was accepted. */
  readonly onAnswer: (told: Told) => void;
  readonly refused: RefusedRow[];
}

/** How many of the rows were accepted; the others are added to `refused`. */
async function send(rows: Rows, sending: Sending): Promise<number> {
  const { events, lines, requestHash } = rows;
  if (events.length === 0) return 0;
  const input: CallInput = { body: { events } };
  const withHash = requestHash === undefined ? input : withKnownHash(input, requestHash);
  try {
    sending.onAnswer(await sending.billing.call('usage.ingestBatch', withHash));
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

/** The refusal names events by index; where it names none for sure, halves are tried until the row stands alone. */
async function sendWithout(rows: Rows, error: BillingError, sending: Sending): Promise<number> {
  const { refused } = sending;
  const count = rows.events.length;
  const sendOf = async (isChosen: (index: number) => boolean) => await send(chosen(rows, isChosen), sending);
  const namesNone = error.kind === 'payloadTooLarge' || speaksOfPlaces(rows);
  const reasons = namesNone ? new Map<number, string>() : reasonsByIndex(error.message);
  // Of places that are not there none is ours: taken out, they would leave the same rows to be sent for ever.
  if (reasons.size > 0 && [...reasons.keys()].every((index) => index < count)) {
    for (const [index, reason] of reasons) {
      const [line, event] = [rows.lines[index], rows.events[index]];
      if (line !== undefined) refused.push({ line, reason: naming(reason, event) });
    }
    const rest = chosen(rows, (index) => !reasons.has(index));
    // Most of them are refused, and the first ones named: each refusal names as many again, whatever is sent with them.
    const isMostlyWrong = Number(/; and (\d+) more$/.exec(error.message)?.[1] ?? 0) > count / 2;
    const partSize = isMostlyWrong ? reasons.size : count;
    let accepted = 0;
    for (let start = 0; start < rest.events.length; start += partSize) {
      accepted += await send(
        chosen(rest, (index) => index >= start && index < start + partSize),
        sending,
      );
    }
    return accepted;
  }
  const line = rows.lines[0];
  if (count === 1 && line !== undefined) {
    refused.push({ line, reason: naming(error.message.replace(/^events\[0\]\.?/, ''), rows.events[0]) });
    return 0;
  }
  const middle = Math.ceil(count / 2);
  const first = await sendOf((index) => index < middle);
  return first + (await sendOf((index) => index >= middle));
}

/** A service does not repeat an id that it does not know; whoever looks into a file of thousands wants to know which. */
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

/** A refusal repeats names and keys of events, of which one could pass for the place of another event. */
function speaksOfPlaces({ events }: Rows): boolean {
  return JSON.stringify(events).includes('events[');
}

/** `events[3].timestamp: is too late; events[7]: …` by index, in the words of the refusal. */
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

function sorted(refused: readonly RefusedRow[]): RefusedRow[] {
  return refused.toSorted((a, b) => a.line - b.line);
}

/** What stopped the import half-way says how far it came, in the words of `done`: repeating it is safe. */
function explained(error: unknown, done: string | undefined): unknown {
  if (!(error instanceof BillingError) || done === undefined) return error;
  // True of its own transaction, and not of the import.
  const message = error.message.replace(/; nothing was changed$/, '');
  return reworded(error, `${message} (${done}; repeat the import to go on)`);
}
