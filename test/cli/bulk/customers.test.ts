/** Customers and their managers from a file: none done twice, none lost. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import type { Surface } from '../../support/stage.ts';
import { openStage, saved, stage } from '../../support/use-stage.ts';

const file = (name: string, rows: readonly string[]) => saved(name, `${rows.join('\n')}\n`);

describe.each<Surface>(['embedded', 'http'])('customers --from, %s', (surface) => {
  beforeEach(async () => await openStage(surface));

  test('create makes each customer once, and never takes another of the same id for it', async () => {
    const header = 'name,externalCustomerId,contact.name,contact.email,contact.roles,tags,paymentProviderId,provider';
    const path = file('customers.csv', [
      header,
      'Acme,acme,Ada,ada@acme.example,primary+accounts_payable,"a,b",cus_1,stripe',
      '"Globex, Inc",globex,Bo,bo@globex.example,primary,,,',
    ]);
    const words = ['customers', 'create', '--from', path, '--yes'];
    const first = await stage.tally(words);
    expect([first.stdout, first.stderr]).toEqual(['2\t2\t0\t0\t0\t0\n', '2 customers\n']);
    const again = await stage.tally(words);
    const note = 'there already, and left as they are: 2 customers';
    expect([again.stdout, again.stderr]).toEqual(['2\t0\t2\t0\t0\t0\n', `2 customers\n${note}\n`]);
    const { stdout } = await stage.tally(['customers', 'list', '--json', 'name,tags']);
    expect(JSON.parse(stdout)).toEqual([
      { name: 'Globex, Inc', tags: [] },
      { name: 'Acme', tags: ['a', 'b'] },
    ]);
    file('customers.csv', [header, 'Cafe\u0301,cafe,Ada,ada@cafe.example,primary,,,']);
    expect((await stage.tally(words)).stdout).toBe('1\t1\t0\t0\t0\t0\n');
    expect((await stage.tally(words)).stdout).toBe('1\t0\t1\t0\t0\t0\n');
    file('customers.csv', [header, 'Somebody else,acme,Ada,ada@acme.example,primary,,,']);
    expect(await stage.tally(words)).toMatchObject({ exitCode: 10, stdout: '1\t0\t0\t1\t0\t0\n' });
  });

  test('create needs an id of your own in every row', async () => {
    const path = file('customers.csv', [
      'name,externalCustomerId,contact',
      'A,,name=Ada',
      ...['b', 'b', ''].map((id) => `B,${id},"name=Ada,email=a@b.example,roles=primary"`),
    ]);
    const { exitCode, stderr } = await stage.tally(['customers', 'create', '--from', path, '--yes']);
    expect([exitCode, stderr]).toEqual([8, expect.stringContaining('line 2: contacts[0].email: is required')]);
    expect(stderr).toMatch(
      /^line 4: externalCustomerId: the same as in line 3\nline 5: externalCustomerId: is required,/m,
    );
  });

  test('rows without any cell filled in are none, as spreadsheets write them behind the last one', async () => {
    const header = 'name,externalCustomerId,contact.name,contact.email,contact.roles';
    const rows = [header, 'Acme,acme,Ada,ada@acme.example,primary', ',,,,', ' ,"",,,'];
    const path = file('customers.csv', [...rows, 'B,,Bo,bo@b.example,primary']);
    const words = ['customers', 'create', '--from', path, '--yes'];
    expect((await stage.tally(words)).stderr).toMatch(/^line 5: externalCustomerId: is required/);
    file('customers.csv', rows);
    expect((await stage.tally(words)).stdout).toBe('1\t1\t0\t0\t0\t0\n');
  });

  test('assign-csm sends 100 rows at a time, and says whom it did not find', async () => {
    const contact = 'name=Ada,email=ada@example.com,roles=primary';
    for (const index of [1, 120]) {
      const link = ['--payment-provider-id', `cus_${index}`, '--provider', 'stripe'];
      const words = ['customers', 'create', '--name', `C${index}`, '--contact', contact, ...link];
      expect((await stage.tally(words)).exitCode).toBe(0);
    }
    const rows = Array.from({ length: 120 }, (_, index) => `cus_${index + 1},grace@example.com,Grace Hopper`);
    const path = file('managers.csv', ['stripeCustomerId,csm.email,csm.name', ...rows]);
    const result = join(stage.directory, 'result.csv');
    const words = ['customers', 'assign-csm', '--from', path, '--yes', '--result', result];
    expect(await stage.tally(words)).toMatchObject({ exitCode: 10, stdout: '120\t2\t0\t118\t0\t0\n' });
    const lines = readFileSync(result, 'utf8').split('\n');
    expect(lines[1]).toMatch(/^2,"done","[0-9a-f-]{36}",""$/);
    expect(lines[2]).toBe('3,"failed","","no customer has this id at the payment processor"');
    expect(lines[120]).toMatch(/^121,"done"/);
    file('managers.csv', ['stripeCustomerId,csm.email', 'cus_1,nobody']);
    expect((await stage.tally(words)).stderr).toContain('line 2: csm.email: must be an email address');
  });
});
