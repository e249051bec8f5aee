/** Texts that are not UTF-8, which spreadsheets still write. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createShell } from '../shell.ts';

test.each([
  [
    'import events FILE --event-name e --customer acme',
    'PK\u0003\u0004',
    'it is a workbook or an archive: save the sheet as CSV',
  ],
  ['credits grant --from FILE', 'PK\u0003\u0004', 'it is a workbook or an archive: save the sheet as CSV'],
  ['credits grant --from FILE', '\xd0\xcf\x11\xe0', 'it is a workbook or an archive: save the sheet as CSV'],
  ['credits grant --from FILE', '\x1f\x8b', 'it is compressed: unpack it with: gunzip -c FILE'],
  ['credits grant --from FILE', '\x28\xb5\x2f\xfd', 'it is compressed: unpack it with: zstd -dc FILE'],
])('a file that is no text is not taken for one of another encoding: %s, %j', async (line, magic, words) => {
  const shell = createShell();
  const file = join(shell.home, 'grants.xlsx');
  writeFileSync(file, Buffer.from(`${magic}\x08\0\xff`, 'latin1'));
  const { stderr } = await shell.run(line.replace('FILE', file));
  expect(stderr).toContain(`is not UTF-8 text\n  hint: ${words}`);
});

test.each([
  [true, 'latin1', 'WINDOWS-1252'],
  [false, 'latin1', 'WINDOWS-1252'],
  [true, 'utf16le', 'UTF-16'],
  [false, 'utf16le', 'UTF-16'],
  [true, 'utf16le without its mark', 'UTF-16LE'],
  [false, 'utf16le without its mark', 'UTF-16LE'],
  [true, 'utf16be without its mark', 'UTF-16BE'],
  [false, 'utf16be without its mark', 'UTF-16BE'],
] as const)(
  'text of another encoding is told how to be mended, in an import and in a list of grants: %s, %s',
  async (isImport, encoding, name) => {
    const shell = createShell();
    const file = join(shell.home, 'old.csv');
    const mark = encoding === 'utf16le' ? '\uFEFF' : '';
    const text = `${mark}timestamp,city\n2026-02-01 00:00:00,K\xf6ln\n`;
    const bytes = Buffer.from(text, encoding === 'latin1' ? 'latin1' : 'utf16le');
    writeFileSync(file, encoding.startsWith('utf16be') ? bytes.swap16() : bytes);
    const words = isImport
      ? ['import', 'events', file, '--event-name', 'e', '--customer', 'acme']
      : ['credits', 'grant', '--from', file];
    const { stderr } = await shell.run(words);
    expect(stderr).toContain(
      `is not UTF-8 text\n  hint: save it as UTF-8, or convert it with: iconv -f ${name} -t UTF-8`,
    );
  },
);
