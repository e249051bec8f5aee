/** Events of the files that a scenario names, read as `tally import events` reads them. */

import { createReadStream } from 'node:fs';

import { BillingError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { utcTimestamp } from '../../operations/field-rules.ts';
import { checkReadable } from '../files/files.ts';
import { readBatches } from '../import/batches.ts';
import { formatOf } from '../import/input.ts';
import type { ImportedEvent } from '../import/mapping.ts';
import type { Entry } from './scenario-schema.ts';
import type { UsageEvent } from './usage-event.ts';

/** Every event of a file; `path` is where it is found. Throws for a row that is not an event, with its line. */
export async function usageOfFile(
  entry: Entry<'usage'>,
  { path, index }: { readonly path: string; readonly index: number },
): Promise<UsageEvent[]> {
  checkReadable(path);
  const read: ImportedEvent[] = [];
  const { eventName, eventNameColumn, customer, customerColumn, keyColumn, timestamp: timestampColumn } = entry;
  const batches = readBatches(createReadStream(path), {
    format: formatOf(path, entry.format),
    delimiter: entry.delimiter ?? ',',
    batchSize: limits.eventsPerBatch,
    mapping: {
      eventName,
      eventNameColumn,
      customer,
      customerColumn,
      timestampColumn,
      keyColumn,
      timeZone: entry.timeZone ?? 'UTC',
      properties: entry.property ?? [],
      constants: entry.set,
      source: String(index),
    },
  });
  for await (const { events, refused } of batches) {
    const [first] = refused;
    if (first !== undefined) throw new BillingError('invalidInput', `${path}:${first.line}: ${first.reason}`);
    read.push(...events);
  }
  return read.map((event) => ({
    timestamp: utcTimestamp(event.timestamp) ?? event.timestamp,
    eventName: event.eventName,
    customer: event.externalCustomerId ?? '',
    contract: entry.contract,
    idempotencyKey: String(event.idempotencyKey),
    properties: event.properties,
  }));
}
