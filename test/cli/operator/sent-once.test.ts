/** What moves money again when it is sent again, and has no external id of a person: repeated, it is done once. */

import { describe, expect, test } from 'vitest';

import { BillingError, RateLimitedError, UnavailableError, UnsentError } from '../../../src/errors.ts';
import type { Answer } from '../../../src/operations/index.ts';
import { createShell } from '../shell.ts';

const purchase = 'credits grant-paid k1 --amount-cents 500';
const adjustment = 'credits adjust k1 --grant-entry-id g1 --amount-cents -500 --reason Slip';

/** A database that fails with these errors, one a call, before it answers. */
function failing(...errors: Error[]) {
  return failingAt({}, ...errors);
}

/** The same of a service. */
function failingAt(env: Readonly<Record<string, string>>, ...errors: Error[]) {
  return createShell({
    env,
    reply: ({ name }) => {
      const error = name.startsWith('credits.') ? errors.shift() : undefined;
      if (error !== undefined) throw error;
      return { body: { data: { id: 'e1' } } as unknown as Answer['body'] };
    },
  });
}

type Shell = ReturnType<typeof failing>;

const sentIds = ({ calls }: Shell) =>
  calls.map(({ input }) => (input.body as { externalId?: string }).externalId ?? '');

const lost = () => new BillingError('interrupted', 'no answer');

test('a purchase whose outcome is unknown is finished by the same command, with the id that it had', async () => {
  const shell = failing(lost());
  await shell.run(purchase);
  const { code, stderr } = await shell.run(purchase);
  expect([code, stderr]).toEqual([0, expect.stringContaining('this finishes the grant begun at')]);
  await shell.run(purchase);
  const [first, again, other] = sentIds(shell);
  expect(first).toBeDefined();
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});

test('a purchase with an external id of its own is sent as it is', async () => {
  const shell = failing(lost());
  for (let time = 0; time < 2; time += 1) {
    expect((await shell.run(`${purchase} --external-id po-7`)).stderr).not.toContain('this finishes');
  }
  expect(shell.calls.map(({ input }) => input.body)).toEqual(
    Array<object>(2).fill(expect.objectContaining({ externalId: 'po-7' })),
  );
});

test.each([
  ['that it is busy (429)', new RateLimitedError('slow down', { retryAfterSeconds: 1 })],
  ['nothing', lost()],
])('a purchase of which a later try learns %s is finished all the same, and made once', async (_answer, failure) => {
  const shell = failing(lost(), failure);
  for (let time = 0; time < 3; time += 1) await shell.run(purchase);
  const ids = sentIds(shell);
  expect([ids.length, new Set(ids).size]).toEqual([3, 1]);
});

test.each<[string, Error]>([
  ['another key (401)', new BillingError('unauthorized', 'no')],
  ['another key (403)', new BillingError('forbidden', 'no')],
  ['another key (404)', new BillingError('notFound', 'no')],
  ['a proxy (400)', new BillingError('badRequest', 'no')],
  ['a proxy (413)', new BillingError('payloadTooLarge', 'no')],
  ['a proxy (415)', new BillingError('unsupportedMediaType', 'no')],
  ['another service (405)', new BillingError('notOffered', 'no')],
  ['a pooler in front of the server', new BillingError('usage', 'no')],
  ['nobody reached', new UnsentError('nothing answers')],
])('a purchase is not known to be refused because a later try with its id was: %s', async (_why, refusal) => {
  const shell = failing(lost(), refusal);
  for (let time = 0; time < 2; time += 1) await shell.run(`${purchase} --external-id po-7`);
  expect((await shell.run(purchase)).stderr).toContain('this finishes the grant begun at');
  expect(shell.calls.at(-1)?.input.body).toMatchObject({ externalId: 'po-7' });
});

test('a purchase that never left is not unfinished because the same with another id is', async () => {
  const shell = failing(lost(), new UnsentError('nothing answers'));
  for (const id of ['po-7', 'po-8', 'po-7']) await shell.run(`${purchase} --external-id ${id}`);
  expect((await shell.run(purchase)).stderr).not.toContain('this finishes the grant begun at');
});

test('a purchase is not known to be done because the same with another id was', async () => {
  const shell = failing(lost());
  for (const id of ['po-7', 'po-8']) await shell.run(`${purchase} --external-id ${id}`);
  expect((await shell.run(purchase)).stderr).toContain('this finishes the grant begun at');
  expect(shell.calls.at(-1)?.input.body).toMatchObject({ externalId: 'po-7' });
});

test.each([
  ['expiry', `${purchase} --expires-at 2099-12-31T00:00:00Z`],
  ['description', `${purchase} --description Wire`],
])(
  'a purchase of the same value with another %s is not made while the outcome of one is unknown',
  async (_what, other) => {
    const shell = failing(lost());
    await shell.run(purchase);
    const { code, stderr } = await shell.run(other);
    expect([code, shell.calls.length]).toEqual([11, 1]);
    const [externalId] = sentIds(shell);
    expect(stderr).toContain('a purchase of the same value for this contract was begun at');
    expect(stderr).toContain(`finish it with --external-id ${externalId}, which makes it once`);
  },
);

test.each([
  ['made', undefined],
  ['known to be made with other words', new BillingError('conflict', 'exists with other words')],
])('a purchase is finished once its external id is %s', async (_outcome, error) => {
  const shell = failing(lost(), ...(error === undefined ? [] : [error]));
  await shell.run(purchase);
  const [externalId] = sentIds(shell);
  await shell.run(`${purchase} --expires-at 2099-12-31T00:00:00Z --external-id ${externalId}`);
  expect((await shell.run(purchase)).stderr).not.toContain('this finishes the grant begun at');
  expect((await shell.run(`${purchase} --expires-at 2098-12-31T00:00:00Z`)).code).toBe(0);
});

test.each([
  ['of another value', 'credits grant-paid k1 --amount-cents 501'],
  ['of credits', 'credits grant-paid k1 --credit-amount 5 --credit-rate-cents 100'],
  ['for another contract', 'credits grant-paid k2 --amount-cents 500'],
  ['with an external id of its own', `${purchase} --external-id po-7`],
])('a purchase %s is made beside one whose outcome is unknown', async (_what, other) => {
  const shell = failing(lost());
  await shell.run(purchase);
  expect([(await shell.run(other)).code, shell.calls.length]).toEqual([0, 2]);
});

test('a grant whose outcome is unknown is finished by the same request by method and path', async () => {
  const shell = failing(lost());
  await shell.run('credits grant k1 --amount-cents 500 --expires-at 2099-01-01T00:00:00Z');
  const input = '{"expiresAt":"2099-01-01T00:00:00Z","amountCents":500}';
  const outcome = await shell.run('api POST /v1/contracts/k1/credits/promotional/grant --input -', { input });
  expect(outcome).toMatchObject({ code: 0, stderr: expect.stringContaining('this finishes the grant begun at') });
  const [first, again] = sentIds(shell);
  expect([again, shell.calls[1]?.name]).toEqual([first, 'credits.grant']);
});

test('an adjustment is not repeated while the outcome of the same one is unknown', async () => {
  const shell = failing(lost());
  await shell.run(adjustment);
  const { code, stderr } = await shell.run(adjustment);
  expect([code, shell.calls.length]).toEqual([11, 1]);
  expect(stderr).toContain('the same was begun at');
  expect(stderr).toContain('look whether it was done: tally credits ledger k1');
  expect((await shell.run(`${adjustment} again`.replace('Slip again', "'Slip, again'"))).code).toBe(0);
});

test.each([
  ['done', undefined],
  ['refused', new BillingError('conflict', 'no')],
  ['not begun', new UnavailableError('locked')],
])('an adjustment is made again once the one before is known to be %s', async (_outcome, error) => {
  const shell = failing(...(error === undefined ? [] : [error]));
  await shell.run(adjustment);
  expect((await shell.run(adjustment)).code).toBe(0);
  expect(shell.calls).toHaveLength(2);
});

describe('a service that says that nothing was changed speaks of one try, and a gateway may have lost the answer of another:', () => {
  const env = {
    TALLY_BASE_URL: 'https://a.example',
    TALLY_API_KEY: `tally_live_${'0'.repeat(48)}`,
    TALLY_ENVIRONMENT: 'sandbox',
  };
  const unchanged = () => new UnavailableError('the service cannot answer now; nothing was changed');

  test.each(['credits grant k1 --amount-cents 500 --expires-at 2099-01-01T00:00:00Z', purchase])(
    'the same is finished with the id that it had: %s',
    async (line) => {
      const shell = failingAt(env, unchanged());
      await shell.run(line);
      expect((await shell.run(line)).code).toBe(0);
      const ids = sentIds({ ...shell, calls: shell.calls.filter(({ name }) => name.startsWith('credits.grant')) });
      expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
    },
  );

  test('the same adjustment is not sent again', async () => {
    const shell = failingAt(env, unchanged());
    await shell.run(adjustment);
    expect([(await shell.run(adjustment)).code, shell.calls.length]).toEqual([11, 1]);
  });
});
