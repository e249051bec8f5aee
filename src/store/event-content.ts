/** The content of events, whichever store keeps them: when two are the same, and how a scan hands out their properties. */

import { reviveExactJson } from '../exact-json.ts';
import type { EventValue, NewEvent, ScannedEvent, StoredEvent } from './event-store.ts';

/** Whether an event that was sent equals the recorded one; ids and the time of arrival do not count. */
export function isSameEvent(previous: NewEvent, next: NewEvent): boolean {
  return (
    previous.customerId === next.customerId &&
    previous.contractId === next.contractId &&
    previous.eventName === next.eventName &&
    previous.timestampEpochMs === next.timestampEpochMs &&
    previous.propertiesJson === next.propertiesJson
  );
}

/** An event from a row whose columns have the same names in every backend; integers come as number, bigint or text. */
export function storedEvent(row: Readonly<Record<string, unknown>>): StoredEvent {
  return {
    id: row['id'] as string,
    idempotencyKey: row['idempotencyKey'] as string,
    customerId: row['customerId'] as string,
    contractId: row['contractId'] as string | null,
    eventName: row['eventName'] as string,
    timestampEpochMs: Number(row['timestampEpochMs']),
    propertiesJson: row['propertiesJson'] as string,
    receivedAtEpochMs: Number(row['receivedAtEpochMs']),
    isLate: Number(row['isLate']) === 1,
    version: Number(row['version']),
  };
}

/** The event alone, without where it and its superseded version stand. */
export function withoutPlace({
  place: _place,
  previous: _previous,
  ...event
}: StoredEvent & { readonly place?: number; readonly previous?: unknown }): StoredEvent {
  return event;
}

/** Matches numbers that JSON.parse may not print as written: with a point, an exponent, many digits, or minus zero. */
const needsExactNumbers = /\d[.eE]|\d{16}|-0/;

/** One object for all rows of a scan. */
export class ReusedEvent implements ScannedEvent {
  idempotencyKey = '';
  eventName = '';
  timestampEpochMs = 0;
  contractId: string | null = null;
  #propertiesJson = '{}';
  #properties: Readonly<Record<string, EventValue>> | undefined;

  get propertiesJson(): string {
    return this.#propertiesJson;
  }

  set propertiesJson(json: string) {
    this.#propertiesJson = json;
    this.#properties = undefined;
  }

  get properties(): Readonly<Record<string, EventValue>> {
    return (this.#properties ??= parseProperties(this.#propertiesJson));
  }
}

function parseProperties(json: string): Readonly<Record<string, EventValue>> {
  const value: unknown = needsExactNumbers.test(json) ? reviveExactJson(json) : JSON.parse(json);
  return value as Readonly<Record<string, EventValue>>;
}
