/** `tally invoices export`: one invoice as a page to print or to send, or as its lines. */

import type { Command } from 'commander';

import type { Billing } from '../../operations/index.ts';
import type { View } from '../../operations/operation.ts';
import { deliver, documentFormats, readRecipient, senderLines } from '../documents/document.ts';
import type { DocumentFlags, Rendering } from '../documents/document.ts';
import type { Session } from '../session/session.ts';
import type { CommandModule } from './command.ts';

export const declare: CommandModule['declare'] = (command, { runAction }) => {
  documentOptions(command)
    .description(
      'Prints an invoice as one page that needs no other file: no script, no font, no request. A browser prints it, or saves it as PDF. CSV has its lines, JSON all of it.',
    )
    .usage('<invoice-id> [flags]')
    .argument('<invoice-id>', 'invoice id')
    .addHelpText(
      'after',
      `
Examples:
  # A page to send
  tally invoices export 01900000-0000-7000-8000-000000000008 --file invoice.html
  # Its lines for a spreadsheet
  tally invoices export 01900000-0000-7000-8000-000000000008 --format csv
`,
    )
    .action(
      async (id: string, flags: DocumentFlags) =>
        await runAction(async (session) => {
          await deliver(id, { flags, session }, async (billing) => await readInvoice(billing, id, { flags, session }));
        }),
    );
};

/** Adds the flags that every document takes. */
export function documentOptions(command: Command): Command {
  return command
    .addOption(command.createOption('--format <format>', 'how to print it').choices([...documentFormats]))
    .option('--file <path>', 'write it to this new file; its extension says the format')
    .option('--force', 'with --file: replace a file')
    .option('--sender <file>', 'text file with the lines to print at the top: your name first, then your address');
}

const view: View = {
  rows: 'data.invoice.lineItems',
  columns: [
    { header: 'NAME', path: 'name' },
    { header: 'DESCRIPTION', path: 'description' },
    { header: 'QUANTITY', path: 'quantity', format: 'number' },
    { header: 'UNIT USD', path: 'unitPrice', format: 'number' },
    { header: 'EXACT USD', path: 'totalAmount', format: 'number' },
    { header: 'AMOUNT', path: 'totalAmountCents', format: 'money' },
    { header: 'START', path: 'servicePeriod.start', format: 'date' },
    { header: 'END', path: 'servicePeriod.end', format: 'date' },
  ],
};
const fields = 'id name description quantity unitPriceCents totalAmountCents unitPrice totalAmount servicePeriod'.split(
  ' ',
);

async function readInvoice(
  billing: Billing,
  invoiceId: string,
  { flags, session }: { readonly flags: DocumentFlags; readonly session: Session },
): Promise<Rendering> {
  const sender = await senderLines(flags, session);
  const { body } = await billing.call('invoices.get', { params: { invoiceId }, query: { include: 'lineItems' } });
  const invoice = body.data;
  return {
    async page() {
      const { invoicePage } = await import('../documents/invoice-page.ts');
      return invoicePage({ invoice, sender, ...(await readRecipient(billing, invoice.customerId)) });
    },
    async body(isWhole) {
      if (!isWhole) return { data: { invoice } };
      const { customer, address = null } = await readRecipient(billing, invoice.customerId);
      return { data: { invoice, customer, billingAddress: address } };
    },
    view,
    fields,
  };
}
