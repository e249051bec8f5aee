/** Events of the files that a scenario names, by the same readers as `tally import events`. */

import { createReadStream } from 'node:fs';

import { BillingError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Answer, Billing, OperationName } from '../../operations/index.ts';
import { utcTimestamp } from '../../operations/field-rules.ts';
import { checkReadable } from '../files/files.ts';
import { importEvents } from '../import/events.ts';
import { formatOf } from '../import/input.ts';
import type { ImportedEvent } from '../import/mapping.ts';
import type { Entry } from './scenario-schema.ts';
import type { UsageEvent } from './usage-event.ts';

/** Every event of a file; `path` is where it is found. Throws for a row that is no event, with its line. */
export async function usageOfFile(
  entry: Entry<'usage'>,
  { path, index }: { readonly path: string; readonly index: number },
): Promise<UsageEvent[]> {
  checkReadable(path);
  const read: ImportedEvent[] = [];
  const { eventName, eventNameColumn, customer, customerColumn, keyColumn, timestamp: timestampColumn } = entry;
  const report = await importEvents({
    input: createReadStream(path),
    format: formatOf(path, entry.format),
    delimiter: entry.delimiter ?? ',',
    batchSize: limits.eventsPerBatch,
    billing: collector(read),
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
  const [refused] = report.refused;
  if (refused !== undefined) throw new BillingError('invalidInput', `${path}:${refused.line}: ${refused.reason}`);
  return read.map((event) => ({
    timestamp: utcTimestamp(event.timestamp) ?? event.timestamp,
    eventName: event.eventName,
    customer: event.externalCustomerId ?? '',
    contract: entry.contract,
    idempotencyKey: String(event.idempotencyKey),
    properties: event.properties,
  }));
}

/** Takes what an import sends, and keeps it. */
function collector(read: ImportedEvent[]): Billing {
  return {
    call: async <N extends OperationName>(_name: N, input: { readonly body?: unknown } = {}) => {
      read.push(...(input.body as { readonly events: readonly ImportedEvent[] }).events);
      return await Promise.resolve({ status: 202, body: {} } as Answer<N>);
    },
  };
}
