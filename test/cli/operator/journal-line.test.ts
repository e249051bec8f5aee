/** Lines of the operator journal, and the chain that they are. */

import { describe, expect, test } from 'vitest';

import { exactNumber } from '../../../src/exact-json.ts';
import { lineOf, readLine, verifyLines } from '../../../src/cli/operator/journal-line.ts';
import type { JournalFacts } from '../../../src/cli/operator/journal-line.ts';

describe('a line', () => {
  const facts = (call: string): JournalFacts => ({
    at: '2026-03-01T00:00:00Z',
    call,
    state: 'done',
    operator: 'ada',
    environment: 'sandbox',
    target: 'https://a.example',
    operation: 'customers.create',
    requestHash: '0',
    body: { text: '","hash":"' },
  });
  const chain = (calls: readonly string[]) => {
    const texts: string[] = [];
    for (const call of calls) texts.push(lineOf(facts(call), readLine(texts.at(-1) ?? '')?.hash, (text) => text));
    return texts;
  };
  const whole = chain(['a', 'b', 'c', 'd']);

  test('reads back as it was written', () => {
    expect(whole.map((text) => readLine(text)?.call)).toEqual(['a', 'b', 'c', 'd']);
    expect(verifyLines(whole)).toEqual({ lines: 4, head: readLine(whole[3] ?? '')?.hash, findings: [] });
  });

  test.each(['1.10', '1e3', '0.0000001', '9007199254740993', '7'])('keeps the digits of %s in a body', (text) => {
    const body = { creditAmount: exactNumber(text), metadata: { creditAmount: text } };
    const line = readLine(lineOf({ ...facts('a'), body }, undefined, (kept) => kept));
    expect(JSON.stringify(line?.body)).toBe(JSON.stringify(body));
  });

  test.each<[string, string[], number[]]>([
    ['changed', whole.with(1, (whole[1] ?? '').replace('ada', 'eve')), [2]],
    [
      'changed together with its hash',
      whole.with(
        1,
        lineOf(facts('x'), readLine(whole[0] ?? '')?.hash, (text) => text),
      ),
      [3],
    ],
    ['taken out', whole.toSpliced(1, 1), [2]],
    ['taken from the top', whole.slice(1), [1]],
    ['moved', [whole[0], whole[2], whole[1], whole[3]] as string[], [2, 3, 4]],
    ['added', whole.toSpliced(2, 0, whole[0] ?? ''), [3, 4]],
    ['cut off', whole.with(3, (whole[3] ?? '').slice(0, -5)), [4]],
  ])('that was %s is found', (_how, texts, lines) => {
    expect(verifyLines(texts).findings.map(({ line }) => line)).toEqual(lines);
  });
});
