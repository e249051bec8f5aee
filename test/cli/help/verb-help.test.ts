import { describe, expect, test } from 'vitest';

import { inputOf } from '../../../src/cli/command-line/flags.ts';
import type { FlagSpec, Shape } from '../../../src/cli/command-line/manifest.ts';
import { fieldsNote } from '../../../src/cli/help/fields-note.ts';
import { helpPages } from '../../../src/cli/help-pages.ts';
import { manifest } from '../shell.ts';

const pages = await helpPages(manifest);

function line(command: string, flag: string): string {
  const page = pages.find(({ words }) => words.join(' ') === command);
  return page?.flags.find(({ form }) => form.startsWith(`--${flag} `))?.description ?? '';
}

describe('help says what is typed', () => {
  test.each([
    ['customers create', 'billing-address', 'fields: address1, city, region, postalCode, country; optional: address2'],
    ['customers create', 'contact', 'roles (accounts_payable, primary, signatory, csm, account_manager, other)'],
    ['customers assign-csm', 'assignment', 'fields: stripeCustomerId, csm.email; optional: csm.name'],
    ['credits grant', 'specifiers', 'fields: meterIds, productIds, pricingIds, eventNames, properties.NAME'],
    ['contracts create', 'credit-settings', 'budgets (JSON)'],
    ['customers update', 'clear', 'legal-name, external-customer-id, payment-provider-id'],
    ['credits grant', 'credit-amount', 'goes with --credit-rate-cents'],
    ['credits grant', 'credit-rate-cents', '0 for free credits'],
    ['meters create', 'aggregation-type', 'SUM when not given'],
  ])('%s --%s', (command, flag, words) => {
    expect(line(command, flag)).toContain(words);
  });

  test('an instant may be a date', () => {
    const { flags = [] } = pages.find(({ words }) => words.join(' ') === 'usage events') ?? {};
    expect(flags.map(({ form }) => form)).toContain('--start <date|date-time>');
  });

  test('every flag of an operation is described', () => {
    const bare = manifest.commands.flatMap(({ group, verb, flags }) =>
      flags.filter(({ description }) => description === '').map(({ flag }) => `${group} ${verb} --${flag}`),
    );
    expect(bare).toEqual([]);
  });

  test('a change has no defaults: what is not given stays', () => {
    const changes = manifest.commands.filter(({ verb }) => verb === 'update');
    expect(changes.length).toBeGreaterThan(4);
    const defaulted = changes.flatMap(({ group, flags }) =>
      flags
        .filter((spec) => fieldsNote(spec).includes('when not given') || spec.description.includes('when not given'))
        .map(({ flag }) => `${group} update --${flag}`),
    );
    expect(defaulted).toEqual([]);
  });
});

test('every field that help names can be given by its name alone', async () => {
  const records = manifest.commands.flatMap((command) =>
    command.flags.filter(({ fields }) => fields !== undefined).map((spec) => ({ command, spec })),
  );
  expect(records.length).toBeGreaterThan(10);
  for (const { command, spec } of records) {
    for (const name of namesIn(fieldsNote(spec))) {
      const given = { positionals: [], flags: { [spec.flag]: [`${name}=1`] }, cleared: [] };
      const input = await inputOf(command, given, { readText: async () => await Promise.resolve('') });
      const body = (input.body ?? {}) as Readonly<Record<string, unknown>>;
      const [value] = [body[spec.name]].flat();
      const path = name.split('.');
      const found = path.reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], value);
      expect(found).toBeDefined();
      expect(isKnown(spec, path)).toBe(true);
    }
  }
});

function namesIn(note: string): string[] {
  return note
    .replaceAll(/ \([^)]*\)/g, '')
    .replaceAll(/fields: |optional: /g, '')
    .split(/[,;] /);
}

function isKnown(spec: FlagSpec, [first = '', second]: readonly string[]): boolean {
  const shape: Shape | undefined = spec.fields?.[first];
  return second === undefined ? shape !== undefined : second === 'NAME' || shape?.fields?.[second] !== undefined;
}
