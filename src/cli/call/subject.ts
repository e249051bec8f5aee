/** Whom or what a write is about, for the person who has to agree to it: an id alone says little. */

import type { Billing, OperationName } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import { loadManifest } from '../command-line/manifest.ts';
import type { CommandSpec } from '../command-line/manifest.ts';
import { render } from '../output/output.ts';
import { reading } from '../session/open-session.ts';
import type { OpenBilling, Session } from '../session/session.ts';
import type { Target } from '../target/target.ts';
import { say, vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import { rowsOf, valueAt, wireText } from '../wire/rows.ts';
import { ifTold } from '../session/if-told.ts';
import { patienceMilliseconds } from '../session/prompts.ts';

/**
 * What the first id of the command names, as its `get` shows it, one table row, with the name of its customer. Empty if there
 * is no `get` for it, or the service does not tell: the write itself then gives the better answer.
 */
export async function subjectOf(
  { positionals: [named] }: CommandSpec,
  { params = {} }: CallInput,
  { session, target }: { readonly session: Session; readonly target: Target },
): Promise<SafeText> {
  const nothing = vouch('');
  if (named?.reference === undefined) return nothing;
  const { commands } = await loadManifest(named.reference);
  const read = commands.find(({ verb }) => verb === 'get');
  const [idOf] = read?.positionals ?? [];
  if (read === undefined || idOf === undefined) return nothing;
  const shownBy = async ({ billing }: OpenBilling) =>
    await ifTold(async () => {
      const id = String(params[named.name]);
      const { body } = await billing.call(read.operation as OperationName, { params: { [idOf.name]: id } });
      const { view, fields } = read;
      const shown = { choice: { format: 'table' }, fields, stdout: session.terminal.stderr, isBeside: true } as const;
      const { rows } = rowsOf(body, view);
      const table = await render({ rows }, { ...view, rows: 'rows' }, shown);
      return vouch(`${table}${await customerOf(rows[0], billing)}`);
    });
  const options = { timeoutMilliseconds: patienceMilliseconds, isRehearsal: true };
  return (await reading(session, target, shownBy, options)) ?? nothing;
}

/** The customer's name: the row has only an id. */
async function customerOf(row: unknown, billing: Billing): Promise<SafeText> {
  const customerId = wireText(valueAt(row, 'customerId'));
  if (customerId === '') return vouch('');
  // A key may be allowed to read the one and not the other.
  const customer = await ifTold(async () => await billing.call('customers.get', { params: { customerId } }));
  return customer === undefined ? vouch('') : say`of ${customer.body.data.name}\n`;
}
