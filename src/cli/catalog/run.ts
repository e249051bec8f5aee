/** The verbs of `tally catalog`. */

import { readFile, stat } from 'node:fs/promises';

import { BillingError } from '../../errors.ts';
import type { Billing } from '../../operations/index.ts';
import type { View } from '../../operations/operation.ts';
import { refuseAlone } from '../command-line/goes-with.ts';
import { shellWord } from '../command-line/shell-word.ts';
import { nameOfFile, readTextFile } from '../files/files.ts';
import { openForWriting } from '../session/open-billing.ts';
import { reading } from '../session/open-session.ts';
import { checkOutputFile, writeOutputFile } from '../files/output-file.ts';
import { createWaitingNote } from '../session/patiently.ts';
import { allowFormats, checkFields, jsonAnswer, printBody } from '../output/output.ts';
import { confirmShown, isAgreed, mayAsk } from '../session/prompts.ts';
import { counted, say } from '../terminal/safe-text.ts';
import type { OpenBilling, Session } from '../session/session.ts';
import type { Target } from '../target/target.ts';
import { readCatalogFile } from './file.ts';
import type { CatalogFile } from './file.ts';
import { catalogOf, readCatalog } from './live.ts';
import { diffOf } from './diff.ts';
import type { CatalogDiff } from './diff.ts';
import { diffData, diffText } from './diff-text.ts';
import { takeSteps } from './steps.ts';
import { fileForm, writeCatalog } from './writing.ts';
import { noteNothingSent, tell } from '../session/tell.ts';

export interface ExportFlags {
  readonly file?: string;
  readonly force?: true;
}

export interface ChangeFlags {
  readonly prune?: true;
  readonly exitCode?: true;
}

export async function exportCatalog({ file, force }: ExportFlags, session: Session): Promise<void> {
  const { terminal, output, flags } = session;
  refuseAlone([{ name: 'force', goesWith: 'file' }], { file, force });
  allowFormats(flags, ['yaml', 'json']);
  if (output.jsonFields !== undefined) {
    throw new BillingError('usage', 'a catalog is printed whole', { hint: 'give -o json, or --jq EXPRESSION' });
  }
  const read = async ({ billing }: OpenBilling) => await readCatalog(billing);
  const catalog = catalogOf(await reading(session, await session.target(), read));
  const text = output.format === 'json' ? await jsonAnswer(fileForm(catalog), output) : await writeCatalog(catalog);
  if (file === undefined) return terminal.out(text);
  await writeNew(file, terminal.withoutSecrets(text), { isForced: force === true, isRehearsal: flags.dryRun === true });
  tell(session, flags.dryRun === true ? say`dry run: ${file} was not written` : say`wrote ${file}`);
}

interface Writing {
  readonly isForced: boolean;
  /** Checks whether it could be written, and writes nothing. */
  readonly isRehearsal: boolean;
}

/** Never replaces what may be somebody's work; leaves a file with the same text as it is. */
async function writeNew(path: string, text: string, { isForced, isRehearsal }: Writing): Promise<void> {
  // Of a pipe or a terminal nothing is read, such as of /dev/stdout: the end would never come.
  const isFile = (await stat(path).catch(() => undefined))?.isFile() === true;
  const before = isFile ? await readFile(path, 'utf8').catch(() => undefined) : undefined;
  if (before === text) return;
  if (before !== undefined && !isForced) {
    throw new BillingError('refused', `${path} already exists with other content: nothing was written`, {
      hint: `see what differs with: tally catalog diff ${shellWord(path)}, or give --force to replace it`,
    });
  }
  if (isRehearsal) checkOutputFile(path, { isForced });
  else writeOutputFile(path, text, { isForced });
}

export async function diffCatalog(path: string, flags: ChangeFlags, session: Session): Promise<void> {
  checkFields(session.output, fields, view);
  const file = await fileAt(path, session);
  const diff = await reading(session, await session.target(), ({ billing }) => diffWith(file, flags, billing));
  await show(diff, session);
  const { length } = diff.changes;
  if (flags.exitCode !== true || length === 0) return;
  throw new BillingError('checkFailed', `the catalog differs from ${nameOfFile(path)}: ${counted(length, 'change')}`, {
    hint: `change it to what the file says with: tally catalog apply ${shellWord(path)}${flags.prune === true ? ' --prune' : ''}`,
  });
}

export async function applyCatalog(path: string, flags: ChangeFlags, session: Session): Promise<void> {
  checkFields(session.output, fields, view);
  const file = await fileAt(path, session);
  const target = await session.target();
  if (session.flags.dryRun !== true) noteNothingSent(session);
  const opened = await openForWriting(session, target, {}, { isResumable: true });
  try {
    const diff = await diffWith(file, flags, opened.plain);
    if (session.flags.dryRun === true) {
      await show(diff, session);
      return tell(session, say`dry run on ${target.environment}: nothing was changed`);
    }
    if (diff.changes.length > 0) {
      await confirmDiff(diff, session, target);
      await takeSteps(diff.steps, diff.known, { billing: opened.billing, onWait: createWaitingNote(session) });
    }
    session.dependencies.atInterrupt(undefined);
    if (session.output.format !== 'table' || session.output.columns !== undefined) return await show(diff, session);
    session.terminal.out(say`${doneWords(diff)}\n`);
  } finally {
    await opened.close();
  }
}

async function fileAt(path: string, { terminal }: Session): Promise<CatalogFile> {
  return readCatalogFile(await readTextFile(path, terminal), nameOfFile(path));
}

async function diffWith(file: CatalogFile, { prune }: ChangeFlags, billing: Billing): Promise<CatalogDiff> {
  return diffOf(file, await readCatalog(billing), { prune: prune === true });
}

/** Shows the changes before it asks: a catalog holds the prices of all future customers. */
async function confirmDiff(diff: CatalogDiff, session: Session, target: Target): Promise<void> {
  const { terminal, flags } = session;
  const isAsked = mayAsk(session) && !isAgreed(session, target);
  if (isAsked || flags.quiet !== true) terminal.err(diffText(diff, terminal.stderr));
  const effect = `Make ${counted(diff.changes.length, 'change')} to the catalog`;
  await confirmShown(session, target, {
    effect: say`${effect}`,
    message: say`${effect} on ${target.environment}?`,
    unasked: 'changes to the catalog need confirmation: nothing was changed',
    declined: 'not confirmed: nothing was changed',
  });
}

const view: View = {
  rows: 'data.changes',
  columns: [
    { header: 'ACTION', path: 'action' },
    { header: 'KIND', path: 'kind' },
    { header: 'NAME', path: 'name' },
    { header: 'WHY', path: 'why' },
  ],
};
const nameView: View = { rows: 'data.changes', columns: [{ header: 'NAME', path: 'name' }] };
const fields = ['action', 'kind', 'name', 'reason', 'why', 'differences'];

async function show(diff: CatalogDiff, session: Session): Promise<void> {
  const { terminal, output } = session;
  if (output.format === 'table' && output.columns === undefined) return terminal.out(diffText(diff, terminal.stdout));
  const shown = output.format === 'name' ? nameView : view;
  await printBody({ data: diffData(diff) }, { view: shown, fields }, session);
}

function doneWords({ changes, unchanged }: CatalogDiff): string {
  const count = (action: string) => changes.filter((change) => change.action === action).length;
  return `${count('create')} created, ${count('replace')} replaced, ${count('archive')} archived, ${unchanged} unchanged`;
}
