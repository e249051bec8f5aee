/** What a field that names a resource can be: ids of the service in use, each with a label that distinguishes it. */

import type { Billing } from '../../operations/index.ts';
import { referenced } from '../../operations/references.ts';
import type { ReferenceKind } from '../../operations/references.ts';
import { pagesOf } from '../every-row.ts';
import { moneyText, valueAt, wireText } from '../wire/rows.ts';
import type { Choice } from '../terminal/questions.ts';

/** A longer list is no help to a person, who knows an id or a part of the name. */
const mostChoices = 1_000;

/**
 * The choices of a kind, in the order of its list, at most `most`. Ledger entries are those of one contract; without its id
 * there are none. Throws what the service throws.
 */
export async function choicesOf(
  kind: ReferenceKind,
  billing: Billing,
  { contractId, most = mostChoices }: { readonly contractId?: string | undefined; readonly most?: number } = {},
): Promise<readonly Choice[]> {
  const reference = referenced[kind];
  const { operation, value, label } = reference;
  const isLedger = operation === 'credits.ledger';
  if (isLedger && contractId === undefined) return [];
  const types: readonly string[] | undefined = 'types' in reference ? reference.types : undefined;
  const picked = 'query' in reference ? { query: reference.query } : {};
  const whole = isLedger ? { params: { contractId: contractId ?? '' }, ...picked } : {};
  const isPaged = !unpaged.has(operation);
  const names = (label as readonly string[]).includes('customerId')
    ? await namesOf(billing)
    : new Map<string, string>();
  const read = async (query: Readonly<Record<string, string>>) => {
    const { body } = await billing.call(operation, isPaged ? { query } : whole);
    const data = valueAt(body, 'data');
    const rows = Array.isArray(data) ? data : (valueAt(data, 'entries') ?? []);
    return { data: rows, hasMore: valueAt(body, 'hasMore') === true, total: valueAt(body, 'total') };
  };
  const found = new Map<string, Choice>();
  let count = 0;
  for await (const { rows } of pagesOf(read)) {
    for (const row of rows) {
      if (types !== undefined && !types.includes(wireText(valueAt(row, 'type')))) continue;
      const text = wireText(valueAt(row, value));
      const words = label
        .map((path) => wordOf(path, wireText(valueAt(row, path))))
        .map((word) => names.get(word) ?? word);
      if (text !== '') found.set(text, { value: text, label: words.filter((word) => word !== '').join(', ') });
    }
    count += rows.length;
    if (count >= most) break;
  }
  return [...found.values()].slice(0, most);
}

function wordOf(path: string, text: string): string {
  return path.endsWith('Cents') && text !== '' ? moneyText(text) : text;
}

async function namesOf(billing: Billing): Promise<ReadonlyMap<string, string>> {
  const customers = await choicesOf('customers', billing);
  return new Map(customers.map(({ value, label }) => [value, label]));
}

/** Lists that come whole. */
const unpaged: ReadonlySet<string> = new Set(['credits.ledger', 'keys.list', 'orgs.list', 'webhooks.list']);
