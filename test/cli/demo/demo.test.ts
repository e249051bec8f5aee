import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { generateEvents } from '../../../src/cli/demo/generated-events.ts';
import { createStage } from '../../support/stage.ts';
import { newDirectory } from '../../support/temporary-files.ts';

async function demo(
  ...words: readonly string[]
): Promise<{ readonly text: string; readonly stderr: string; readonly exitCode: number }> {
  const stage = await createStage('embedded');
  try {
    const { stdout, stderr, exitCode } = await stage.tally(['demo', ...words]);
    const database = /database of this demo is (\S+);/.exec(stdout)?.[1];
    if (database !== undefined) rmSync(dirname(database), { recursive: true, force: true });
    return { text: stdout, stderr, exitCode };
  } finally {
    await stage.close();
  }
}

const withoutPaths = (text: string) => text.replaceAll(/\S*tallybook-demo-\S+?(?=[/;\s])/g, '<demo>');

/** The lines that a command printed, by the words that it begins with. */
function outputOf(text: string, command: string): string {
  const [, after] = text.split(`\n$ tally ${command}`);
  return (after ?? '').split('\n\n$ ')[0]?.split(/\n\n# [A-Z]/)[0] ?? '';
}

describe('the demo on generated events', () => {
  test('shows each command before its output, and is the same in every run', async () => {
    const [first, second] = [await demo(), await demo()];
    expect(first.exitCode).toBe(0);
    expect(withoutPaths(first.text)).toBe(withoutPaths(second.text));
    expect(first.text.match(/^\$ tally /gm)?.length).toBeGreaterThan(25);
  });

  test('tells of a budget that runs out, of a grant that is sent twice, and of three finalized invoices', async () => {
    const { text } = await demo('--seed', '7');
    expect(outputOf(text, 'budgets usage')).toMatch(/large .* exhausted .* of 5\.00 USD/);
    expect(text).toContain('this entry already exists: nothing was created');
    expect(text.match(/"invoiceNumber": "INV-00000[123]"/g)).toHaveLength(3);
    expect(outputOf(text, 'credits ledger')).toMatch(/usage +-\d+\.\d\d USD/);
  });

  test('refuses a file that is not there', async () => {
    expect(await demo('--events', 'nowhere.csv')).toMatchObject({ exitCode: 2, text: '' });
    expect((await demo('--events', tmpdir())).stderr).toContain('it is a directory');
  });

  test('leaves no directory of its own where it breaks off', async () => {
    const directory = newDirectory();
    vi.stubEnv('TMPDIR', directory);
    onTestFinished(() => void vi.unstubAllEnvs());
    const stage = await createStage('embedded');
    const before = readdirSync(directory);
    expect((await stage.tally(['demo', '--events', 'nowhere.csv'])).exitCode).toBe(2);
    expect(readdirSync(directory)).toEqual(before);
    await stage.close();
  });

  test('says of a file without its columns which ones it takes', async () => {
    const file = join(newDirectory(), 'customers.csv');
    writeFileSync(file, 'name,email\nAda,ada@acme.example\n');
    const { exitCode, stderr } = await demo('--events', file);
    expect([exitCode, stderr]).toEqual([
      2,
      `tally: ${file}: no column has the time of the event\n  hint: the demo takes CSV with the columns TIMESTAMP, ContextTokens and GeneratedTokens\n`,
    ]);
  });

  test('says at an interrupt which directory has a part of it', async () => {
    const directory = join(newDirectory(), 'new');
    const stage = await createStage('embedded');
    const words: unknown[] = [];
    await stage.tally(['demo', '--into', directory], {}, { atInterrupt: (said) => void words.push(said) });
    await stage.close();
    expect(words).toEqual([`tally: interrupted: ${directory} has a part of the demo; remove it\n`, undefined]);
  });

  test.each([
    ['--database', './own.db'],
    ['--profile', 'production'],
  ])('does not leave %s out without a word', async (...flag) => {
    expect(await demo(...flag)).toEqual({
      exitCode: 2,
      text: '',
      stderr: 'tally: tally demo makes a database of its own\n  hint: say where with --into <directory>\n',
    });
  });

  test('refuses a place that is no empty directory, and says what it is', async () => {
    const file = join(newDirectory(), 'file');
    writeFileSync(file, '');
    for (const [into, words] of [
      [file, 'is not a directory'],
      [join(file, 'below'), 'cannot be used (a part of the path is a file, not a directory)'],
      ['', '--into is empty: it must name a directory'],
      [
        'postgres://ada:s3/cret@db.example/x',
        'tally: postgres://ada:…@db.example/x is a URL, and --into takes a directory',
      ],
    ] as const) {
      const { exitCode, stderr } = await demo('--into', into);
      expect([into, exitCode, stderr]).toEqual([into, 2, expect.stringContaining(words)]);
    }
  });

  test('says of no file that its usage has passed the cap', async () => {
    const file = join(newDirectory(), 'events.csv');
    writeFileSync(file, 'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,4808,10\n');
    const { text } = await demo('--events', file);
    expect(outputOf(text, 'budgets add')).toMatch(/^exhausted +no$/m);
    expect(text).not.toContain('has passed');
  });

  test('ends with the words and the code of what goes wrong on a file', async () => {
    const file = join(newDirectory(), 'events.csv');
    writeFileSync(file, 'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,4808,10\nbad,1,2\n');
    const { exitCode, stderr } = await demo('--events', file);
    expect([exitCode, stderr]).toEqual([
      10,
      'tally: the story ends at tally import events: 1 of 2 rows was refused; the others were imported\n',
    ]);
  });
});

test('generated events are a function of the seed alone', () => {
  const usage = {
    rows: 50,
    from: Temporal.Instant.from('2026-03-01T00:00:00Z'),
    to: Temporal.Instant.from('2026-04-01T00:00:00Z'),
    customers: ['a', 'b'],
  };
  expect(generateEvents({ ...usage, seed: 1 })).toBe(generateEvents({ ...usage, seed: 1 }));
  expect(generateEvents({ ...usage, seed: 1 })).not.toBe(generateEvents({ ...usage, seed: 2 }));
});

const realFile = fileURLToPath(new URL('../../../../shared/data/azure-llm-inference-conv.csv', import.meta.url));

// oxlint-disable vitest/no-conditional-tests -- the file is no part of the project, and its absence is said, not skipped
if (existsSync(realFile)) {
  test('on 19,366 real requests: quantities, exact cost, invoice, budget and ledger agree to the cent', async () => {
    const { text, exitCode } = await demo('--events', realFile);
    expect(exitCode).toBe(0);
    expect(outputOf(text, 'usage cost --external-customer-id')).toMatch(/^total +128\.415585 USD$/m);
    expect(outputOf(text, 'usage cost --contract-id')).toMatch(/^total +128\.42 USD$/m);
    const invoice = outputOf(text, 'invoices get');
    expect(invoice).toMatch(/Context tokens .* 22361870 +0\.000003 +67\.09 USD/);
    expect(invoice).toMatch(/Generated tokens .* 4088665 +0\.000015 +61\.33 USD/);
    expect(invoice).toMatch(/Credits applied .* -10\.00 USD/);
    expect(invoice).toMatch(/^total +118\.42 USD$/m);
    expect(outputOf(text, 'budgets usage')).toMatch(/exhausted +128\.42 USD of 10\.00 USD +1284\.2 %/);
    expect(outputOf(text, 'credits ledger')).toMatch(/usage +-10\.00 USD/);
    expect(outputOf(text, 'credits balance')).toMatch(/^balance +15\.00 USD$/m);
  });
} else {
  test('the file of real requests is not beside this checkout, so its figures are not checked here', () => {
    expect(existsSync(realFile)).toBe(false);
  });
}
