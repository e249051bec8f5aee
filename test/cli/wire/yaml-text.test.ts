import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import { yamlText } from '../../../src/cli/wire/yaml-text.ts';
import { exactNumber } from '../../../src/exact-json.ts';

const mistakable = ['no', 'Off', 'y', '~', '0o7', '0b11', '1_000', '1,000', '12:30:00', '2026-01-01', '<<', '.inf'];
const acting = ['a\u2028    isPaused: true', 'a\u2029b', 'a\u0085b', 'a\ufeffb', 'a\tb', 'a\nb\u202ec', '\u{e0041}'];
const blank = [' \n', '  \n\n'];

describe('YAML', () => {
  test.each([...mistakable, ...acting, ...blank])(
    'has %j as the text it is, for readers of YAML 1.1 and 1.2',
    async (text) => {
      const value = { name: text, [text]: 1, tags: [text, text] };
      const yaml = await yamlText(value);
      for (const version of ['1.1', '1.2'] as const) expect(parse(yaml, { version })).toEqual(value);
      expect(yaml).toMatch(/^[\n\x20-\x7e]*$/);
    },
  );

  test('has quotes around what stands for a default value in YAML 1.1', async () => {
    expect(await yamlText({ name: '=' })).toBe('name: "="\n');
  });

  test.each([
    ['1e3', '1.0e+3'],
    ['-1.5E7', '-1.5E+7'],
    ['1e-7', '1.0e-7'],
    ['1e+21', '1.0e+21'],
    ['1.10', '1.10'],
    ['-0', '-0'],
    ['12', '12'],
  ])('has the number %s as %s, which is one for readers of YAML 1.1 too', async (number, written) => {
    expect(await yamlText({ value: exactNumber(number) })).toBe(`value: ${written}\n`);
  });

  test('has letters of all scripts as they are', async () => {
    expect(await yamlText({ name: 'Zoë שלום 日本 🚀' })).toBe('name: Zoë שלום 日本 🚀\n');
  });
});
