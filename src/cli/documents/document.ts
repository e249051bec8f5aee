/** Delivers a document as a page, or as rows and JSON like any answer; to a named file, else as the answer. */

import { BillingError } from '../../errors.ts';
import type { Billing } from '../../operations/index.ts';
import type { View } from '../../operations/operation.ts';
import { namingWhatIsMissing } from '../call/missing-name.ts';
import { printedBy } from '../command-line/global-flags.ts';
import { refuseAlone } from '../command-line/goes-with.ts';
import { readTextFile } from '../files/files.ts';
import { reading } from '../session/open-session.ts';
import { writeOutputFile } from '../files/output-file.ts';
import { render } from '../output/output.ts';
import type { OutputChoice } from '../output/output.ts';
import { say, vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import type { Recipient } from './parties.ts';
import { tell } from '../session/tell.ts';

export const documentFormats = ['html', 'csv', 'json', 'table'] as const;
export type DocumentFormat = (typeof documentFormats)[number];

export interface DocumentFlags {
  readonly format?: DocumentFormat;
  readonly file?: string;
  readonly force?: true;
  readonly sender?: string;
}

export interface Rendering {
  /** May read from the service what only the page shows. */
  readonly page: () => string | Promise<string>;
  /** The answer, or its rows alone where only they are printed. */
  readonly body: (isWhole: boolean) => unknown;
  readonly view: View;
  readonly fields: readonly string[];
}

/** Prints or writes the document of an id. Throws a usage error, before anything is read, if two formats are asked for. */
export async function deliver(
  id: string,
  { flags, session }: { readonly flags: DocumentFlags; readonly session: Session },
  read: (billing: Billing) => Promise<Rendering>,
): Promise<void> {
  refuseAlone([{ name: 'force', goesWith: 'file' }], { force: flags.force, file: flags.file });
  const choice = chosenFormat(flags, session);
  const { terminal } = session;
  await reading(session, await session.target(), async ({ billing }) => {
    const rendering = await namingWhatIsMissing({ ids: [id], billing }, async () => await read(billing));
    const text = await rendered(rendering, choice, session);
    if (flags.file === undefined) return terminal.out(text);
    writeOutputFile(flags.file, terminal.withoutSecrets(text), {
      isForced: flags.force === true,
      hint: 'name a file that does not exist yet, or give --force to replace it',
    });
    tell(session, say`wrote ${flags.file}`);
  });
}

/** A page consists of safe texts only; see html.ts. */
async function rendered(
  { page, body, view, fields }: Rendering,
  choice: OutputChoice | 'html',
  { terminal }: Session,
): Promise<SafeText> {
  if (choice === 'html') return vouch(await page());
  return await render(await body(printedBy[choice.format] === 'all'), view, {
    choice,
    fields,
    stdout: terminal.stdout,
  });
}

/** The format of `--format`, of `-o`, or of the file's ending; else a table on a terminal and the page elsewhere. */
function chosenFormat({ format, file }: DocumentFlags, { flags, output, terminal }: Session): OutputChoice | 'html' {
  const isFormatted = [flags.output, flags.json, flags.jq, flags.columns].some((flag) => flag !== undefined);
  if (isFormatted && format !== undefined) {
    throw new BillingError('usage', '--format and an output flag ask for two formats', {
      hint: 'give one of them',
    });
  }
  if (isFormatted) return output;
  const ending = format === undefined && file !== undefined ? endingOf(file) : undefined;
  const found = format ?? ending ?? (terminal.stdout.isTerminal && file === undefined ? 'table' : 'html');
  return found === 'html' ? found : { format: found };
}

/** Throws a usage error for any other ending: a program that opens such a file could not read it. */
function endingOf(file: string): DocumentFormat | undefined {
  const [, ending] = /[^/\\]\.([^./\\]+)$/.exec(file.toLowerCase()) ?? [];
  const found = documentFormats.find((each) => each === (ending === 'htm' ? 'html' : ending));
  if (ending === undefined || found !== undefined) return found;
  throw new BillingError('usage', `${file}: .${ending} is not the extension of a format`, {
    hint:
      ending === 'pdf'
        ? 'end it with .html: a browser saves that page as PDF'
        : 'end it with .html, .csv or .json, or give --format',
  });
}

/** The lines of `--sender`, the file of a letterhead. */
export async function senderLines({ sender }: DocumentFlags, { terminal }: Session): Promise<string[]> {
  if (sender === undefined) return [];
  const text = await readTextFile(sender, terminal);
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** A customer with the billing address, if the service shows it. */
export async function readRecipient(billing: Billing, customerId: string): Promise<Recipient> {
  const { body } = await billing.call('customers.get', { params: { customerId } });
  const address = await optional(
    async () => await billing.call('customers.billingAddress', { params: { customerId } }),
  );
  return { customer: body.data, address: address?.body.data ?? undefined };
}

/** Undefined if the service does not offer an extra of the document, or the key may not see it. */
export async function optional<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof BillingError && ['notOffered', 'forbidden'].includes(error.kind)) return undefined;
    throw error;
  }
}
