import { PassThrough, Writable } from 'node:stream';

import { describe, expect, test } from 'vitest';

import type { Interruption } from '../../../src/cli/terminal/drawing.ts';
import { streamEnd } from '../../../src/cli/terminal/output-end.ts';
import { askPlainly } from '../../../src/cli/terminal/plain-questions.ts';
import type { Question } from '../../../src/cli/terminal/questions.ts';
import { say } from '../../../src/cli/terminal/safe-text.ts';
import { createTerminal } from '../../../src/cli/terminal/terminal.ts';

const few = ['one', 'two'].map((value) => ({ value, label: `Customer\u001b[2J ${value}` }));
const many = Array.from({ length: 30 }, (_, index) => ({ value: `id-${index}`, label: `Customer ${index}` }));
const digits = async (text: string) => await Promise.resolve(/^\d+$/.test(text) ? undefined : 'must be digits');

const questions = {
  confirm: { kind: 'confirm', message: say`Really?` },
  text: { kind: 'text', message: say`Cents`, validate: digits },
  secret: { kind: 'secret', message: say`Key` },
  'a few choices': { kind: 'choice', message: say`Which`, choices: few },
  'many choices': { kind: 'choice', message: say`Which`, choices: many },
} satisfies Record<string, Question>;

/** What is written until the question is answered by these texts, one each time that something is asked, and the answer. */
function createStage(typed: readonly string[]) {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => void modes.push(isRaw) });
  const left = [...typed];
  let written = '';
  const typeNext = (): void => {
    const text = left.shift();
    if (text === undefined) return void input.end();
    input.write(text);
    if (!/[\n\r\u0003\u0004]$/.test(text)) setImmediate(typeNext);
  };
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += String(chunk);
      if (written.endsWith(' ')) setImmediate(typeNext);
      done();
    },
  });
  const interruptions = new Set<Interruption>();
  const whenInterrupted = (interruption: Interruption) => {
    interruptions.add(interruption);
    return () => void interruptions.delete(interruption);
  };
  return { input, output, whenInterrupted, modes, interruptions, written: () => written };
}

async function answered(question: Question, ...typed: readonly string[]) {
  const stage = createStage(typed);
  const given = await askPlainly(question, stage);
  return { given, written: stage.written(), modes: stage.modes, isLeft: stage.interruptions.size === 0 };
}

test.each<[keyof typeof questions, readonly string[], string | undefined]>([
  ['confirm', ['y\n'], 'yes'],
  ['confirm', ['YES\r\n'], 'yes'],
  ['confirm', ['\n'], 'no'],
  ['confirm', ['yonder\n'], 'no'],
  ['confirm', [], undefined],
  ['text', ['12', '.5\n', '7\n'], '7'],
  ['text', ['\n'], ''],
  ['text', ['7'], undefined],
  ['secret', ['x\u0015sec\u007fcret\r'], 'secret'],
  ['secret', ['\r'], ''],
  ['secret', ['\u0004'], undefined],
  ['secret', [], undefined],
  ['a few choices', ['2\n'], 'two'],
  ['a few choices', [' one \n'], 'one'],
  ['a few choices', ['0\n', '3\n', 'customer\n', '1\n'], 'one'],
  ['a few choices', ['\n'], ''],
  ['a few choices', [], undefined],
  ['many choices', ['id-7\n'], 'id-7'],
  ['many choices', ['1\n', 'customer 12\n', '1\n'], 'id-12'],
  ['many choices', ['nobody\n', '29\n', '1\n'], 'id-29'],
])('%s is answered by lines: %j', async (name, typed, given) => {
  const outcome = await answered(questions[name], ...typed);
  expect(outcome).toMatchObject({ given, isLeft: true });
  expect(outcome.written).toMatch(/^[\n -~]*$/);
});

test('what is wrong with an answer stands above the question that is asked again', async () => {
  const { written } = await answered(questions.text, 'x\n', '1\n');
  expect(written).toBe('? Cents: > must be digits\n? Cents: ');
});

test('a short list is numbered, and a long one is shown once it is short', async () => {
  const { written } = await answered(questions['many choices'], 'customer 2\n', 'id-29\n', '1\n');
  expect(written).toContain('a piece of one of 30: a piece of one of 11: ');
  const found = await answered(questions['many choices'], 'customer 29\n', '1\n');
  expect(found.written).toContain('a piece of one of 30:   1. Customer 29  id-29\nits number, from 1 to 1: ');
});

describe('a secret', () => {
  test('is shown nowhere, and the terminal shows again what is typed after it', async () => {
    const { written, modes } = await answered(questions.secret, 'hush\r');
    expect([written, modes]).toEqual(['? Key (not shown): \n', [true, false]]);
  });

  test('that is interrupted is none, and nothing was done', async () => {
    await expect(answered(questions.secret, 'hush\u0003')).rejects.toMatchObject({ kind: 'interrupted' });
  });

  test('leaves the terminal as it was while the program is stopped', async () => {
    const stage = createStage([]);
    const asked = askPlainly(questions.secret, stage);
    const [interruption] = stage.interruptions;
    interruption?.leave('stopped');
    interruption?.goOn();
    expect(stage.modes).toEqual([true, false, true]);
    await asked;
  });
});

test('a question is asked anew where the program goes on, since the terminal has dropped what was typed', async () => {
  const stage = createStage([]);
  const asked = askPlainly(questions.text, stage);
  const [interruption] = stage.interruptions;
  interruption?.leave('stopped');
  expect(stage.written()).toBe('? Cents: ');
  interruption?.goOn();
  expect(stage.written()).toBe('? Cents: ? Cents: ');
  interruption?.leave('ended');
  expect(stage.written()).toBe('? Cents: ? Cents: \n');
  await asked;
});

test('lines that were typed ahead answer the questions behind', async () => {
  const stage = createStage(['7\ny\n']);
  expect(await askPlainly(questions.text, stage)).toBe('7');
  expect(await askPlainly(questions.confirm, { ...stage, output: new PassThrough() })).toBe('yes');
});

test('a dumb terminal is asked so, and hears of no cursor', async () => {
  const stage = createStage(['y\n']);
  const end = streamEnd(Object.assign(stage.output, { isTTY: true }));
  const terminal = createTerminal({
    stdin: stage.input,
    stdout: end,
    stderr: end,
    env: { TERM: 'dumb' },
    platform: 'linux',
    whenInterrupted: stage.whenInterrupted,
    stop: () => undefined,
  });
  expect([await terminal.ask(questions.confirm), stage.written()]).toEqual(['yes', '? Really? (y/N) ']);
});
