/**
 * The events that everything is measured with: a pure function of (i, count), the same in every run and on every machine.
 * One organization; 1,000 customers, of which the k-th has a share proportional to 1/k (the first some 13 %); five event names;
 * 90 days in order of time; eight models and six regions; whole tokens, and seconds with three decimals; random keys.
 */

export const customerCount = 1_000;
export const eventNames = ['chat', 'embed', 'search', 'speech', 'vision'] as const;
export const firstDay = Date.UTC(2026, 0, 1);
export const days = 90;
export const millisecondsPerDay = 86_400_000;

export interface EventData {
  readonly key: string;
  /** From 0, the largest customer. */
  readonly customer: number;
  readonly eventName: (typeof eventNames)[number];
  readonly timestampEpochMs: number;
  readonly properties: {
    readonly cache: 'hit' | 'miss';
    readonly model: string;
    readonly region: string;
    readonly seconds: number;
    readonly tokens: number;
  };
}

/** The i-th of `count` events. */
export function eventAt(i: number, count: number): EventData {
  const place = mixed(i, 1);
  const facts = mixed(i, 2);
  return {
    key: [3, 4, 5].map((salt) => mixed(i, salt).toString(36).padStart(7, '0')).join('-'),
    customer: customerAt(place / 2 ** 32),
    eventName: eventNames[facts % 5] ?? 'chat',
    timestampEpochMs: firstDay + Math.floor((i / count) * days * millisecondsPerDay),
    properties: {
      cache: (facts >>> 4) % 7 === 0 ? 'hit' : 'miss',
      model: `model-${(facts >>> 8) % 8}`,
      region: `region-${(facts >>> 12) % 6}`,
      seconds: (mixed(i, 6) % 60_000) / 1000,
      tokens: mixed(i, 7) % 5_000,
    },
  };
}

export const customerName = (customer: number): string => `customer-${String(customer).padStart(4, '0')}`;

/** The i-th event in the form of the interface. */
export function sentEventAt(i: number, count: number) {
  const { key, customer, eventName, timestampEpochMs, properties } = eventAt(i, count);
  const timestamp = new Date(timestampEpochMs).toISOString();
  return { eventName, externalCustomerId: customerName(customer), idempotencyKey: key, timestamp, properties };
}

/** A 32-bit integer that nobody can tell from a random one, by a mix with full avalanche. */
function mixed(i: number, salt: number): number {
  let mix = Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(salt, 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 16), 0x21f0aaad);
  mix = Math.imul(mix ^ (mix >>> 15), 0x735a2d97);
  return (mix ^ (mix >>> 15)) >>> 0;
}

/** The share of customers 0 to k, for each k. */
const shares = Array.from({ length: customerCount }, (_, k) => 1 / (k + 1));
const whole = shares.reduce((sum, share) => sum + share, 0);
let soFar = 0;
const cumulated = shares.map((share) => (soFar += share / whole));

function customerAt(fraction: number): number {
  let low = 0;
  let high = customerCount - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cumulated[middle] ?? 1) <= fraction) low = middle + 1;
    else high = middle;
  }
  return low;
}
