/** Which contracts to pull: ids from the command line and from a file. */

import { BadRequestError, BillingError } from '../../errors.ts';
import { readCsv } from '../files/csv-file.ts';
import { nameOfFile } from '../files/files.ts';
import { folded } from '../wire/rows.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** A contract, and those facts that the documented interface does not give, if known. */
export interface Wanted {
  readonly contractId: string;
  readonly customerId?: string | undefined;
  readonly planId?: string | undefined;
}

export interface WantedFlags {
  readonly contract?: readonly string[];
  readonly from?: string;
  readonly customer?: string;
  readonly plan?: string;
}

/** In the order given, each once. `--customer` and `--plan` apply to contracts that name no other. */
export async function readWanted(flags: WantedFlags, terminal: Terminal): Promise<Wanted[]> {
  const unused = (['customer', 'plan'] as const).find((name) => flags[name] !== undefined);
  if (unused !== undefined && flags.contract === undefined && flags.from === undefined) {
    throw new BillingError('usage', `--${unused} works only with --contract or --from`);
  }
  const listed = flags.from === undefined ? [] : await readFrom(flags.from, terminal);
  const all = [...(flags.contract ?? []).map((contractId): Wanted => ({ contractId })), ...listed];
  const byId = new Map<string, Wanted>();
  for (const each of all) byId.set(each.contractId, withKnown(each, byId.get(each.contractId)));
  if (byId.has('')) throw new BillingError('usage', '--contract: the id is empty');
  const { customer: customerId, plan: planId } = flags;
  return [...byId.values()].map((each) => withKnown(each, { customerId, planId }));
}

/** A contract with what is known of it besides, where it does not say that itself. */
export function withKnown({ contractId, customerId, planId }: Wanted, known: Omit<Wanted, 'contractId'> = {}): Wanted {
  return { contractId, customerId: customerId ?? known.customerId, planId: planId ?? known.planId };
}

/** Names of columns, ignoring case, dashes, underscores and spaces. */
const columnNames = { contractId: ['contractid', 'contract', 'id'], customerId: ['customerid'], planId: ['planid'] };

const formOfFile =
  'a file has one id per line and nothing else, or a header with contractId, and customerId and planId where known';

function withoutIds(path: string): BadRequestError {
  return new BadRequestError(`${nameOfFile(path)} names no contract`, { hint: formOfFile });
}

/** Ids, one per line, or a CSV file whose header names the column of ids; other columns are ignored. */
async function readFrom(path: string, terminal: Terminal): Promise<Wanted[]> {
  const { header, rows } = await readCsv(path, ',', terminal, () => withoutIds(path));
  const columnOf = (names: readonly string[]) => header.findIndex((name) => names.includes(folded(name)));
  const own = columnOf(columnNames.contractId);
  if (own === -1 && header.length > 1) {
    throw new BadRequestError(`${nameOfFile(path)}: there is no column contractId`, { hint: formOfFile });
  }
  if (own === -1)
    return [header, ...rows.map(({ cells }) => cells)].map(([cell = '']) => ({ contractId: cell.trim() }));
  // Otherwise every contract of the mirror would be pulled.
  if (rows.length === 0) throw withoutIds(path);
  const [customer, plan] = [columnOf(columnNames.customerId), columnOf(columnNames.planId)];
  return rows.map(({ line, cells }) => {
    const cell = (index: number) => cells[index]?.trim() || undefined;
    const contractId = cell(own);
    if (contractId === undefined) throw new BadRequestError(`${nameOfFile(path)}: line ${line} has no contract id`);
    return { contractId, customerId: cell(customer), planId: cell(plan) };
  });
}
