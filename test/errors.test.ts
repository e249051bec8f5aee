import { expect, test } from 'vitest';

import { namesNoMessage, nounOfNamesNo, nounOfUnknownId, oneLine, unknownIdMessage } from '../src/errors.ts';

const nouns = ['customer', 'ledger entry', 'contract of this customer'];

test.each(nouns)('the refusal of an id that is no %s says so, and is known by it', (noun) => {
  expect(nounOfUnknownId(unknownIdMessage(noun))).toBe(noun);
  expect(nounOfNamesNo(namesNoMessage(noun))).toBe(noun);
});

test.each([
  'this service has no such path',
  'the mirror has no invoice of this id',
  'no customer has this id at the payment processor',
  'names no customer; names no plan',
  'names no meter, neither in the file nor there',
])('"%s" is no such refusal', (message) => {
  expect([nounOfUnknownId(message), nounOfNamesNo(message)]).toEqual([undefined, undefined]);
});

test.each(['\u001b', '\u009b', '\u061c', '\u200b\u202e', '\u2028', '\ud800', '\r\n\t', '\u{e0001}'])(
  'a text of others is one line, with a space in place of %j',
  (unsafe) => {
    expect(oneLine(`${unsafe}no${unsafe}there ${unsafe}`)).toBe('no there');
  },
);
