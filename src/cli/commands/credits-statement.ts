/** `tally credits statement`: opening balance, movements and closing balance of a contract's credits over a period. */

import { BillingError } from '../../errors.ts';
import type { Billing } from '../../operations/index.ts';
import { isDraftNumber, namesDraft } from '../../operations/invoice-number.ts';
import type { View } from '../../operations/operation.ts';
import { exactNumber } from '../../exact-json.ts';
import { creditsText } from '../../whole-amounts.ts';
import { deliver, optional, readRecipient, senderLines } from '../documents/document.ts';
import type { DocumentFlags, Rendering } from '../documents/document.ts';
import type { Recipient } from '../documents/parties.ts';
import { statementOf } from '../documents/statement.ts';
import type { Statement, StatementPeriod } from '../documents/statement.ts';
import type { Holding } from '../wire/amounts.ts';
import { spanOf } from '../command-line/instant-flag.ts';
import { columnPaths } from '../output/output.ts';
import type { Session } from '../session/session.ts';
import type { CommandModule } from './command.ts';
import { documentOptions } from './invoices-export.ts';
import { ifTold } from '../session/if-told.ts';

interface StatementFlags extends DocumentFlags {
  readonly from?: string;
  readonly to?: string;
}

export const declare: CommandModule['declare'] = (command, { runAction }) => {
  documentOptions(command)
    .description(
      'Prints the opening balance of a wallet, every movement of a period by the time at which it was written, and the closing balance. The page needs no other file; CSV and the table have one line per movement.',
    )
    .usage('<contract-id> [flags]')
    .argument('<contract-id>', 'contract id')
    .option('--from <date>', 'from this date or date-time, included; all when not given')
    .option('--to <date>', 'up to this date or date-time, excluded')
    .addHelpText(
      'after',
      `
Examples:
  # A month as a page to send
  tally credits statement 01900000-0000-7000-8000-000000000006 --from 2026-03-01 --to 2026-04-01 --file march.html
  # All movements, for a spreadsheet
  tally credits statement 01900000-0000-7000-8000-000000000006 --format csv
`,
    )
    .action(
      async (contractId: string, flags: StatementFlags) =>
        await runAction(async (session) => {
          const period = spanOf(flags);
          await deliver(
            contractId,
            { flags, session },
            async (billing) => await readStatement(billing, contractId, { period, flags, session }),
          );
        }),
    );
};

const view: View = {
  rows: 'data.lines',
  columns: [
    { header: 'CREATED', path: 'createdAt', format: 'timestamp' },
    { header: 'TYPE', path: 'type' },
    { header: 'AMOUNT', path: 'amountCents', format: 'money' },
    { header: 'CREDITS', path: 'creditAmount', format: 'number' },
    { header: 'BALANCE', path: 'balanceCents', format: 'money' },
    { header: 'CREDIT BALANCE', path: 'creditBalance', format: 'number' },
    { header: 'DESCRIPTION', path: 'description' },
    { header: 'ID', path: 'id' },
  ],
  parts: {
    totals: [
      { header: 'TYPE', path: 'type' },
      { header: 'ENTRIES', path: 'count', format: 'number' },
      { header: 'AMOUNT', path: 'amountCents', format: 'money' },
      { header: 'CREDITS', path: 'creditAmount', format: 'number' },
    ],
  },
};

interface Asked {
  readonly period: StatementPeriod;
  readonly flags: DocumentFlags;
  readonly session: Session;
}

async function readStatement(billing: Billing, contractId: string, asked: Asked): Promise<Rendering> {
  const { period, flags, session } = asked;
  const sender = await senderLines(flags, session);
  const { body } = await billing.call('credits.ledger', { params: { contractId } });
  const statement = statementOf(body.data.entries, period);
  return {
    async page() {
      const { statementPage } = await import('../documents/statement-page.ts');
      const recipient = await recipientOf(billing, contractId);
      const invoiceNumbers = await numbersOfDrafts(billing, statement);
      return statementPage({ contractId, recipient, sender, period, statement, invoiceNumbers });
    },
    body: () => ({ data: wireStatement(statement, { contractId, period }) }),
    view,
    fields: [...columnPaths(view), 'invoiceId'],
  };
}

/** Undefined if the service does not offer contracts: the statement is then the same without a name on it. */
async function recipientOf(billing: Billing, contractId: string): Promise<Recipient | undefined> {
  const contract = await optional(async () => {
    try {
      return await billing.call('contracts.get', { params: { contractId } });
    } catch (error) {
      // Its ledger was read, so the contract is there: it is the path that is not.
      if (error instanceof BillingError && (error.kind === 'notFound' || error.answeredStatus === 404))
        return undefined;
      throw error;
    }
  });
  return contract === undefined ? undefined : await readRecipient(billing, contract.body.data.customerId);
}

/**
 * The numbers that drafts got after their credits were settled, for instance when a grant expired within the period: an entry
 * never changes, so its description keeps naming the draft.
 */
async function numbersOfDrafts(billing: Billing, { movements }: Statement): Promise<ReadonlyMap<string, string>> {
  const named = movements.filter(({ entry }) => namesDraft(entry.description));
  const ids = new Set(named.flatMap(({ entry }) => entry.invoiceId ?? []));
  const numbers = new Map<string, string>();
  // The page is right without them, and whatever refuses one of them (a key, a limit) refuses the next.
  await ifTold(async () => {
    for (const invoiceId of ids) {
      const { invoiceNumber } = (await billing.call('invoices.get', { params: { invoiceId } })).body.data;
      if (!isDraftNumber(invoiceNumber)) numbers.set(invoiceId, invoiceNumber);
    }
  });
  return numbers;
}

/** The statement as data; its lines begin with the opening balance and end with the closing one. */
function wireStatement(
  { currency, opening, movements, closing, totals }: Statement,
  { contractId, period }: { readonly contractId: string; readonly period: StatementPeriod },
) {
  return {
    contractId,
    currency,
    from: period.from?.toString() ?? null,
    to: period.to?.toString() ?? null,
    opening: wireBalance(opening),
    totals: totals.map(({ type, count, ...total }) => ({ type, count, currency, ...wireAmount(total) })),
    closing: wireBalance(closing),
    lines: [
      { type: 'opening', currency, ...wireBalance(opening) },
      ...movements.map(({ entry: { id, type, createdAt, description, invoiceId }, after, ...change }) => ({
        id,
        createdAt,
        type,
        description,
        currency,
        ...wireAmount(change),
        ...wireBalance(after),
        invoiceId,
      })),
      { type: 'closing', currency, ...wireBalance(closing) },
    ],
  };
}

function wireAmount({ cents, creditMicros }: Holding) {
  return { amountCents: exactNumber(String(cents)), creditAmount: exactNumber(creditsText(creditMicros)) };
}

function wireBalance({ cents, creditMicros }: Holding) {
  return { balanceCents: exactNumber(String(cents)), creditBalance: exactNumber(creditsText(creditMicros)) };
}
