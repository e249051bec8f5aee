/** Events of the files that a scenario names, read as `tally import events` reads them. */

import { BillingError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { utcTimestamp } from '../../operations/field-rules.ts';
import { didYouMean } from '../did-you-mean.ts';
import { checkReadable } from '../files/files.ts';
import { readFileBatches } from '../import/batches.ts';
import { formatOf } from '../import/input.ts';
import type { Entry } from './scenario-schema.ts';
import type { UsageEvent } from './usage-event.ts';

export interface UsageFile {
  /** Where it is found. */
  readonly path: string;
  /** Its place among the usage of the scenario. */
  readonly index: number;
  /** Ids of the scenario, which its events may name. */
  readonly customers: ReadonlySet<string>;
  readonly contracts: ReadonlySet<string>;
}

/**
 * Every event of a file. What the entry says of customer and contract holds for all of them. Throws BillingError `invalidInput`,
 * with the line, for a row that is not an event, or that names what the scenario does not have.
 */
export async function* usageOfFile(
  entry: Entry<'usage'>,
  { path, index, customers, contracts }: UsageFile,
): AsyncGenerator<UsageEvent> {
  checkReadable(path);
  const { eventName, eventNameColumn, customer, customerColumn, keyColumn, timestamp: timestampColumn } = entry;
  const batches = readFileBatches(path, {
    format: formatOf(path, entry.format),
    delimiter: entry.delimiter ?? ',',
    batchSize: limits.eventsPerBatch,
    mapping: {
      eventName,
      eventNameColumn,
      customer,
      customerColumn,
      contractId: entry.contract,
      timestampColumn,
      keyColumn,
      timeZone: entry.timeZone ?? 'UTC',
      properties: entry.property ?? [],
      constants: entry.set,
      source: String(index),
    },
  });
  for await (const { events, lines, refused } of batches) {
    const [first] = refused;
    if (first !== undefined) throw new BillingError('invalidInput', `${path}:${first.line}: ${first.reason}`);
    for (const [place, event] of events.entries()) {
      const line = lines[place];
      const at = `${path}:${line}`;
      const isInternal = event.customerId !== undefined;
      const customerId = isInternal ? event.customerId : event.externalCustomerId;
      const customerField = isInternal ? 'customerId' : (customerColumn ?? 'externalCustomerId');
      yield {
        index,
        line,
        timestamp: utcTimestamp(event.timestamp) ?? event.timestamp,
        eventName: event.eventName,
        customer: known(customerId, customers, `${at}: ${customerField}: there is no customer`),
        contract:
          event.contractId === undefined
            ? undefined
            : known(event.contractId, contracts, `${at}: contractId: there is no contract`),
        idempotencyKey: String(event.idempotencyKey),
        properties: event.properties,
      };
    }
  }
}

/** An id of the scenario. A file from a service names its ids, which would otherwise bill another contract without a word. */
function known(id: unknown, ids: ReadonlySet<string>, words: string): string {
  if (typeof id === 'string' && ids.has(id)) return id;
  const name = typeof id === 'string' && id !== '' ? id : JSON.stringify(id);
  const others = `its ids are ${[...ids].join(', ') || 'none'}; customer and contract beside file hold for every event`;
  throw new BillingError('invalidInput', `${words} ${name} in the scenario`, {
    hint: didYouMean(name, [...ids], others),
  });
}
