/** Texts in the cells of a table: how much of them is shown, and where. */

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { table } from '../../../src/cli/output/table.ts';
import { safe } from '../../../src/cli/terminal/safe-text.ts';

/** The lines below the header of a table with one column, on a terminal that is so wide. */
function linesOf(names: readonly string[], format: 'text' | 'number', columns: number): string[] {
  const column = { header: 'NAME', path: 'name', format };
  const found = { rows: names.map((name) => ({ name })), isList: true };
  const stdout = { isTerminal: true, hasColor: false, hasUnicode: true, columns };
  return table({}, { rows: '', columns: [column] }, { found, columns: [column], stdout })
    .split('\n')
    .slice(1, -1);
}

test.each([
  ['Ada Lovelace', 'Ada Lovel…'],
  ['Ada Lovela', 'Ada Lovela'],
  ['株式会社株式会社', '株式会社…'],
  ['a株式会社株式会社', 'a株式会社…'],
  ['😀'.repeat(6), `${'😀'.repeat(4)}…`],
  ['👩‍👩‍👧'.repeat(6), `${'👩‍👩‍👧'.repeat(4)}…`],
  ['🇩🇪'.repeat(6), `${'🇩🇪'.repeat(4)}…`],
  ['e\u0301'.repeat(20), `${'e\u0301'.repeat(9)}…`],
  ['ｱ'.repeat(20), `${'ｱ'.repeat(9)}…`],
])('%s keeps in ten columns only whole characters', (name, shown) => {
  expect(linesOf([name], 'text', 10)).toEqual([shown]);
});

const bits = ['', 'a', 'Ada ', '0', '…', 'é', '株', '😀', 'ｱ', '\u001b[31m', '\n'];
/** Of characters that are safe to print. */
const columnsOf = (text: string) => [...text].reduce((sum, each) => sum + ('株😀'.includes(each) ? 2 : 1), 0);
const texts = fc.array(fc.constantFrom(...bits), { maxLength: 12 });

/** Numbers are never cut. */
test.each([
  ['text', 24],
  ['number', 160],
] as const)('a %s shows as much as there is room for, on its side', (format, room) => {
  const widest = '9'.repeat(room);
  fc.assert(
    fc.property(texts, (some) => {
      const [line = ''] = linesOf([some.join(''), widest], format, room);
      const whole = safe(some.join(''));
      if (columnsOf(whole) <= room) {
        const space = ' '.repeat(room - columnsOf(whole));
        expect(line).toBe((format === 'number' ? `${space}${whole}` : whole).trimEnd());
      } else {
        expect([line.at(-1), whole.startsWith(line.slice(0, -1))]).toEqual(['…', true]);
        expect([room - 1, room]).toContain(columnsOf(line));
      }
    }),
  );
});
