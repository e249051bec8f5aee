import { expect, test } from 'vitest';

import { differences } from '../../../src/cli/catalog/comparison.ts';

test('a number that is kept as its text differs under its own name', () => {
  const definition = (text: string) => ({ metadata: { rate: JSON.rawJSON(text) } });
  expect(JSON.stringify(differences(definition('1.10'), definition('1.20')))).toBe(
    '[{"field":"metadata.rate","from":1.10,"to":1.20}]',
  );
});
