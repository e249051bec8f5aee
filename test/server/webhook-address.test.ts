import { describe, expect, test } from 'vitest';

import { checkWebhookUrl, isPrivateAddress } from '../../src/server/webhook-address.ts';
import { resolverOf } from '../support/world.ts';

const hosts = {
  'inside.example.com': ['10.1.2.3'],
  'half.example.com': ['93.184.215.14', '169.254.169.254'],
  'six.example.com': ['fd00::1'],
  'mapped.example.com': ['::ffff:192.168.1.1'],
  'both.example.com': ['127.0.0.1', '10.1.2.3'],
  'nowhere.example.com': [],
  localhost: ['127.0.0.1', '::1'],
};

async function verdict(url: string, allowPrivate = false): Promise<string> {
  return (await checkWebhookUrl(url, { allowPrivate, resolve: resolverOf(hosts) })) ?? 'sent';
}

const inside = 'leads to a private address, where webhooks are sent only if that is allowed';

describe('webhooks go out', () => {
  test.each([
    ['https://hooks.example.com/billing?x=1', 'sent'],
    ['https://hooks.example.com:443/', 'sent'],
    ['https://hooks.example.com:8443/', 'sent'],
    ['https://93.184.215.14/', 'sent'],
    ['https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/', 'sent'],
    ['https://nowhere.example.com/', 'sent'],
    ['https://hooks.example.com:8080/', 'must be on port 443 or 8443 unless private addresses are allowed'],
    ['https://hooks.example.com:80/', 'must be on port 443 or 8443 unless private addresses are allowed'],
    ['https://hooks.example.com:22/', 'must be on port 443 or 8443 unless private addresses are allowed'],
    ['http://hooks.example.com/', 'must begin with https://'],
    ['http://127.0.0.1:4000/', 'must begin with https:// unless private addresses are allowed'],
    ['http://[::1]/', 'must begin with https:// unless private addresses are allowed'],
    ['http://10.0.0.1/', 'must begin with https://'],
    ['ftp://hooks.example.com/', 'must begin with https://'],
    ['file:///etc/passwd', 'must begin with https://'],
    ['https://user:pass@hooks.example.com/', 'must not contain a user name or password'],
    ['https://:pass@hooks.example.com/', 'must not contain a user name or password'],
    ['hooks.example.com', 'must be a URL such as https://hooks.example.com/billing'],
    ['https://', 'must be a URL such as https://hooks.example.com/billing'],
    ['https://0x7f.1/', inside],
    ['https://2130706433/', inside],
    ['https://①②⑦.0.0.1/', inside],
    ['https://169.254.169.254./', inside],
    ['https://127.1/', inside],
    ['https://0/', inside],
    ['https://[::1]/', inside],
    ['https://[::ffff:127.0.0.1]/', inside],
    ['https://[::ffff:7f00:1]/', inside],
    ['https://[64:ff9b::10.0.0.1]/', inside],
    ['https://localhost/', inside],
    ['https://localhost./', inside],
    ['https://LOCALHOST/', inside],
    ['https://hooks.localhost/', inside],
    ['https://hooks-localhost/', 'sent'],
    ['https://inside.example.com/', inside],
    ['https://half.example.com/', inside],
    ['https://six.example.com/', inside],
    ['https://mapped.example.com/', inside],
  ])('%s: %s', async (url, expected) => {
    expect(await verdict(url)).toBe(expected);
  });
});

describe('in a simulation they may go inside', () => {
  const elsewhere = 'must begin with https:// unless it is on this machine';
  test.each([
    ['https://inside.example.com:8080/', 'sent'],
    ['http://127.0.0.1:4000/', 'sent'],
    ['http://[::1]:4000/', 'sent'],
    ['http://localhost:4000/', 'sent'],
    ['http://inside.example.com/', elsewhere],
    ['http://hooks.example.com/', elsewhere],
    ['http://both.example.com/', elsewhere],
    ['http://169.254.169.254/', elsewhere],
    ['ftp://127.0.0.1/', 'must begin with https://'],
    ['http://user@127.0.0.1/', 'must not contain a user name or password'],
  ])('%s: %s', async (url, expected) => {
    expect(await verdict(url, true)).toBe(expected);
  });
});

const privateAddresses = `
  0.1.2.3 10.255.255.255 100.64.0.1 127.8.8.8 169.254.0.1 172.16.0.1 172.31.255.255 192.0.0.8 192.168.0.1 198.18.0.1
  198.19.255.255 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 fc00::1 fdff::1 fe80::1 fe80::1%eth0 fe80::1%1 febf::1 ff02::1
  64:ff9b::1 ::ffff:10.0.0.1 ::ffff:0:10.0.0.1 2002:7f00:1:: 2001::1 2001:20::1 3fff::1 5f00::1 localhost 1.2.3
  192.0.2.1 192.88.99.1 198.51.100.1 203.0.113.1 64:ff9b:1::1 100::1 2001:db8::1 fec0::1 ::1%lo ::ffff:10.0.0.1%eth0`;

/** The last address of each range that does not end with one of those above. */
const lastPrivateAddresses = `
  0.255.255.255 100.127.255.255 127.255.255.255 169.254.255.255 192.0.0.255 192.0.2.255 192.88.99.255 192.168.255.255
  198.51.100.255 203.0.113.255 239.255.255.255 ::255.255.255.255 ::ffff:0:255.255.255.255 64:ff9b::255.255.255.255
  64:ff9b:1:ffff:ffff:ffff:ffff:ffff 100::ffff:ffff:ffff:ffff 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff
  2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff
  5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff`;

test.each(`${privateAddresses} ${lastPrivateAddresses}`.trim().split(/\s+/))('%s is private', (address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

const publicAddresses = `
  1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0 192.0.1.1 198.17.255.255
  198.20.0.0 223.255.255.255 2606:4700::1111 2001:200::1 2001:4860:4860::8888 ::ffff:1.1.1.1`;

test.each(publicAddresses.trim().split(/\s+/))('%s is public', (address) => {
  expect(isPrivateAddress(address)).toBe(false);
});
