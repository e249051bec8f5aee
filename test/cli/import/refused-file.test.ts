/** The file of refused rows: opened in a spreadsheet, where what other people's files say must not act. */

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createShell, type Reply } from '../shell.ts';
import { newDirectory } from '../../support/temporary-files.ts';

const never = async () => await new Promise<void>(() => undefined);

test('has no formula, and nothing that acts on a terminal, in the words of a reason', async () => {
  const refused = join(newDirectory(), 'refused.csv');
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

test.each([
  ['2026-02-02 00:00:00', '2\t2\t0\t\t\n', ''],
  ['soon', '2\t1\t1\t\t\n', '1 of 2 rows was refused; the others were imported; '],
])('that cannot be written any more, after a row of %s, is told beside what was done', async (time, told, words) => {
  const directory = newDirectory();
  const reply: Reply = ({ name }) => {
    if (name !== 'usage.ingestBatch') return {};
    rmSync(directory, { recursive: true, force: true });
    return { body: {} as never };
  };
  const shell = createShell({ reply, dependencies: { untilStopped: never } });
  const path = join(directory, 'refused.csv');
  const line = `import events - --event-name e --customer acme --refused ${path}`;
  const { code, stdout, stderr } = await shell.run(line, { input: `timestamp\n2026-02-01 00:00:00\n${time}\n` });
  expect([code, stdout]).toEqual([10, told]);
  expect(stderr).toContain(`tally: ${words}cannot write ${path}: the directory does not exist`);
});
