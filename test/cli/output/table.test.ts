/** The cells of a table against those that the library draws, which is slow. */

import Table from 'cli-table3';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { table } from '../../../src/cli/output/table.ts';
import { safe } from '../../../src/cli/terminal/safe-text.ts';

const bits = ['', 'a', 'Ada Lovelace ', '0', '…', 'é', '株式会社', '😀', 'ｱ', '\u001b[31m', '\n', '\ud83d'];
const texts = fc.array(fc.constantFrom(...bits), { maxLength: 6 }).map((some) => some.join(''));
/** So wide that texts are cut, and numbers, which are not, have room to their left. */
const widest = '9'.repeat(60);

test.each([
  { format: 'text', side: 'left', columns: 10 },
  { format: 'text', side: 'left', columns: 25 },
  { format: 'number', side: 'right', columns: 60 },
] as const)('a $format in $columns columns is cut and aligned as by the library', ({ format, side, columns }) => {
  const column = { header: 'NAME', path: 'name', format };
  const stdout = { isTerminal: true, hasColor: false, hasUnicode: true, columns };
  fc.assert(
    fc.property(fc.array(texts), (some) => {
      const names = [...some, widest];
      const found = { rows: names.map((name) => ({ name })), isList: true };
      const drawn = table({}, { rows: '', columns: [column] }, { found, columns: [column], stdout });
      const expected = [column.header, ...names].map((name) => byLibrary(safe(name), { side, columns }).trimEnd());
      expect(drawn.split('\n')).toEqual([...expected, '']);
    }),
  );
});

test.each([
  ['😀'.repeat(6), `${'😀'.repeat(4)}…`],
  ['👩‍👩‍👧'.repeat(6), `${'👩‍👩‍👧'.repeat(4)}…`],
  ['e\u0301'.repeat(20), `${'e\u0301'.repeat(9)}…`],
])('%s keeps in ten columns only whole characters', (name, shown) => {
  const column = { header: 'NAME', path: 'name' };
  const view = { rows: '', columns: [column] };
  const found = { rows: [{ name }], isList: true };
  const stdout = { isTerminal: true, hasColor: false, hasUnicode: true, columns: 10 };
  expect(table({}, view, { found, columns: [column], stdout })).toBe(`NAME\n${shown}\n`);
});

function byLibrary(text: string, { side, columns }: { readonly side: 'left' | 'right'; readonly columns: number }) {
  const drawing = new Table({
    chars: { left: '', right: '', top: '', bottom: '' },
    colAligns: [side],
    colWidths: [columns],
    style: { border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  drawing.push([text]);
  // Half a character, where the library cuts one.
  return drawing.toString().replaceAll(/[┌┐└┘\n]|[\ud800-\udbff](?![\udc00-\udfff])/g, '');
}
