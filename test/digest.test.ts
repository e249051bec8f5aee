import { createHash } from 'node:crypto';

import fc from 'fast-check';
import { beforeEach, expect, test, vi } from 'vitest';

/** As a command finds it that has hashed nothing yet. */
let sha256Of: (text: string) => string;

beforeEach(async () => {
  vi.resetModules();
  ({ sha256Of } = await import('../src/digest.ts'));
});

const byNode = (text: string): string => createHash('sha256').update(text).digest('hex');

test.each([
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [
    'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  ],
])('the digest of "%s" is the one that FIPS 180 gives', (text, digest) => {
  expect(sha256Of(text)).toBe(digest);
});

test('a digest of any text is the one that Node gives', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 500 }), async (text) => {
      vi.resetModules();
      const fresh = await import('../src/digest.ts');
      expect(fresh.sha256Of(text)).toBe(byNode(text));
    }),
  );
});

test('of every length around the ends of blocks too', () => {
  for (let length = 0; length <= 130; length += 1) {
    const text = 'é'.repeat(length >> 1) + 'x'.repeat(length & 1);
    expect(sha256Of(text)).toBe(byNode(text));
  }
});

test('the first few texts are hashed without Node, all others have the same digests by it', () => {
  const load = vi.spyOn(process, 'getBuiltinModule');
  try {
    expect(sha256Of('few')).toBe(byNode('few'));
    expect(load).not.toHaveBeenCalled();
    for (let index = 0; index < 40; index += 1) {
      const text = `${index} `.repeat(300);
      expect(sha256Of(text)).toBe(byNode(text));
    }
    expect(load).toHaveBeenCalledExactlyOnceWith('node:crypto');
  } finally {
    load.mockRestore();
  }
});
