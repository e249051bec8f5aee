/** The file of refused rows: opened in a spreadsheet, where what other people's files say must not act. */

import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createShell } from '../shell.ts';

test('has no formula, and nothing that acts on a terminal, in the words of a reason', async () => {
  const refused = join(mkdtempSync(join(tmpdir(), 'tally-refused-')), 'refused.csv');
  const fields = ['=HYPERLINK("http://evil.example")', '+1', '\u001b[2J'];
  const lines = fields.map((field) =>
    JSON.stringify({
      eventName: 'request',
      externalCustomerId: 'acme',
      timestamp: '2026-02-01T00:00:00Z',
      properties: {},
      [field]: 1,
    }),
  );
  const { code } = await createShell().run(['import', 'events', '-', '--refused', refused], {
    input: `${lines.join('\n')}\n`,
  });
  expect([code, readFileSync(refused, 'utf8')]).toEqual([
    10,
    `line,reason
1,"'=HYPERLINK(""http://evil.example""): unknown field"
2,"'+1: unknown field"
3,"\\u{1b}[2J: unknown field"
`,
  ]);
});
