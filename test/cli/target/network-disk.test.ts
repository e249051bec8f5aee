import { describe, expect, test } from 'vitest';

import { networkDiskOf } from '../../../src/cli/target/network-disk.ts';
import { createShell } from '../shell.ts';

const machine = { platform: 'linux', userId: process.getuid?.(), now: () => 0 };

describe('the disk that a database is on', () => {
  test.each([
    ['NFS', 0x6969],
    ['CIFS', 0xff53_4d42],
    ['CIFS', -0xac_b2be],
    ['9P', 0x0102_1997],
    [undefined, 0xef53],
  ])('is told as %s by the number %d', (name, type) => {
    expect(networkDiskOf('billing.db', { ...machine, diskTypeOf: () => type })).toBe(name);
  });

  test('is not known of what is no file, nor on a system that tells it by other numbers', () => {
    expect(networkDiskOf('postgres://db.example/billing', machine)).toBeUndefined();
    const elsewhere = { ...machine, platform: 'darwin', diskTypeOf: () => 0x6969 };
    expect(networkDiskOf('billing.db', elsewhere)).toBeUndefined();
  });
});

test('a file on a network disk is used, and every write says so, but for --quiet', async () => {
  const dependencies = { machine: { ...machine, diskTypeOf: () => 0x6969 } };
  const shell = createShell({ dependencies });
  const write = 'customers resume 01900000-0000-7000-8000-000000000001 --database billing.db --json id';
  const warning =
    'warning: billing.db is on a network disk (NFS): writes from another machine at the same time would damage it; keep it on a local disk, or on a database server\n';
  expect(await shell.run(write)).toMatchObject({ code: 0, stderr: warning });
  expect(await shell.run(`${write} --quiet`)).toMatchObject({ code: 0, stderr: '' });
  expect(await shell.run('customers list --database billing.db')).toMatchObject({ code: 0, stderr: '' });
});
