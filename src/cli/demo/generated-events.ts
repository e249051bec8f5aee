/** Invented usage: requests to a language-model service, the same for the same seed. */

import { timestampOf } from '../../operations/field-rules.ts';
import { createRandom, pick } from '../seeded-random.ts';

export interface GeneratedUsage {
  readonly seed: number;
  readonly rows: number;
  /** First instant, inclusive, and last, exclusive. */
  readonly from: Temporal.Instant;
  readonly to: Temporal.Instant;
  readonly customers: readonly string[];
}

const generatedHeader = 'TIMESTAMP,Customer,Model,ContextTokens,GeneratedTokens';

const models = [
  { name: 'small', share: 60, scale: 1 },
  { name: 'medium', share: 30, scale: 2 },
  { name: 'large', share: 10, scale: 5 },
] as const;

/** A CSV file in order of time. The first customer uses most, the next half as much, and so on. */
export function generateEvents(usage: GeneratedUsage): string {
  const random = createRandom(usage.seed);
  const span = usage.to.epochMilliseconds - usage.from.epochMilliseconds;
  const step = Math.floor(span / usage.rows);
  const lines = [generatedHeader];
  for (let row = 0; row < usage.rows; row += 1) {
    const at = usage.from.epochMilliseconds + row * step + random(step);
    const customer = pick(
      usage.customers,
      usage.customers.map((_name, index) => 2 ** (usage.customers.length - index)),
      random,
    );
    const model = pick(
      models,
      models.map((each) => each.share),
      random,
    );
    const context = 50 + random(900 * model.scale);
    const generated = 10 + random(400 * model.scale);
    const timestamp = timestampOf(Temporal.Instant.fromEpochMilliseconds(at));
    lines.push([timestamp, customer, model.name, context, generated].join(','));
  }
  return `${lines.join('\n')}\n`;
}
