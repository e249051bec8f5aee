import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';

import { createNamedTurns } from '../../src/store/backends/postgres/turns.ts';

/** Work that is asked for in this order, each of its turn, and ended by name; gives what is under way. */
function stage() {
  const turns = createNamedTurns();
  const running = new Set<string>();
  const endings = new Map<string, () => void>();
  return {
    running: async () => {
      await turn();
      return [...running].join(' ');
    },
    ask: (name: string, ofTurn: string | undefined) => {
      void turns.take(ofTurn, async () => {
        running.add(name);
        await new Promise<void>((resolve) => endings.set(name, resolve));
        running.delete(name);
      });
    },
    end: (name: string) => endings.get(name)?.(),
    isFree: (ofTurn: string | undefined) => turns.isFree(ofTurn),
  };
}

test('work of one turn is done one after another in its order, work of different turns side by side', async () => {
  const { running, ask, end } = stage();
  for (const name of ['a1', 'a2', 'b1', 'a3']) ask(name, name.slice(0, 1));
  expect(await running()).toBe('a1 b1');
  end('a1');
  expect(await running()).toBe('b1 a2');
  end('a2');
  end('b1');
  expect(await running()).toBe('a3');
});

test('work without a turn is alone, and what comes behind it waits', async () => {
  const { running, ask, end } = stage();
  ask('a1', 'a');
  ask('alone', undefined);
  ask('b1', 'b');
  expect(await running()).toBe('a1');
  end('a1');
  expect(await running()).toBe('alone');
  ask('c1', 'c');
  ask('alone too', undefined);
  expect(await running()).toBe('alone');
  end('alone');
  expect(await running()).toBe('b1 c1');
});

test('what would have to wait is not free', async () => {
  const { running, ask, end, isFree } = stage();
  expect([isFree('a'), isFree(undefined)]).toEqual([true, true]);
  ask('a1', 'a');
  expect(await running()).toBe('a1');
  expect([isFree('a'), isFree('b'), isFree(undefined)]).toEqual([false, true, false]);
  ask('alone', undefined);
  expect([isFree('b')]).toEqual([false]);
  end('a1');
  expect(await running()).toBe('alone');
  expect([isFree('a'), isFree(undefined)]).toEqual([false, false]);
});

test('work that fails ends its turn', async () => {
  const turns = createNamedTurns();
  await expect(turns.take('a', async () => await Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(turns.take(undefined, async () => await Promise.resolve('done'))).resolves.toBe('done');
});
