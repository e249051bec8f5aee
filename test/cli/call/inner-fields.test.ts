import { describe, expect, test } from 'vitest';

import { checkInner } from '../../../src/cli/call/inner-fields.ts';
import { createShell, manifest } from '../shell.ts';

describe('a field inside of a field', () => {
  test.each([
    ['customers list', 'metadata.externalCustomerID', 'did you mean metadata.externalCustomerId?'],
    ['customers list', 'metadata.x', 'the fields of metadata are externalCustomerId, externalCompanyIds'],
    ['customers list', 'name.first', 'name has no fields'],
    ['customers list', 'billingContacts.email', 'did you mean billingContacts.*.email?'],
    ['customers list', 'billingContacts.mail', 'billingContacts is a list: billingContacts.*.name is of each element'],
    ['customers list', 'billingContacts.*.emial', 'did you mean billingContacts.*.email?'],
    ['customers list', 'tags.first', 'tags is a list: tags.* is of each element'],
    ['contracts update k1 --metadata a=b', 'metadata.a.b', 'metadata.a has no fields'],
    ['contracts get k1 --include terms', 'terms.pricings', 'the fields of terms are '],
  ])('that no answer of %s has is refused before anything is sent: %s', async (line, path, hint) => {
    for (const flag of [`--json id,${path}`, `--columns ${path}`]) {
      const shell = createShell();
      const { code, stdout, stderr } = await shell.run(`${line} ${flag}`);
      expect([code, stdout, shell.calls.length]).toEqual([2, '', 0]);
      expect(stderr).toContain(`there is no field "${path}"\n  hint: ${hint}`);
    }
  });

  test.each([
    ['customers list', 'metadata.externalCustomerId,externalIds.0.id,billingContacts.*.email,tags.*'],
    ['contracts list', 'metadata.whatever'],
    ['usage events', 'properties.tokens'],
    ['contracts get k1 --include terms', 'terms.netTerms'],
  ])('that an answer of %s may have is taken: %s', async (line, paths) => {
    expect((await createShell().run(`${line} --json ${paths}`)).code).toBe(0);
  });

  test('is taken by the name that a view has for it, of every command', async () => {
    for (const command of manifest.commands) {
      const { columns, included = {} } = command.view;
      const shown = [...columns, ...Object.values(included).flat()];
      const [jsonFields, names] = [shown.map(({ path }) => path), shown.map(({ header }) => header)];
      await expect(checkInner({ format: 'json', jsonFields }, command)).resolves.toBeUndefined();
      await expect(checkInner({ format: 'table', columns: names }, command)).resolves.toBeUndefined();
    }
  });
});
