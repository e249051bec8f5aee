import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { moneyText } from '../../../src/cli/wire/rows.ts';
import { safe } from '../../../src/cli/terminal/safe-text.ts';
import { stepLines } from '../../../src/cli/charts/steps.ts';
import type { Step } from '../../../src/cli/charts/steps.ts';
import { textWidth } from '../../../src/cli/charts/text-width.ts';

const day = (date: string) => Temporal.Instant.from(`${date}T00:00:00Z`).epochMilliseconds;
const chart = (steps: readonly Step[], more = {}) => ({
  opening: 0n,
  steps,
  fromEpochMs: day('2026-03-01'),
  toEpochMs: day('2026-03-21'),
  label: moneyText,
  ...more,
});
const style = { width: 32, hasUnicode: false, hasColor: false };
const spent = [
  { atEpochMs: day('2026-03-01'), level: 5000n },
  { atEpochMs: day('2026-03-06'), level: 4000n },
  { atEpochMs: day('2026-03-16'), level: 1250n },
];

describe('a balance over time', () => {
  test('goes down where credits are drawn, in plain ASCII', async () => {
    expect(await stepLines(chart(spent), style)).toEqual([
      '50.00 USD |-----+',
      '40.00 USD |     +---------+',
      '30.00 USD |               |',
      '20.00 USD |               |',
      '10.00 USD |               +-----',
      ' 0.00 USD |',
      '          2026-03-01  2026-03-21',
    ]);
  });

  test('is drawn with lines and corners where there is Unicode', async () => {
    expect(await stepLines(chart(spent), { ...style, hasUnicode: true })).toEqual([
      '50.00 USD ┤─────╮',
      '40.00 USD ┤     ╰─────────╮',
      '30.00 USD ┤               │',
      '20.00 USD ┤               │',
      '10.00 USD ┤               ╰─────',
      ' 0.00 USD ┤',
      '          2026-03-01  2026-03-21',
    ]);
  });

  test('below nothing is drawn below zero', async () => {
    expect(await stepLines(chart([{ atEpochMs: day('2026-03-11'), level: -30n }], { opening: 20n }), style)).toEqual([
      ' 0.20 USD |----------+',
      ' 0.10 USD |          |',
      ' 0.00 USD |          |',
      '-0.10 USD |          |',
      '-0.20 USD |          |',
      '-0.30 USD |          +----------',
      '          2026-03-01  2026-03-21',
    ]);
  });

  test('that never moves is one line', async () => {
    expect(await stepLines(chart([], { opening: 0n }), style)).toEqual([
      '0.00 USD |----------------------',
      '         2026-03-01   2026-03-21',
    ]);
  });

  test('has no picture where a line would have less than ten columns', async () => {
    expect(await stepLines(chart(spent), { ...style, width: 20 })).toEqual([]);
    expect(await stepLines(chart(spent), { ...style, width: 21 })).not.toEqual([]);
  });

  test('labels every row with an exact amount, however large', async () => {
    const lines = await stepLines(chart([{ atEpochMs: day('2026-03-02'), level: 900_719_925_474_099_301n }]), {
      ...style,
      width: 60,
    });
    expect(lines.slice(0, 2).map((line) => line.slice(0, 24))).toEqual([
      '10000000000000000.00 USD',
      ' 8000000000000000.00 USD',
    ]);
  });

  test('never goes beyond the width, whatever it is', async () => {
    const level = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n });
    const step = fc.record({ atEpochMs: fc.integer({ min: day('2026-01-01'), max: day('2027-01-01') }), level });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 20 }),
        level,
        fc.integer({ min: 1, max: 200 }),
        fc.boolean(),
        async (steps, opening, width, hasUnicode) => {
          const sorted = steps.toSorted((one, other) => one.atEpochMs - other.atEpochMs);
          const lines = await stepLines(chart(sorted, { opening }), { width, hasUnicode, hasColor: false });
          for (const line of lines) expect(textWidth(safe(line))).toBeLessThanOrEqual(width);
        },
      ),
    );
  });
});
