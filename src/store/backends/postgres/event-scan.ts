/** Events in PostgreSQL that match a request: its conditions, and a walk through the rows in pages of one snapshot. */

import type { Transaction } from '../../database.ts';
import { ReusedEvent } from '../../event-content.ts';
import type { EventScan, ScannedEvent } from '../../event-store.ts';
import { type RawRow, rowsOfText } from '../../raw-query.ts';
import { nextLimit, scannedBytes, scannedRows } from '../scan-pages.ts';

/** A WHERE clause under construction: its texts, and the values of its numbered parameters. */
export class Conditions {
  readonly texts: string[] = [];
  readonly values: unknown[] = [];

  /** `text` has a `?` for each value. */
  add(text: string, ...values: unknown[]): void {
    this.texts.push(
      text.replaceAll('?', () => {
        this.values.push(values.shift());
        return `$${this.values.length}`;
      }),
    );
  }

  toString(): string {
    return this.texts.join(' AND ');
  }
}

/** As `EventStore.scan`. */
export async function scan(tx: Transaction, request: EventScan, onEvent: (event: ScannedEvent) => void): Promise<void> {
  const { fromEpochMs, withKeys = false } = request;
  await scanWhere(tx, { conditions: scanConditions(request), fromEpochMs, withKeys }, onEvent);
}

interface ScannedRows {
  readonly conditions: Conditions;
  /** No row that fulfils them is earlier. */
  readonly fromEpochMs: number;
  readonly withKeys: boolean;
}

/** Pages by key, not by offset: each page begins after the last row of the one before. */
export async function scanWhere(
  tx: Transaction,
  { conditions, fromEpochMs, withKeys }: ScannedRows,
  onEvent: (event: ScannedEvent) => void,
): Promise<void> {
  const from = conditions.values.length;
  const columns = `"eventName", "timestampEpochMs", "contractId", "propertiesJson", "seq"${withKeys ? ', "idempotencyKey"' : ''}`;
  const text = `SELECT ${columns}, "before" FROM (
      SELECT ${columns}, sum(octet_length("propertiesJson")) OVER (ORDER BY "timestampEpochMs", "seq"
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS "before"
      FROM "events" WHERE ${conditions} AND ("timestampEpochMs", "seq") > ($${from + 1}, $${from + 2})
      ORDER BY "timestampEpochMs", "seq" LIMIT $${from + 3}
    ) AS "page" WHERE "before" IS NULL OR "before" < ${scannedBytes} ORDER BY "timestampEpochMs", "seq"`;
  const event = new ReusedEvent();
  // The server begins to look at this place in its index, whatever the conditions say of times.
  let behind: readonly unknown[] = [fromEpochMs, -1];
  for (let limit: number | undefined = scannedRows; limit !== undefined;) {
    const rows: readonly RawRow[] = await rowsOfText(tx, text, [...conditions.values, ...behind, limit]);
    for (const row of rows) {
      event.idempotencyKey = (row['idempotencyKey'] as string | undefined) ?? '';
      event.eventName = row['eventName'] as string;
      event.timestampEpochMs = Number(row['timestampEpochMs']);
      event.contractId = row['contractId'] as string | null;
      event.propertiesJson = row['propertiesJson'] as string;
      onEvent(event);
    }
    const last = rows.at(-1);
    behind = [last?.['timestampEpochMs'], last?.['seq']];
    limit = nextLimit(limit, {
      rowCount: rows.length,
      bytes: Number(last?.['before'] ?? 0) + Buffer.byteLength((last?.['propertiesJson'] as string | undefined) ?? ''),
    });
  }
}

/** The conditions that select the events of a request. */
export function scanConditions(request: EventScan): Conditions {
  const conditions = new Conditions();
  const { orgId, customerId, fromEpochMs, toEpochMs, eventNames = [], excludedEventNames = [], contract } = request;
  conditions.add('"orgId" = ? AND "customerId" = ?', orgId, customerId);
  conditions.add('"timestampEpochMs" >= ? AND "timestampEpochMs" < ?', fromEpochMs, toEpochMs);
  if (eventNames.length > 0) conditions.add('"eventName" = ANY(?::text[])', eventNames);
  if (excludedEventNames.length > 0) conditions.add('"eventName" <> ALL(?::text[])', excludedEventNames);
  if (contract !== undefined) {
    const outside = contract.unassignedOutside.map(
      () => ' AND NOT ("timestampEpochMs" >= ? AND "timestampEpochMs" < ?)',
    );
    const bounds = contract.unassignedOutside.flatMap((taken) => [taken.fromEpochMs, taken.toEpochMs]);
    const text = `("contractId" = ? OR ("contractId" IS NULL${outside.join('')}))`;
    conditions.add(text, contract.contractId, ...bounds);
  }
  conditions.add('"isLate" = 0');
  return conditions;
}
