import { expect, test } from 'vitest';

import { BillingError } from '../../../src/errors.ts';
import type { ErrorKind } from '../../../src/errors.ts';
import { createShell } from '../shell.ts';

const line = 'import events - --format csv --event-name e --customer acme --batch-size 2';
const input = `timestamp,tokens\n${['00', '01', '02'].map((second) => `2026-02-01 00:00:${second},1\n`).join('')}`;
const service = {
  TALLY_BASE_URL: 'https://billing.example',
  TALLY_API_KEY: `tally_live_${'0'.repeat(48)}`,
  TALLY_ENVIRONMENT: 'sandbox',
};
const never = () => new Promise<void>(() => undefined);

/** Imports three events, where the first `failures` requests of each batch fail. */
async function imported(kind: ErrorKind, failures: number, env: Readonly<Record<string, string>>) {
  let batches = 0;
  const shell = createShell({
    env,
    dependencies: { untilStopped: never },
    reply: ({ name }) => {
      if (name !== 'usage.ingestBatch') return {};
      batches += 1;
      if (batches % (failures + 1) > 0)
        throw new BillingError(kind, 'no answer', { retryAfterSeconds: 0, answeredStatus: 503 });
      return {};
    },
  });
  return { ...(await shell.run(line, { input })), batches };
}

test.each(['network', 'unavailable'] as const)(
  'a service that is away for a while (%s) is waited for, and that is said once',
  async (kind) => {
    const { code, stdout, stderr, batches } = await imported(kind, 5, service);
    expect([code, stdout, batches]).toEqual([0, '3\t3\t0\t\t\n', 12]);
    expect(stderr.split('no answer: trying again for half a minute')).toHaveLength(2);
  },
);

test('a batch beyond the rate is sent again when the service says, though not without an end', async () => {
  const { code, stdout, stderr, batches } = await imported('rateLimited', 9, service);
  expect([code, stdout, batches]).toEqual([0, '3\t3\t0\t\t\n', 20]);
  expect(stderr.split('the service limits the requests a minute')).toHaveLength(2);
  expect(await imported('rateLimited', 101, service)).toMatchObject({ code: 5, stdout: '', batches: 101 });
});

test.each(['while it is waited for', 'before it has failed'])(
  'an interrupt of an import whose service is away, %s, ends it as one',
  async (when) => {
    let stop: () => void = () => undefined;
    const shell = createShell({
      env: service,
      dependencies: { untilStopped: async () => await new Promise<void>((resolve) => (stop = resolve)) },
      reply: async ({ name }) => {
        if (name !== 'usage.ingestBatch') return {};
        if (when === 'before it has failed') stop();
        else setImmediate(stop);
        await Promise.resolve();
        throw new BillingError('network', 'no answer');
      },
    });
    const { code, stdout, stderr } = await shell.run(line, { input });
    expect([code, stdout]).toEqual([130, '']);
    expect(stderr).toContain('tally: interrupted');
  },
);

test('a service that stays away ends the import', async () => {
  expect(await imported('network', 6, service)).toMatchObject({ code: 9, stdout: '', batches: 6 });
});

test.each([
  { TALLY_DATABASE: 'postgres://ada@127.0.0.1/books' },
  { TALLY_DATABASE: 'books.db', TALLY_EVENTS: 'clickhouse://ada@127.0.0.1:8123/events' },
])('the server of a database is waited for like a service: %o', async (env) => {
  expect(await imported('unavailable', 5, env)).toMatchObject({ code: 0, batches: 12 });
});

test('neither a refusal nor a file is waited for', async () => {
  expect(await imported('forbidden', 1, service)).toMatchObject({ code: 6, batches: 1 });
  expect(await imported('unavailable', 1, {})).toMatchObject({ code: 9, batches: 1 });
});
