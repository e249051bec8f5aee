import { describe, expect, test } from 'vitest';
import * as z from 'zod';

import { commandManifest } from '../../tools/command-manifest.ts';
import { loadManifest } from '../../src/cli/command-line/manifest.ts';
import type { CommandSpec } from '../../src/cli/command-line/manifest.ts';
import { allOperations } from '../../src/operations/all.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { createShell, manifest } from '../cli/shell.ts';

const examples = allOperations.flatMap((operation) => {
  const command = manifest.commands.find((each) => each.operation === operation.name);
  const done = command?.examples.filter(({ line }) => !line.endsWith(' --dry-run'));
  return operation.examples.map(({ input }, index) => ({
    line: done?.[index]?.line ?? '',
    operation,
    input,
  }));
});

test('the committed manifest is the one that the declarations give, whole and by group', async () => {
  const declared = JSON.parse(JSON.stringify(manifest));
  expect(await loadManifest()).toEqual(declared);
  for (const group of Object.keys(manifest.groups)) {
    const commands = declared.commands.filter((command: CommandSpec) => command.group === group);
    expect(await loadManifest(group)).toEqual({ ...declared, commands });
  }
});

test('every operation has exactly one command', () => {
  expect(manifest.commands.map(({ operation }) => operation)).toEqual(allOperations.map(({ name }) => name));
  const words = manifest.commands.map(({ group, verb }) => `${group} ${verb}`);
  expect(new Set(words).size).toBe(words.length);
});

test.each(examples)('$line makes the call that the example declares', async ({ line, operation, input }) => {
  const shell = createShell();
  // Who could not take it back is asked.
  const outcome = await shell.run(`${line.replace(/^tally /, '')}${operation.destroys === true ? ' --yes' : ''}`);
  expect(outcome.stderr.replace(/^keep it.*\n/, '')).toBe('');
  // A grant without an external id gets one.
  const made = operation.name === 'credits.grant' ? { externalId: expect.any(String) } : {};
  const body = operation.body === undefined ? {} : { body: { ...made, ...(input.body as object | undefined) } };
  // What has versions is read before it is changed (call.test.ts), other contracts once one is made (new-contract.test.ts), and
  // the wallet once a grant is made (grants-policy.test.ts).
  const looksAround = operation.versioned === true || ['contracts.create', 'credits.grant'].includes(operation.name);
  const calls = looksAround ? shell.calls.filter(({ name }) => name === operation.name) : shell.calls;
  expect(calls).toEqual([{ name: operation.name, input: { ...input, ...body } }]);
});

test.each(manifest.commands)('$operation has a help page with an example', async ({ group, verb, summary }) => {
  const outcome = await createShell().run([group, verb, '--help']);
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
  expect(outcome.stdout).toContain(summary);
  expect(outcome.stdout).toMatch(/Examples:\n {2}# .+\n {2}tally /);
});

describe('a declaration', () => {
  const base = allOperations.find(({ name }) => name === 'customers.create') as Operation;
  const flagsOf = (fields: z.core.$ZodLooseShape) =>
    commandManifest([{ ...base, body: z.strictObject(fields), examples: [] }]).commands[0]?.flags;

  test('gives each field a flag in kebab-case, with what it takes', () => {
    const flags = flagsOf({ externalCustomerId: z.string().optional().describe('Yours.'), amountCents: z.int() });
    expect(flags).toEqual([
      {
        flag: 'amount-cents',
        in: 'body',
        name: 'amountCents',
        placeholder: 'cents',
        description: '',
        kind: 'integer',
        isRequired: true,
      },
      {
        flag: 'external-customer-id',
        in: 'body',
        name: 'externalCustomerId',
        placeholder: 'id',
        description: 'Yours.',
        kind: 'text',
      },
    ]);
  });

  test('may name the flag itself, and the plain name is understood too', () => {
    expect(flagsOf({ tags: z.array(z.string()).meta({ flag: 'tag' }).optional() })?.[0]).toMatchObject({
      flag: 'tag',
      alias: 'tags',
    });
  });

  test('says which fields can be null', () => {
    expect(flagsOf({ legalName: z.string().nullable() })?.[0]).toMatchObject({ kind: 'text', isNullable: true });
  });

  test('takes pairs for every record and every list of records, also where a record may take several forms', () => {
    const flags = commandManifest(allOperations).commands.flatMap((command) =>
      command.flags.map((spec) => ({ ...spec, at: `${command.operation} --${spec.flag}` })),
    );
    expect(flags.filter(({ element }) => element?.kind === 'object' || element?.kind === 'members')).toEqual(
      flags.filter(({ kind, element }) => kind === 'members' && element?.kind === 'object'),
    );
    const records = flags.filter(({ kind }) => kind === 'object' || kind === 'objects');
    expect(records.filter(({ fields }) => Object.keys(fields ?? {}).length === 0)).toEqual([]);
    expect(records.map(({ at }) => at)).toContain('contracts.create --override');
  });

  test.each(['output', 'input', 'all', 'dryRun', 'profile'])('cannot take the flag of %s', (name) => {
    expect(() => flagsOf({ [name]: z.string() })).toThrow(/is taken/);
  });
});
