/** `tally doctor`: checks a whole database against every rule. */

import { withoutPassword } from '../../database-url.ts';
import { BillingError } from '../../errors.ts';
import type { Examination, Finding } from '../../operations/findings.ts';
import { findingColumns } from '../../operations/maintenance.ts';
import type { Maintenance } from '../../operations/maintenance.ts';
import { onSameTarget } from '../command-line/same-target.ts';
import { checkFields, printBody } from '../output/output.ts';
import { counted, say } from '../terminal/safe-text.ts';
import { tellOfOpening } from '../session/open-session.ts';
import { confirmWrite } from '../session/prompts.ts';
import type { Session } from '../session/session.ts';
import { type EmbeddedTarget, requireEmbedded } from '../target/target.ts';
import type { CommandModule } from './command.ts';
import { tell } from '../session/tell.ts';

const view = { rows: 'data.findings', columns: findingColumns, layout: 'findings' } as const;
const fields = ['check', 'severity', 'objectId', 'problem', 'fix'];

export const declare: CommandModule['declare'] = (command, { runAction }) => {
  command
    .description(
      'Checks the file, its schema, and the books of every organization: balances from entries, invoices from events and frozen prices, seals, numbers, periods. Changes nothing, except derived data with --rebuild. Exit code 10 when anything is wrong; what is only worth a look is a warning.',
    )
    .usage('[flags]')
    .option(
      '--full',
      'also every index, every version of every event, every late event, and the data kept to meter quickly',
    )
    .option('--rebuild', 'first rebuild, from the events alone, the data kept to find and meter them quickly')
    .addHelpText(
      'after',
      `
Examples:
  # Is everything right?
  tally doctor
  # Every finding with its object and what to do, for a program
  tally doctor --full -o json
  # The data derived from events is wrong: rebuild it, and check again
  tally doctor --rebuild --full
`,
    )
    .action(async (flags: DoctorFlags) => await runAction(async (session) => await doctor(flags, session)));
};

interface DoctorFlags {
  readonly full?: true;
  readonly rebuild?: true;
}

async function doctor({ full, rebuild }: DoctorFlags, session: Session): Promise<void> {
  const { dependencies, output } = session;
  checkFields(output, fields, view);
  const target = requireEmbedded(await session.target(), 'doctor');
  const { database, events } = target;
  if (rebuild === true && session.flags.dryRun !== true) {
    await confirmWrite(session, target, say`Rebuild the data derived from events`);
  }
  const maintenance = await dependencies.openMaintenance();
  if (rebuild === true) await rebuildDerived(session, target, maintenance);
  const data = await maintenance.examine(database, { isFull: full === true, events });
  const shown = { ...data, findings: data.findings.map((each) => onSameBooks(each, data, session)) };
  // An empty table says less than the summary.
  if (output.format !== 'table' || data.findings.length > 0)
    await printBody({ data: shown }, { view, fields }, session);
  tellSummary(data, session);
  const errors = data.findings.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return;
  throw new BillingError('checkFailed', `${errors.length} found to be wrong; the first: ${errors[0]?.problem}`, {
    hint: errors[0]?.fix ?? '',
  });
}

/** The finding with a fix whose commands work on this database, and on the organization that the finding is about. */
function onSameBooks(found: Finding, { organizations }: Examination, { flags }: Session): Finding {
  const about = organizations.length > 1 ? organizations.find(({ id }) => id === found.objectId)?.name : undefined;
  return { ...found, fix: onSameTarget(found.fix, about === undefined ? flags : { ...flags, org: about }) };
}

async function rebuildDerived(session: Session, target: EmbeddedTarget, maintenance: Maintenance): Promise<void> {
  const { database, events } = target;
  const tellWords = (words: string): void => tell(session, say`${withoutPassword(database)}: ${words}`);
  if (session.flags.dryRun === true) return tellWords('the data derived from events would be rebuilt');
  const { isRebuilt, copyBefore } = await maintenance.rebuild(database, { events });
  tellOfOpening(session, target, { copyBefore });
  tellWords(isRebuilt ? 'the data derived from events was rebuilt' : 'there is no data derived from events here');
}

function tellSummary(
  { database, schemaVersion, organizations, findingCount, findings }: Examination,
  session: Session,
) {
  for (const { name, contractCount, invoiceCount, entryCount, ledgerHead, eventsDroppedBefore } of organizations) {
    const entries = entryCount === 1 ? '1 ledger entry' : `${entryCount} ledger entries`;
    tell(
      session,
      say`${name}: ${counted(contractCount, 'contract')}, ${counted(invoiceCount, 'invoice')}, ${entries}, head ${ledgerHead}`,
    );
    if (eventsDroppedBefore === undefined) continue;
    tell(
      session,
      say`${name}: events from before ${eventsDroppedBefore} were dropped: what they billed was compared with what was frozen of them`,
    );
  }
  const listed = findings.length === findingCount ? '' : `, ${findings.length} of them listed`;
  tell(session, say`${database}, schema ${schemaVersion}: ${counted(findingCount, 'finding')}${listed}`);
}
