/** A recount in the plainest way: every event looked at by itself, sums as integers of 10^-40. Shares nothing with metering. */

import type { EventAggregation, NewEvent } from '../../src/store/event-store.ts';

const decimals = 40;

/** As the suite writes readings: `group/event/properties: quantity of count`. */
export function naiveReadings(events: readonly NewEvent[], request: EventAggregation): string[][] {
  const { boundsEpochMs } = request;
  const own = events.filter(
    (event) =>
      event.customerId === request.customerId &&
      !event.isLate &&
      isOfContract(event, request) &&
      isCounted(event, request),
  );
  return boundsEpochMs.slice(1).map((to, index) => {
    const from = boundsEpochMs[index] ?? 0;
    const inside = own.filter(({ timestampEpochMs }) => timestampEpochMs >= from && timestampEpochMs < to);
    const cells = Map.groupBy(inside, (event) => JSON.stringify(dimensionsOf(event, request)));
    return [...cells]
      .map(([key, cell]) => ({ key, row: rowOf(cell, request) }))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
      .flatMap(({ row }) => row ?? []);
  });
}

function textsOf(event: NewEvent): Map<string, string> {
  const members = [...event.propertiesJson.matchAll(/"(\w+)":("[^"]*"|[^,}]+)/g)];
  return new Map(members.map(([, name = '', text = '']) => [name, text.replaceAll('"', '')]));
}

function isOfContract({ contractId, timestampEpochMs }: NewEvent, { contract }: EventAggregation): boolean {
  if (contract === undefined) return true;
  if (contractId !== null) return contractId === contract.contractId;
  return contract.unassignedOutside.every(
    ({ fromEpochMs, toEpochMs }) => timestampEpochMs < fromEpochMs || timestampEpochMs >= toEpochMs,
  );
}

function isCounted(event: NewEvent, { rules }: EventAggregation): boolean {
  const { include, exclude } = rules.eventTypeFilter;
  if (include.length > 0 && !include.includes(event.eventName)) return false;
  if (exclude.includes(event.eventName)) return false;
  const texts = textsOf(event);
  return rules.propertyFilters.every(({ name, exists, include: wanted = [], exclude: unwanted = [] }) => {
    const text = texts.get(name);
    if (exists !== undefined && exists !== (text !== undefined)) return false;
    if (text === undefined) return wanted.length === 0;
    return !unwanted.includes(text) && (wanted.length === 0 || wanted.includes(text));
  });
}

function dimensionsOf(event: NewEvent, { rules, dimensions }: EventAggregation) {
  const texts = textsOf(event);
  const asked = dimensions.propertyKeys.flatMap((key) => (texts.has(key) ? [[key, texts.get(key)]] : []));
  const groups = rules.groupKeys.map((key) => [key, texts.get(key) ?? '']);
  return [dimensions.needsEventName ? event.eventName : '', asked, groups] as const;
}

function rowOf(cell: readonly NewEvent[], request: EventAggregation): string | undefined {
  const { aggregationType, aggregationKey } = request.rules;
  const values = cell.flatMap((event) => {
    if (aggregationType === 'COUNT') return 10n ** BigInt(decimals);
    return scaled(textsOf(event).get(aggregationKey ?? '')) ?? [];
  });
  const [first] = values;
  const [event] = cell;
  if (first === undefined || event === undefined) return undefined;
  const pick = {
    SUM: (a: bigint, b: bigint) => a + b,
    COUNT: (a: bigint, b: bigint) => a + b,
    MAX: (a: bigint, b: bigint) => (a > b ? a : b),
    MIN: (a: bigint, b: bigint) => (a < b ? a : b),
  }[aggregationType];
  const [name, asked, groups] = dimensionsOf(event, request);
  const group = groups.map(([, text]) => text).join(',');
  return `${group}/${name}/${asked.join(',')}: ${plain(values.slice(1).reduce(pick, first))} of ${values.length}`;
}

/** A number of the suite's stories, in units of 10^-40; undefined for anything else. */
function scaled(text: string | undefined): bigint | undefined {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:e(-?\d+))?$/.exec(text ?? '');
  if (parts === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  return BigInt(`${sign}${whole}${fraction}`) * 10n ** BigInt(decimals - fraction.length + Number(exponent));
}

function plain(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const text = `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`.replace(/\.?0+$/, '');
  return value < 0n ? `-${text}` : text;
}
