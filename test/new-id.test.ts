import { randomUUIDv7 } from 'node:crypto';

import fc from 'fast-check';
import { expect, test, vi } from 'vitest';

import { createIds, idChanceBytes, idOf } from '../src/new-id.ts';

test('an id is what RFC 9562 makes of the same time and chance (A.6)', () => {
  // The two bits before 18c4… give way to the variant, the four before cc3 to the version.
  const chance = Buffer.from('fcc3d8c4dc0c0c07398f', 'hex');
  expect(idOf(0x01_7f_22_e2_79_b0, chance)).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
});

const instant = fc.nat({ max: 2 ** 48 - 1 });
const chance = fc.uint8Array({ minLength: idChanceBytes, maxLength: idChanceBytes });

test('every id is a UUID of version 7 that tells its millisecond, and sorts by it', () => {
  fc.assert(
    fc.property(instant, chance, instant, chance, (time, bytes, otherTime, otherBytes) => {
      const id = idOf(time, bytes);
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(time);
      if (time < otherTime) expect(id < idOf(otherTime, otherBytes)).toBe(true);
    }),
  );
});

test('every other bit of the chance is in the id', () => {
  const ids = new Set(
    Array.from({ length: idChanceBytes * 8 }, (_, bit) => {
      const bytes = new Uint8Array(idChanceBytes);
      bytes[bit >> 3] = 1 << (bit & 7);
      return idOf(0, bytes);
    }),
  );
  // Six bits stand under the version and the variant, and give the id that no bit gives.
  expect(ids.size).toBe(idChanceBytes * 8 - 6 + 1);
});

test('the first few ids are made without what is loaded for many, and no two are the same', () => {
  const load = vi.fn<() => typeof randomUUIDv7>(() => randomUUIDv7);
  const newId = createIds(() => Date.now(), load);
  const ids = new Set([newId()]);
  expect(load).not.toHaveBeenCalled();
  for (let count = 1; count < 1000; count += 1) ids.add(newId());
  expect(ids.size).toBe(1000);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(load).toHaveBeenCalledOnce();
});

test('where the system has no chance as a file, every id is made by what is loaded', () => {
  const open = vi.spyOn(process.getBuiltinModule('node:fs'), 'openSync').mockImplementation(() => {
    throw new Error('ENOENT: /dev/urandom');
  });
  try {
    expect(createIds(Date.now, () => () => 'made')()).toBe('made');
    expect(open).toHaveBeenCalledOnce();
  } finally {
    open.mockRestore();
  }
});
