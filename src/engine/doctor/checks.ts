/**
 * Every check of doctor by its name, with the rule that it enforces. Rules from reliability 5 carry the number of their
 * invariant. Tests hold what is not checked here: 19 (the order of events does not matter) and 21 (costs add up) are about
 * calculations alone, and the part of 11 beyond keys is about repeated calls.
 */

import { foldWhole, problemsIn } from '../../calculation/ledger-fold.ts';
import type { LedgerEntry } from '../../calculation/ledger.ts';
import type { LedgerProblem, LedgerRule } from '../../calculation/ledger-check.ts';
import type { Inspection } from '../../store/inspection.ts';
import type { Check, ContractBooks, OrganizationFacts } from './check.ts';
import * as contract from './contract-rules.ts';
import * as credits from './credit-rules.ts';
import * as invoice from './invoice-rules.ts';
import * as organization from './organization-rules.ts';

const restore = 'restore a backup from before the change, and find out who wrote to the database beside tallybook';
const report = 'keep a backup, and report this with the output of: tally doctor -o json';

/** Checks of the file itself. */
export const databaseChecks = {
  permissions: {
    rule: 'Only the owner of the files of a database may read or write them.',
    severity: 'warning',
    fix: 'run: chmod 600, on each file that is named',
    find: ({ exposedFiles }) =>
      exposedFiles.map((file) => ({ objectId: file, problem: `${file} is open to other users of this machine` })),
  },
  'passing-copies': {
    rule: 'Nothing is left of a backup, restoration or upgrade that was killed.',
    severity: 'warning',
    fix: 'remove the directory, unless one of these is running',
    find: ({ passingCopies = [] }) =>
      passingCopies.map((directory) => ({
        objectId: directory,
        problem: `${directory} holds what a backup, restoration or upgrade is making, or was making when it was killed`,
      })),
  },
  'disk-space': {
    rule: 'The disk has room for the log, and for a copy of the file, as an upgrade makes it first.',
    severity: 'warning',
    fix: 'free space on the disk: while it is full nothing can be written',
    find: ({ location, scarceDisk }) =>
      scarceDisk === undefined
        ? []
        : [
            {
              objectId: location,
              problem: `${scarceDisk.freeBytes} bytes are free on its disk, of ${scarceDisk.neededBytes} that it may need at once`,
            },
          ],
  },
  integrity: {
    rule: 'Every page, row and index of the file is whole.',
    severity: 'error',
    fix: 'stop using the file, and restore a backup: tally restore FILE --to DATABASE',
    find: ({ location, damages }) => damages.map((problem) => ({ objectId: location, problem })),
  },
  'acknowledged-writes': {
    rule: 'The file has everything that was acknowledged.',
    severity: 'error',
    fix: 'put the log (-wal) back if it was removed while nothing used the file, else send again what was written then; after that, remove the note of it (-newest)',
    find: ({ location, lostSpans }) =>
      lostSpans.map(({ after, until }) => ({
        objectId: location,
        problem: `what was written ${after === '' ? '' : `after ${after} `}until ${until} is not in it: its log was removed, or an older file put in its place`,
      })),
  },
  schema: {
    rule: 'Tables, indexes and triggers are those that this version of tallybook makes.',
    severity: 'error',
    fix: restore,
    find: ({ schemaDifferences }) =>
      schemaDifferences.map(({ name, difference }) => ({ objectId: name, problem: `the ${name} is ${difference}` })),
  },
  'schema-unknown': {
    rule: 'Tables, indexes and triggers can be compared with those that this version of tallybook makes.',
    severity: 'warning',
    fix: 'run doctor now and then as a user who has CREATE on the database, on the server that takes writes',
    find: ({ location, schemaUnknown }) =>
      schemaUnknown === undefined
        ? []
        : [{ objectId: location, problem: `the schema was not compared: ${schemaUnknown}` }],
  },
  references: {
    rule: 'Every row that names another names one that is there, in the same organization (invariant 25).',
    severity: 'error',
    fix: restore,
    find: ({ danglingReferences }) =>
      danglingReferences.map(({ table, row, parent }) => ({
        objectId: row === undefined ? table : `${table} ${row}`,
        problem: `a row of ${table} names a row of ${parent} that is not there`,
      })),
  },
} as const satisfies Record<string, Check<Inspection>>;

/** Checks of one contract. */
export const contractChecks = {
  readable: {
    rule: 'Everything that is stored of a contract can be read and rated.',
    severity: 'error',
    fix: report,
    // Found while the books are read: see examination.ts.
    find: () => [],
  },
  'entry-signs': {
    rule: 'Grants add, usage and expirations take, and a reversal is the opposite of its target (invariant 1).',
    severity: 'error',
    fix: report,
    find: ledgerCheck('entry-signs'),
  },
  'grant-bounds': {
    rule: 'A grant never holds less than nothing, nor more than was granted (invariant 2).',
    severity: 'error',
    fix: report,
    find: ledgerCheck('grant-bounds'),
  },
  balances: {
    rule: 'The balance after every entry is the sum of the entries up to it (invariant 3).',
    severity: 'error',
    fix: report,
    find: ledgerCheck('balances'),
  },
  'no-dust': {
    rule: 'The last cent of a grant with a rate goes with its last credit (invariant 4).',
    severity: 'error',
    fix: report,
    find: ledgerCheck('no-dust'),
  },
  'grant-links': {
    rule: 'Every draw on a grant names an earlier grant of the same contract and currency (invariant 5).',
    severity: 'error',
    fix: report,
    find: ledgerCheck('grant-links'),
  },
  conservation: {
    rule: 'Every entry belongs to a grant, so that what grants hold together is the balance (invariant 6).',
    severity: 'error',
    fix: report,
    find: ledgerCheck('conservation'),
  },
  'burn-order': {
    rule: 'No usage is paid by a grant while one before it in the order could pay (invariant 7).',
    severity: 'error',
    fix: report,
    find: credits.burnOrderProblems,
  },
  eligibility: {
    rule: 'Usage is paid by grants that may pay it: metered, before their expiry, named by them, not finalized before (invariant 8).',
    severity: 'error',
    fix: report,
    find: credits.eligibilityProblems,
  },
  expiry: {
    rule: 'Nothing lapses before its time, and what has lapsed holds nothing (invariant 9).',
    severity: 'error',
    fix: report,
    find: credits.expiryProblems,
  },
  'noted-expiries': {
    rule: 'A contract whose grant expires, and still holds something, is noted for that instant or an earlier one.',
    severity: 'error',
    fix: report,
    find: credits.notedExpiryProblems,
  },
  reversals: {
    rule: 'An entry is undone at most once, and reversals and expirations never (invariant 10).',
    severity: 'error',
    fix: report,
    find: ledgerCheck('reversals'),
  },
  'grant-keys': {
    rule: 'An external id makes one grant of a contract, and nothing else (invariant 11).',
    severity: 'error',
    fix: report,
    find: credits.grantKeyProblems,
  },
  'ledger-chain': {
    rule: 'Every entry fits the seal of the one before it, as it was written (invariant 12).',
    severity: 'error',
    fix: restore,
    find: contract.chainProblems,
  },
  'entry-times': {
    rule: 'Entries are in the order of their instants (invariant 12).',
    severity: 'error',
    fix: report,
    find: contract.entryTimeProblems,
  },
  'invoice-sums': {
    rule: 'An invoice is the sum of its lines and not below 0, and a line its exact amount, half-up (invariant 13).',
    severity: 'error',
    fix: report,
    find: invoice.sumProblems,
  },
  'credit-lines': {
    rule: 'What an invoice shows as credits is what the ledger took, and at most its usage (invariant 14).',
    severity: 'error',
    fix: report,
    find: invoice.creditLineProblems,
  },
  'invoice-seals': {
    rule: 'A finalized invoice is as it was finalized (invariant 15).',
    severity: 'error',
    fix: restore,
    find: invoice.invoiceSealProblems,
  },
  periods: {
    rule: 'The invoices of a contract cover its periods from the first on, without gap or overlap (invariant 16).',
    severity: 'error',
    fix: report,
    find: invoice.periodProblems,
  },
  'noted-drafts': {
    rule: 'A contract that will lack drafts is noted for the day on which it does, or an earlier one.',
    severity: 'error',
    fix: report,
    find: invoice.notedDraftProblems,
  },
  'invoice-lines': {
    rule: 'Every line of a finalized invoice is what its events and frozen prices give (invariants 18 and 20).',
    severity: 'error',
    fix: report,
    find: invoice.recomputationProblems,
  },
  tiers: {
    rule: 'Tiers begin at 0, each where the last ended, and the last has no end (invariant 22).',
    severity: 'error',
    fix: report,
    find: contract.tierProblems,
  },
  budgets: {
    rule: 'Budgets are numbered without gaps, and only one with a cap is exhausted (invariant 23).',
    severity: 'error',
    fix: report,
    find: contract.budgetProblems,
  },
  'invoice-states': {
    rule: 'Every invoice is in a state that a path of transitions leads to (invariant 24).',
    severity: 'error',
    fix: report,
    find: invoice.stateProblems,
  },
  tenancy: {
    rule: 'Prices, grants and invoices name only what their own organization has (invariant 25).',
    severity: 'error',
    fix: restore,
    find: contract.tenancyProblems,
  },
  attribution: {
    rule: 'Every event has one contract that it can be billed on.',
    severity: 'warning',
    fix: 'send contractId with the events, or end one of the contracts',
    find: contract.attributionProblems,
  },
  'unpriced-credits': {
    rule: 'Free credits have a value, so that they pay for something.',
    severity: 'warning',
    fix: 'make a contract with creditSettings.creditRateCents, or grant credits with a rate beside them',
    find: credits.unpricedCreditProblems,
  },
} as const satisfies Record<string, Check<ContractBooks>>;

/** Checks of a whole organization. */
export const organizationChecks = {
  'invoice-numbers': {
    rule: 'Legal invoice numbers are 1 to n, in the order of finalization (invariant 17).',
    severity: 'error',
    fix: report,
    find: organization.numberProblems,
  },
  events: {
    rule: 'Every version of an event is kept, and it belongs to its customer (invariants 12, 18 and 25).',
    severity: 'error',
    fix: restore,
    find: organization.eventProblems,
  },
  'roll-ups': {
    rule: 'The data kept to find and meter events quickly is what a recount of the events gives.',
    severity: 'error',
    fix: 'rebuild it from the events: tally doctor --rebuild',
    find: organization.rollUpProblems,
  },
  'late-flags': {
    rule: 'Only events of finalized periods are left out of bills (invariant 18).',
    severity: 'error',
    fix: report,
    find: organization.lateFlagProblems,
  },
  'late-events': {
    rule: 'No event comes after its period was finalized.',
    severity: 'warning',
    fix: 'see them with: tally usage late; to bill them, send new events',
    find: organization.lateEventProblems,
  },
  'dropped-events': {
    rule: 'Events that were dropped take no space.',
    severity: 'warning',
    fix: 'their server may still be removing them; otherwise repeat: tally events drop',
    find: organization.droppedEventProblems,
  },
  outbox: {
    rule: 'Webhooks are sent when they are due.',
    severity: 'warning',
    fix: 'run tally serve, or: tally webhooks deliver',
    find: organization.outboxProblems,
  },
  clock: {
    rule: 'The clock of this machine is not behind what is stored.',
    severity: 'warning',
    fix: 'set the clock of this machine; until then new rows get the time of the newest one',
    find: organization.clockProblems,
  },
} as const satisfies Record<string, Check<OrganizationFacts>>;

export type CheckName = keyof typeof databaseChecks | keyof typeof contractChecks | keyof typeof organizationChecks;

function ledgerCheck(rule: LedgerRule): Check<ContractBooks>['find'] {
  return ({ ledger: { entries } }) =>
    walked
      .getOrInsertComputed(entries, () => problemsIn(foldWhole(entries)))
      .filter((each) => each.rule === rule)
      .map(({ entryId, problem }) => ({ objectId: entryId, problem }));
}

/** One walk through a ledger serves all of its rules. */
const walked = new WeakMap<readonly LedgerEntry[], readonly LedgerProblem[]>();
