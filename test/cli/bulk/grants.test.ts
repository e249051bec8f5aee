/** Grants from a file: all rows checked before one is sent, none done twice, none lost. */

import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { Surface } from '../../support/stage.ts';
import { startFlakyProxy } from '../../support/flaky-proxy.ts';
import type { FlakyProxy } from '../../support/flaky-proxy.ts';
import { made, openStage, saved, stage } from '../../support/use-stage.ts';

let proxy: FlakyProxy | undefined;
afterEach(async () => {
  await proxy?.close();
  proxy = undefined;
});

let plan: string;
async function begin(surface: Surface, isFlaky = false): Promise<void> {
  const throughProxy = async (url: string) => {
    proxy = await startFlakyProxy(url);
    return proxy.url;
  };
  await openStage(surface, isFlaky ? { proxy: throughProxy } : {});
  const price = ['--model', 'FLAT', '--unit-amount', '1', '--price-interval', 'MONTH'];
  const pricing = await made('pricing', 'create', '--product-name', 'P', '--name', 'Fee', ...price);
  plan = await made('plans', 'create', '--name', 'Plan', '--item', `pricingId=${pricing}`);
}

async function enter(name: string): Promise<string> {
  return await made('customers', 'create', '--name', name, '--contact', 'name=Ada,email=ada@example.com,roles=primary');
}
async function contractOf(customer: string): Promise<string> {
  return await made('contracts', 'create', '--customer-id', customer, '--plan-id', plan, '--start-date', '2026-03-01');
}
const subscribe = async (name: string) => await contractOf(await enter(name));

const file = (name: string, rows: readonly string[]) => saved(name, `${rows.join('\n')}\n`);
const ledgerOf = async (contract: string) => {
  const { stdout } = await stage.tally(['credits', 'ledger', contract, '-o', 'json']);
  const { data } = JSON.parse(stdout) as {
    data: { totalCount: number; entries: { amountCents: number; type: string; description: string }[] };
  };
  expect(data.entries).toHaveLength(data.totalCount);
  return data.entries;
};

describe.each<Surface>(['embedded', 'http'])('credits grant --from, %s', (surface) => {
  let acme: string;
  let globex: string;
  beforeEach(async () => {
    await begin(surface);
    [acme, globex] = [await subscribe('Acme'), await subscribe('Globex')];
  });
  const from = async (path: string, ...words: string[]) =>
    await stage.tally(['credits', 'grant', '--from', path, '--expires-at', '2027-01-01T00:00:00Z', ...words]);

  test('grants every row once, however often the file is used, and the new rows of one that has grown', async () => {
    const rows = [
      'contractId,amountCents,reason',
      `${acme},500,Sorry`,
      `${acme},500,Sorry`,
      `${globex},250,"Sorry, again"`,
    ];
    const path = file('grants.csv', rows);
    const first = await from(path, '--yes', '-o', 'json');
    expect(first.stderr.split('\n')[0]).toBe('line 3: equal to line 2, and granted as well');
    expect(JSON.parse(first.stdout)).toEqual({
      data: { rows: 3, done: 3, repeated: 0, failed: 0, unknown: 0, pending: 0 },
    });
    expect(first.exitCode).toBe(0);
    expect((await from(path, '--yes')).stdout).toBe('3\t0\t3\t0\t0\t0\n');
    file('grants.csv', [rows[0] ?? '', `${globex},1,New`, ...rows.slice(1)]);
    expect((await from(path, '--yes')).stdout).toBe('4\t1\t3\t0\t0\t0\n');
    expect((await ledgerOf(acme)).map(({ amountCents }) => amountCents)).toEqual([500, 500]);
    expect((await ledgerOf(globex)).map(({ description }) => description)).toEqual(['New', 'Sorry, again']);
    expect((await from(path, '--yes', '--source', 'april')).stdout).toBe('4\t4\t0\t0\t0\t0\n');
  });

  test('a flag that says something else grants no row again, and is told', async () => {
    const path = file('grants.csv', ['contractId,amountCents', `${acme},500`]);
    const at = async (expiry: string) =>
      await stage.tally(['credits', 'grant', '--from', path, '--yes', '--expires-at', expiry]);
    expect((await at('2027-01-01T00:00:00Z')).stdout).toBe('1\t1\t0\t0\t0\t0\n');
    expect((await at('2027-01-01T01:00:00+01:00')).stdout).toBe('1\t0\t1\t0\t0\t0\n');
    const later = await at('2027-02-01T00:00:00Z');
    expect([later.exitCode, later.stdout]).toEqual([10, '1\t0\t0\t1\t0\t0\n']);
    expect(later.stderr).toMatch(/row was granted before and differs in expiresAt; --source[^]*: 1 of 1 row failed\n/);
    const leave = 'leave rows that were done before as they are: changed in the file, they would be done again\n';
    expect(later.stderr).toMatch(new RegExp(`\\n  hint: ${leave}$`));
    expect(await ledgerOf(acme)).toHaveLength(1);
    file('grants.csv', ['contractId,amountCents,specifiers.meterIds', `${acme},500,`, `${globex},1,no-meter`]);
    const mixed = await at('2027-02-01T00:00:00Z');
    expect(mixed.stderr).toContain(`  hint: correct the others and repeat the command; ${leave}`);
    file('grants.csv', ['contractId,amountCents', `${acme},500`]);
    expect((await from(path, '--yes', '--source', 'may')).stdout).toBe('1\t1\t0\t0\t0\t0\n');
  });

  test('tells rows apart by their contract, in whichever order they stand', async () => {
    const header = 'contractId,amountCents,externalId';
    const own = [`${acme},500,`, `${globex},500,`];
    const named = [`${acme},7,sorry`, `${globex},7,sorry`];
    expect((await from(file('grants.csv', [header, ...own, ...named]), '--yes')).stdout).toBe('4\t4\t0\t0\t0\t0\n');
    const reversed = [...own, ...named].toReversed();
    expect((await from(file('grants.csv', [header, ...reversed]), '--yes')).stdout).toBe('4\t0\t4\t0\t0\t0\n');
    for (const contract of [acme, globex]) expect(await ledgerOf(contract)).toHaveLength(2);
  });

  test('shows totals by customer, and asks', async () => {
    const free = [`${globex},,100,0,Beta`, `${globex},,10,25,Beta`];
    const path = file('grants.csv', [
      'contract-id,amount-cents,creditAmount,credit_rate_cents,note',
      `${acme},1250,,,Sorry`,
      ...free,
    ]);
    const words = ['--ignore', 'note'];
    const refused = await from(path, ...words);
    expect(refused).toMatchObject({ exitCode: 11, stdout: '' });
    expect(refused.stderr).toContain('3 grants: 15.00 USD and 100 free credits to 2 customers: not confirmed');
    expect((await from(path, ...words, '--no-input')).exitCode).toBe(11);
    const declined = await stage.tally(
      ['credits', 'grant', '--from', path, '--expires-at', '2027-01-01T00:00:00Z', ...words],
      { isTerminal: true, answers: ['no'] },
    );
    expect(declined.exitCode).toBe(11);
    expect(declined.stderr.replaceAll(/[0-9a-f-]{36}/g, 'ID').replaceAll(/ +/g, ' ')).toContain(
      'Acme ID 1 12.50 USD USD 0\nGlobex ID 2 2.50 USD USD 100\n',
    );
    expect(await ledgerOf(acme)).toEqual([]);
    const agreed = await stage.tally(
      ['credits', 'grant', '--from', path, '--expires-at', '2027-01-01T00:00:00Z', ...words],
      { isTerminal: true, answers: ['yes'] },
    );
    expect(agreed.exitCode).toBe(0);
    expect(await ledgerOf(globex)).toHaveLength(2);
  });

  test('sends nothing while one row is wrong, and says which line and why', async () => {
    const path = file('grants.csv', [
      'contractId,amountCents,externalId,metadata',
      `${acme},500,,`,
      `${acme},5.5,,`,
      ',500,,',
      `${acme},0,,`,
      `${acme},1,same,`,
      `${acme},1,same,`,
      `nobody,1,,`,
      `${acme},1`,
      `${acme},1,,@/etc/passwd`,
      `${acme},1,,"{""a"":"`,
      `${acme},1,000,,`,
    ]);
    const { exitCode, stdout, stderr } = await from(path, '--yes');
    expect([exitCode, stdout]).toEqual([8, '']);
    for (const words of [
      'line 3: amountCents: must be a whole number of cents',
      'line 4: contractId: is required',
      'line 5: amountCents: is 0; --allow-zero allows it',
      'line 7: externalId: the same as in line 6',
      'line 8: contractId: there is no contract nobody',
      'line 9: has 2 columns where the header has 4',
      'line 10: @/etc/passwd: a cell cannot name a file',
      'line 11: --metadata: the JSON is malformed',
      'line 12: has 5 columns where the header has 4',
      '9 rows cannot be sent: nothing was sent',
    ]) {
      expect(stderr).toContain(words);
    }
    expect(await ledgerOf(acme)).toEqual([]);
  });

  test('a column for a name in the metadata gives it as it is written, where its cell says something', async () => {
    const path = file('grants.csv', [
      'contractId,amountCents,externalId,metadata.PO no.,Metadata.team',
      `${acme},500,a,4711,=west`,
      `${acme},600,b,,`,
    ]);
    expect(await from(path, '--yes')).toMatchObject({ exitCode: 0 });
    const again = async (cents: string, externalId: string, ...metadata: string[]) => {
      const words = ['--amount-cents', cents, '--external-id', externalId, '--expires-at', '2027-01-01T00:00:00Z'];
      return (await stage.tally(['credits', 'grant', acme, ...words, ...metadata])).exitCode;
    };
    expect(await again('500', 'a', '--metadata', 'PO no.=4711', '--metadata', 'team==west')).toBe(0);
    expect(await again('600', 'b')).toBe(0);
    expect(await again('600', 'b', '--metadata', 'team==west')).toBe(7);
  });

  test.each(['metadata.', 'metadata.a=b'])('a column %s names nothing', async (column) => {
    const path = file('grants.csv', [`contractId,amountCents,${column}`, `${acme},500,x`]);
    const { exitCode, stderr } = await from(path, '--yes');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`the column "${column}" is not a field`)]);
    expect(await ledgerOf(acme)).toEqual([]);
  });

  test('what every row lacks is told once', async () => {
    const path = file('grants.csv', ['amountCents,reason', '500,a', '600,b']);
    const { exitCode, stdout, stderr } = await stage.tally(['credits', 'grant', '--from', path, '--yes']);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(
      /^tally: missing contractId, expiresAt\n {2}hint: add a column of each name, or give every row the same with <contract-id>, --expires-at\n$/,
    );
  });

  test('one contract for all rows is given beside the file, and a column without values says nothing of an amount', async () => {
    const path = file('grants.csv', ['amountCents,reason', ' ,a', '  ,b']);
    const { exitCode, stdout } = await from(path, acme, '--amount-cents', '500', '--yes');
    expect([exitCode, stdout]).toEqual([0, '2\t2\t0\t0\t0\t0\n']);
    const entries = await ledgerOf(acme);
    const granted = entries.map(({ amountCents, description }) => `${amountCents} ${description}`);
    expect(granted.toSorted()).toEqual(['500 a', '500 b']);
  });

  test('a row that the service refuses is reported and the others are made; the result file has every row', async () => {
    const path = file('grants.csv', [
      'contractId,amountCents,externalId',
      `${acme},500,a`,
      `${acme},600,b`,
      `${acme},700,=c`,
    ]);
    const result = join(stage.directory, 'result.csv');
    await stage.tally([
      'credits',
      'grant',
      acme,
      '--amount-cents',
      '1',
      '--expires-at',
      '2027-01-01T00:00:00Z',
      '--external-id',
      'b',
    ]);
    const { exitCode, stdout, stderr } = await from(path, '--yes', '--result', result);
    expect([exitCode, stdout]).toEqual([10, '3\t2\t0\t1\t0\t0\n']);
    expect(stderr).toContain('line 3: an entry with this externalId exists and differs in amountCents');
    const lines = readFileSync(result, 'utf8')
      .replaceAll(/[0-9a-f-]{36}/g, 'ID')
      .trimEnd()
      .split('\n');
    expect(lines).toEqual([
      '"row","status","id","error"',
      '2,"done","ID",""',
      '3,"failed","ID","an entry with this externalId exists and differs in amountCents"',
      '4,"done","ID",""',
    ]);
    expect(statSync(result).mode & 0o077).toBe(0);
    expect((await from(path, '--yes', '--result', result)).stdout).toBe('3\t0\t2\t1\t0\t0\n');
  });

  test('--dry-run shows the plan and sends nothing', async () => {
    const path = file('grants.csv', ['contractId,amountCents', `${acme},500`]);
    const { exitCode, stdout, stderr } = await from(path, '--dry-run', '-o', 'json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      plan: '1 grant: 5.00 USD to 1 customer',
      totals: [{ amountCents: 500 }],
    });
    expect(stderr).toContain('nothing was sent');
    expect(await ledgerOf(acme)).toEqual([]);
  });

  test('--dry-run tells of rows that a database refuses, ends as the real run would, and keeps nothing', async () => {
    const rows = [`${acme},500,2020-01-01`, `${globex},250,2027-01-01`].map((row) => `${row}T00:00:00Z`);
    const path = file('grants.csv', ['contractId,amountCents,expiresAt', ...rows]);
    const grant = async (flag: string) => await stage.tally(['credits', 'grant', '--from', path, flag]);
    const { exitCode, stdout, stderr } = await grant('--dry-run');
    expect(stdout).toMatch(/^Acme\t.*\n?/m);
    if (surface === 'http')
      return expect([exitCode, stderr]).toEqual([0, expect.stringContaining('2 grants: 7.50 USD')]);
    expect(stderr).toMatch(/^line 2: expiresAt: must be after now, /);
    expect(stderr).toContain(
      '1 of 2 rows would be refused\n  hint: correct them, or only the other rows will be done\n',
    );
    expect([exitCode, await ledgerOf(globex)]).toEqual([10, []]);
    const wrong = file('alone.csv', ['contractId,amountCents,expiresAt', ...rows.slice(0, 1)]);
    const alone = await stage.tally(['credits', 'grant', '--from', wrong, '--dry-run']);
    expect(alone.stderr).toMatch(/1 of 1 row would be refused\n  hint: correct them\n$/);
    const real = await grant('--yes');
    expect(real.stdout).toBe('2\t1\t0\t1\t0\t0\n');
    expect(real.stderr).toContain('correct these rows and repeat the command: no row is done twice');
    expect((await grant('--dry-run')).stderr).toContain('; 1 of 2 rows done before; nothing was sent');
  });

  test('totals have every cent, however large they are', async () => {
    const rows = Array.from({ length: 10 }, () => `${acme},999999999999999`);
    const path = file('large.csv', ['contractId,amountCents', ...rows, `${acme},1`]);
    const { stdout, stderr } = await from(path, '--dry-run', '-o', 'json');
    expect(stdout).toContain('"amountCents": 9999999999999991,');
    expect(stderr).toContain('11 grants: 99999999999999.91 USD');
  });

  const capAt = (units: string) => {
    mkdirSync(join(stage.directory, 'config'), { mode: 0o700 });
    saved('config/policy.yaml', `grants:\n  per-customer-and-month: ${units}\n`);
  };

  test('the policy judges the rows together, before one is sent', async () => {
    capAt('10.00');
    const path = file('grants.csv', [
      'contractId,amountCents',
      `${acme},600`,
      `${globex},600`,
      `${acme},500`,
      `${acme},400`,
    ]);
    const { exitCode, stderr } = await from(path, '--yes');
    expect(exitCode).toBe(11);
    expect(stderr).toMatch(
      /^line 4: per-customer-and-month: 6\.00 USD were granted to this customer in [\d-]+, the rows before this one included, and/,
    );
    // What is refused leaves room for what comes behind it.
    expect(stderr).not.toContain('line 5');
    expect(await ledgerOf(acme)).toEqual([]);
    expect((await from(path, '--yes', '--override-policy', 'agreed')).exitCode).toBe(0);
    expect((await from(path, '--yes')).stdout).toBe('4\t0\t4\t0\t0\t0\n');
  });

  test.each([2, 21])('before one is sent, %i contracts of a customer share a cap of the policy', async (count) => {
    capAt('10.00');
    const customer = await enter('Initech');
    const contracts: string[] = [];
    while (contracts.length < count) contracts.push(await contractOf(customer));
    const amountCents = Math.floor(1000 / (count - 1));
    const rows = contracts.map((contract) => `${contract},${amountCents}`);
    const upToCap = file('cap.csv', ['contractId,amountCents', ...rows.slice(0, -1)]);
    expect(await from(upToCap, '--dry-run')).toMatchObject({ exitCode: 0 });
    const beyond = await from(file('beyond.csv', ['contractId,amountCents', ...rows]), '--yes');
    expect(beyond).toMatchObject({ exitCode: 11, stdout: '' });
    expect(beyond.stderr).toMatch(new RegExp(`^line ${count + 1}: per-customer-and-month: 10.00 USD were granted`));
    for (const contract of contracts) expect(await ledgerOf(contract)).toEqual([]);
  });

  test('what was interrupted goes on when the command is repeated', async () => {
    const path = file('grants.csv', [
      'contractId,amountCents',
      ...Array.from({ length: 30 }, (_, index) => `${acme},${index + 1}`),
    ]);
    const words = [
      'credits',
      'grant',
      '--from',
      path,
      '--expires-at',
      '2027-01-01T00:00:00Z',
      '--yes',
      '--concurrency',
      '3',
    ];
    if (surface === 'embedded') {
      const rehearsed = await stage.tally([...words, '--dry-run'], {}, { untilStopped: async () => {} });
      expect([rehearsed.exitCode, await ledgerOf(acme)]).toEqual([130, []]);
    }
    const stopped = await stage.tally(words, {}, { untilStopped: async () => await untilGranted(10) });
    expect(stopped.exitCode).toBe(130);
    expect(stopped.stderr).toContain('stopping once what is under way is done; interrupt again to stop at once');
    expect(stopped.stderr).toContain('repeat the command to go on');
    const before = await ledgerOf(acme);
    expect(before.length).toBeLessThan(30);
    expect((await stage.tally(words)).stdout).toBe(`30\t${30 - before.length}\t${before.length}\t0\t0\t0\n`);
    expect(await ledgerOf(acme)).toHaveLength(30);
  });

  async function untilGranted(count: number): Promise<void> {
    while ((await ledgerOf(acme)).length < count) await new Promise((resolve) => setImmediate(resolve));
  }
});

const isLong = process.env['TALLY_LONG'] === '1';
const grantCount = isLong ? 10_000 : 2_000;

test(
  `of ${grantCount} grants over HTTP none is doubled and none lost, whatever stands between`,
  { timeout: isLong ? 900_000 : 180_000 },
  async () => {
    await begin('http', true);
    // Each grant reads the ledger of its contract: with twenty of them the books take less of the time than what stands between.
    const contracts: string[] = [];
    for (let index = 0; index < 20; index += 1) contracts.push(await subscribe(`C${index}`));
    const rows = Array.from(
      { length: grantCount },
      (_, index) => `${contracts[index % 20]},${1 + (index % 7)},Row ${index}`,
    );
    const path = file('grants.csv', ['contractId,amountCents,reason', ...rows]);
    const words = ['credits', 'grant', '--from', path, '--expires-at', '2027-01-01T00:00:00Z', '--yes', '-o', 'json'];
    const { stdout, stderr, exitCode } = await stage.tally(words);
    const { data } = JSON.parse(stdout) as { data: Record<string, number> };
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining(`${grantCount} grants: `)]);
    expect(data).toMatchObject({ rows: grantCount, failed: 0, unknown: 0, pending: 0 });
    expect((data['done'] ?? 0) + (data['repeated'] ?? 0)).toBe(grantCount);
    expect(proxy?.counts).toMatchObject({ refused: expect.toSatisfy((count: number) => count > grantCount / 10) });
    expect(proxy?.counts.lost).toBeGreaterThan(grantCount / 100);
    const entries = (await Promise.all(contracts.map(ledgerOf))).flat();
    expect(entries).toHaveLength(grantCount);
    expect(new Set(entries.map(({ description }) => description)).size).toBe(grantCount);
    expect((await stage.tally(['credits', 'grant', '--resume', '-o', 'json'])).stdout).toBe('{\n  "data": []\n}\n');
    expect(await stage.tally(['journal', 'verify', '--quiet'])).toMatchObject({ exitCode: 0 });
  },
);
