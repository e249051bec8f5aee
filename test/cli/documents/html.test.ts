import { expect, test } from 'vitest';

import { foreign, markup } from '../../../src/cli/documents/html.ts';

test('a text is text in an element and in an attribute of either quotes, and stays in its direction', () => {
  const text = `&amp; <b>"it's"</b>\u202e\u0000`;
  const escaped = String.raw`&amp;amp; &lt;b&gt;&quot;it&#39;s&quot;&lt;/b&gt;\u{202e}\u{0}`;
  expect(markup`<p title="${text}">${text}</p>`.text).toBe(`<p title="${escaped}">${escaped}</p>`);
  expect(foreign(text).text).toBe(`<bdi>${escaped}</bdi>`);
  expect(markup`${[foreign('a'), foreign('<')]}${1}`.text).toBe('<bdi>a</bdi><bdi>&lt;</bdi>1');
});
