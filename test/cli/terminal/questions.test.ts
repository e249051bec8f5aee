import { PassThrough, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';

import { expect, test } from 'vitest';

import { askPerson, type Question } from '../../../src/cli/terminal/questions.ts';
import { say } from '../../../src/cli/terminal/safe-text.ts';

const few = ['one', 'two'].map((value) => ({ value, label: '' }));
const many = Array.from({ length: 30 }, (_, index) => ({ value: `id-${index}`, label: `Customer ${index}` }));

const questions = {
  confirm: { kind: 'confirm', message: say`Really?` },
  text: { kind: 'text', message: say`Name` },
  secret: { kind: 'secret', message: say`Key` },
  'a few choices': { kind: 'choice', message: say`Which`, choices: few },
  'many choices': { kind: 'choice', message: say`Which`, choices: many },
} satisfies Record<string, Question>;

/** What is drawn until the question is answered by the key, which is pressed each time that something is drawn, and the answer. */
async function answered(question: Question, hasUnicode: boolean, pressed = '\r') {
  const input = new PassThrough();
  let drawn = '';
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      drawn += String(chunk);
      setImmediate(() => input.write(pressed));
      done();
    },
  });
  const given = await askPerson(question, { input, output, hasUnicode });
  return { given, drawn: stripVTControlCharacters(drawn) };
}

test.each(Object.entries(questions))(
  '%s is drawn in ASCII where the terminal shows no more',
  async (_name, question) => {
    const { drawn } = await answered(question, false);
    expect(drawn).toContain('?');
    expect(drawn).toMatch(/^[\t\n\r -~]*$/);
  },
);

test('a person who presses Enter has not agreed, and has chosen the first', async () => {
  expect((await answered(questions.confirm, true)).given).toBe('no');
  expect((await answered(questions['a few choices'], true)).given).toBe('one');
  expect((await answered(questions['many choices'], false)).given).toBe('id-0');
});

test.each([true, false])('no key shows a secret, nor offers to', async (hasUnicode) => {
  const { given, drawn } = await answered(questions.secret, hasUnicode, 'hush\u0014\r');
  expect(given).toBe('hush');
  expect(drawn).not.toMatch(/hush|visibility|select/);
});

test.each(Object.entries(questions))(
  'a person who interrupts %s is told that nothing was done',
  async (_name, question) => {
    await expect(answered(question, true, '\u0003')).rejects.toMatchObject({
      kind: 'interrupted',
      message: 'interrupted: nothing was done',
    });
  },
);
