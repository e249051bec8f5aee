import { expect, test, vi } from 'vitest';

import { keepLatest, once, onceEach } from '../src/once.ts';

test('what was loaded is given to every later call, and to those that came meanwhile', async () => {
  const load = vi.fn<(name: string) => Promise<object>>(async () => await Promise.resolve({}));
  const loadEach = onceEach(load);
  const [first, second] = await Promise.all([loadEach('a'), loadEach('a')]);
  expect(second).toBe(first);
  expect(await loadEach('a')).toBe(first);
  expect(await loadEach('b')).not.toBe(first);
  expect(load).toHaveBeenCalledTimes(2);
});

test('what could not be loaded is loaded anew by the next call', async () => {
  const load = vi.fn<() => Promise<string>>();
  load.mockRejectedValueOnce(new Error('EMFILE: too many open files')).mockResolvedValue('loaded');
  const loadOnce = once(load);
  const [first, second] = await Promise.allSettled([loadOnce(), loadOnce()]);
  expect([first.status, second.status]).toEqual(['rejected', 'rejected']);
  expect([await loadOnce(), await loadOnce()]).toEqual(['loaded', 'loaded']);
  expect(load).toHaveBeenCalledTimes(2);
});

test('of several names that which could not be loaded is loaded anew', async () => {
  const load = vi.fn<(name: string) => Promise<string>>(async (name) => await Promise.resolve(name));
  load.mockRejectedValueOnce(new Error('EMFILE: too many open files'));
  const loadEach = onceEach(load);
  await expect(loadEach('a')).rejects.toThrow('EMFILE');
  expect([await loadEach('b'), await loadEach('a'), await loadEach('a')]).toEqual(['b', 'a', 'a']);
  expect(load.mock.calls.flat()).toEqual(['a', 'b', 'a']);
});

test('of many names those that were loaded last are kept', async () => {
  const load = vi.fn<(name: string) => Promise<string>>(async (name) => await Promise.resolve(name));
  const loadEach = onceEach(load, 2);
  for (const name of ['a', 'b', 'c', 'c', 'b', 'a']) await loadEach(name);
  expect(load.mock.calls.flat()).toEqual(['a', 'b', 'c', 'a']);
});

test('what was found is kept as long as its keys are few, and few characters', () => {
  const find = vi.fn<() => string>(() => 'found');
  const found = keepLatest<string>(3, 10);
  for (const key of ['aaaa', 'bbbb', 'aaaa', 'bbbb']) found(key, find);
  expect(find).toHaveBeenCalledTimes(2);
  for (const key of ['cc', 'aaaa', 'cc', 'bbbb']) found(key, find);
  expect(find).toHaveBeenCalledTimes(3);
  // All is forgotten with the eleventh character, and with one key too many.
  for (const key of ['ddd', 'ddd', 'aaaa']) found(key, find);
  expect(find).toHaveBeenCalledTimes(5);
  for (const key of ['e', 'f', 'e', 'aaaa']) found(key, find);
  expect(find).toHaveBeenCalledTimes(9);
});
