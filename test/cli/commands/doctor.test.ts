import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { beforeEach, describe, expect, test } from 'vitest';

import { damage } from '../../doctor/damage.ts';
import type { CommandStage } from '../../support/stage.ts';
import { openStage, saved, stage } from '../../support/use-stage.ts';

let contractId: string;
let database: string;

/** A contract on a fixed price with one grant; gives its id. */
async function makeBook({ tally }: CommandStage): Promise<string> {
  const id = async (...argv: string[]) => (await tally([...argv, '-o', 'name', '--quiet'])).stdout.trim();
  const contact = 'name=Ada,email=ada@acme.example,roles=accounts_payable';
  const customerId = await id('customers', 'create', '--name', 'Acme', '--contact', contact);
  const price = ['--product-name', 'Seats', '--name', 'Seat', '--model', 'FLAT', '--unit-amount', '10'];
  const pricingId = await id('pricing', 'create', ...price, '--price-interval', 'MONTH');
  const planId = await id('plans', 'create', '--name', 'Team', '--item', `pricingId=${pricingId}`);
  const contract = ['--customer-id', customerId, '--plan-id', planId, '--start-date', '2026-03-01'];
  const made = await id('contracts', 'create', ...contract);
  await tally(['credits', 'grant', made, '--amount-cents', '500', '--expires-at', '2099-01-01T00:00:00Z']);
  return made;
}

beforeEach(async () => {
  await openStage('embedded');
  contractId = await makeBook(stage);
  database = join(stage.directory, 'stage.db');
});

/** A copy of the book with a changed ledger entry. */
async function wrongBook(): Promise<string> {
  const [copy, wrong] = [join(stage.directory, 'copy.db'), join(stage.directory, 'wrong.db')];
  await stage.tally(['backup', copy]);
  copyFileSync(copy, wrong);
  damage(wrong, ({ run }) => run(`UPDATE ledgerEntries SET description = 'never mind'`));
  return wrong;
}

describe('tally doctor', () => {
  test('says nothing on standard output when all is right, and what it looked at beside it', async () => {
    const { exitCode, stdout, stderr } = await stage.tally(['doctor', '--full']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
    expect(stderr).toMatch(/^default: 1 contract, 2 invoices, 1 ledger entry, head [0-9a-f]{64}$/m);
    expect(stderr).toMatch(/stage\.db, schema \d+: 0 findings$/m);
    expect((await stage.tally(['doctor', '--quiet'], { isTerminal: true })).stdout).toBe('');
  });

  test('makes anew what is derived from events where it is told to, and only says so with --dry-run', async () => {
    const wrong = await wrongBook();
    const copy = join(stage.directory, 'copy.db');
    damage(copy, ({ run }) => run('INSERT INTO eventTail VALUES (1, 5, 99)'));
    const doctor = async (...flags: string[]) => await stage.tally(['doctor', '--full', '--database', copy, ...flags]);
    expect(await doctor('--rebuild', '--dry-run')).toMatchObject({ exitCode: 10 });
    expect((await doctor()).stderr).toContain('tally doctor --rebuild');
    const { exitCode, stderr } = await doctor('--rebuild');
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`${copy}: the data derived from events was rebuilt\n`);
    expect(await stage.tally(['doctor', '--rebuild', '--quiet', '--database', wrong])).toMatchObject({ exitCode: 10 });
  });

  test('refuses to rebuild what is not there, and makes no file for it', async () => {
    const missing = join(stage.directory, 'misspelt.db');
    expect(await stage.tally(['doctor', '--rebuild', '--database', missing])).toMatchObject({
      exitCode: 4,
      stderr: `tally: there is no database ${missing}\n  hint: check the path\n`,
    });
    expect(existsSync(missing)).toBe(false);
  });

  test('says that it upgraded what it rebuilds, and where the copy from before is', async () => {
    const older = saved(
      'older.db',
      gunzipSync(readFileSync(join(import.meta.dirname, '../../fixtures/db/v13.sqlite.gz'))),
    );
    const { stderr } = await stage.tally(['doctor', '--rebuild', '--database', older]);
    expect(stderr).toContain(
      `upgraded the database; a copy from before is kept: ${older}.schema-13\n${older}: the data derived`,
    );
  });

  test('ends with 10 when something is wrong, names it, and says what to do', async () => {
    const wrong = await wrongBook();
    const { exitCode, stdout, stderr } = await stage.tally(['doctor', '--database', wrong, '--json', 'check,severity']);
    expect(exitCode).toBe(10);
    expect(JSON.parse(stdout)).toEqual([{ check: 'ledger-chain', severity: 'error' }]);
    expect(stderr).toContain('1 found to be wrong; the first: entry');
    expect(stderr).toContain('hint: restore a backup');
  });

  test('shows a person each finding whole, with a command for the same database', async () => {
    const copy = join(stage.directory, 'copy.db');
    await stage.tally(['backup', copy]);
    damage(copy, ({ run }) => run('INSERT INTO eventTail VALUES (1, 5, 99)'));
    const { stdout } = await stage.tally(['doctor', '--full', '--database', copy], { isTerminal: true, columns: 40 });
    expect(stdout).toMatch(/^error: .{40,}\n {2}check {3}roll-ups\n {2}object {2}[\da-f-]{36}\n/);
    expect(stdout).toContain(`fix     rebuild it from the events: tally doctor --rebuild --database ${copy}\n`);
  });

  test('names in a fix the organization that a finding is about, where there are several', async () => {
    const copy = join(stage.directory, 'copy.db');
    await stage.tally(['orgs', 'create', '--name', 'other']);
    await stage.tally(['backup', copy]);
    damage(copy, ({ run }) => {
      run(`INSERT INTO webhookEndpoints (orgId, id, url, isEnabled, allowPrivate, secret, createdAt, updatedAt)
        SELECT id, 'e', 'https://example.com', 1, 0, 's', createdAt, createdAt FROM organizations WHERE name = 'other'`);
      run(`INSERT INTO webhookEvents (orgId, id, type, body, createdAt)
        SELECT orgId, 'v', 't', '{}', createdAt FROM webhookEndpoints`);
      run(`INSERT INTO webhookDeliveries (orgId, id, eventId, endpointId, status, attempts, createdAt)
        SELECT orgId, 'd', 'v', 'e', 'pending', 0, '2026-02-01T00:00:00.000Z' FROM webhookEndpoints`);
    });
    const { stdout } = await stage.tally(['doctor', '--database', copy, '--json', 'fix']);
    expect(stdout).toContain(`run tally serve, or: tally webhooks deliver --database ${copy} --org other`);
  });

  test('ends with 0 when something is only worth a look', async () => {
    const wrong = await wrongBook();
    damage(wrong, ({ run, reseal }) => {
      reseal(contractId);
      run(`UPDATE organizations SET lastCreatedAt = '2030-01-01T00:00:00.000Z'`);
    });
    const { exitCode, stdout } = await stage.tally(['doctor', '--database', wrong, '-o', 'json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ data: { findingCount: 1, findings: [{ check: 'clock' }] } });
  });

  test('is refused on a remote service, and with a field that it does not have', async () => {
    expect((await stage.tally(['doctor', '--columns', 'nothing'])).exitCode).toBe(2);
    await openStage('http');
    expect((await stage.tally(['doctor'])).exitCode).toBe(12);
  });

  test('does not make a database where there is none', async () => {
    const none = join(stage.directory, 'none.db');
    const { exitCode, stderr } = await stage.tally(['doctor', '--database', none]);
    expect([exitCode, stderr]).toEqual([4, `tally: there is no database ${none}\n  hint: check the path\n`]);
    expect(existsSync(none)).toBe(false);
  });

  test('says of a file that is no database what it is', async () => {
    const text = saved('notes.txt', 'Buy milk. '.repeat(500));
    const { exitCode, stderr } = await stage.tally(['doctor', '--database', text]);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('not a tallybook database'),
    });
  });
});

describe('tally credits verify', () => {
  test.each(['embedded', 'http'] as const)('shows the head of a sound ledger, %s', async (surface) => {
    await openStage(surface);
    const id = await makeBook(stage);
    const { exitCode, stdout } = await stage.tally(['credits', 'verify', id, '-o', 'json']);
    const asTable = await stage.tally(['credits', 'verify', id, '-o', 'table']);
    expect(exitCode).toBe(0);
    expect(asTable).toMatchObject({ exitCode: 0, stderr: 'nothing wrong was found\n' });
    expect(JSON.parse(stdout)).toEqual({
      data: {
        contractId: id,
        checkedAt: '2026-03-01T00:00:00.000Z',
        entryCount: 1,
        invoiceCount: 2,
        ledgerHead: expect.stringMatching(/^[0-9a-f]{64}$/),
        findings: [],
      },
    });
  });

  test('shows a person what was looked at, and each finding whole', async () => {
    const wrong = ['--database', await wrongBook()];
    const { stdout } = await stage.tally(['credits', 'verify', contractId, ...wrong], {
      isTerminal: true,
      columns: 40,
    });
    expect(stdout).toMatch(new RegExp(`^Contract ${contractId}\\n {2}checked at .*\\n {2}entries {6}1\\n`));
    expect(stdout).toMatch(/\n\nerror: entry \S+ does not fit the one before it\n {2}check {3}ledger-chain\n/);
  });

  test('ends with 10 when something is wrong', async () => {
    const wrong = await wrongBook();
    const { exitCode, stdout, stderr } = await stage.tally(['credits', 'verify', contractId, '--database', wrong]);
    expect(exitCode).toBe(10);
    expect(stdout).toMatch(/^ledger-chain\terror\tentry \S+ does not fit the one before it\t/);
    expect(stderr).toContain('1 found to be wrong; the first: entry');
  });

  test.each([
    ['names in a fix the database that was looked at, for a person', 'table', true],
    ['prints what the service answers, for a program', 'json', false],
  ])('%s', async (_what, format, isNamed) => {
    const copy = join(stage.directory, 'copy.db');
    await stage.tally(['backup', copy]);
    damage(copy, ({ run, reseal }) => {
      run('UPDATE ledgerEntries SET balanceAfterCents = balanceAfterCents + 1');
      reseal(contractId);
    });
    const { stdout } = await stage.tally(['credits', 'verify', contractId, '--database', copy, '-o', format]);
    expect(stdout).toContain('with the output of: tally doctor -o json');
    expect(stdout.includes(`tally doctor -o json --database ${copy}`)).toBe(isNamed);
  });

  test('of a contract that is not there is not found', async () => {
    expect((await stage.tally(['credits', 'verify', 'nothing'])).exitCode).toBe(4);
  });
});

test('a copy of a wrong book names the command that looks at its source', async () => {
  const wrong = await wrongBook();
  const { exitCode, stderr } = await stage.tally(['copy', '--from', wrong, '--to', join(stage.directory, 'to.db')]);
  expect([exitCode, stderr]).toEqual([10, expect.stringContaining('the copy is equal, and doctor finds 1 in it')]);
  expect(stderr).toContain(`check the source with: tally doctor --full --database ${wrong}\n`);
});

describe('tally backup and tally restore', () => {
  test('give the same book back, in which nothing is wrong', async () => {
    const [copy, restored] = [join(stage.directory, 'copy.db'), join(stage.directory, 'restored books.db')];
    const backup = await stage.tally(['backup', copy, '-o', 'json']);
    expect(backup.exitCode).toBe(0);
    expect(JSON.parse(backup.stdout)).toEqual({ data: JSON.parse(readFileSync(`${copy}.manifest.json`, 'utf8')) });
    const restore = await stage.tally(['restore', copy, '--to', restored]);
    expect(restore.exitCode).toBe(0);
    expect(restore.stdout).toMatch(/^default\t1\t1\t2\t1\t0\t[0-9a-f]{64}\n$/);
    expect(restore.stderr).toContain(`tally doctor --database '${restored}'\n`);
    expect((await stage.tally(['doctor', '--full', '--database', restored])).exitCode).toBe(0);
    const ledgers = [database, restored].map(
      async (each) => (await stage.tally(['credits', 'ledger', contractId, '--database', each])).stdout,
    );
    expect(await ledgers[1]).toBe(await ledgers[0]);
  });

  test('never write over anything', async () => {
    const copy = join(stage.directory, 'copy.db');
    await stage.tally(['backup', copy]);
    expect((await stage.tally(['backup', copy])).exitCode).toBe(7);
    expect((await stage.tally(['restore', copy])).exitCode).toBe(7);
  });

  test('refuse a damaged backup', async () => {
    const copy = join(stage.directory, 'copy.db');
    await stage.tally(['backup', copy]);
    writeFileSync(copy, readFileSync(copy).subarray(0, 9000));
    const { exitCode, stdout } = await stage.tally(['restore', copy, '--to', join(stage.directory, 'new.db')]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 10, stdout: '' });
  });
});
