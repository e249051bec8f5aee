/** Grants from a file: one external id per row, made from its cells, so that no row is ever granted twice. */

import { canonicalJson } from '../../canonical-json.ts';
import { BillingError } from '../../errors.ts';
import { exactNumber } from '../../exact-json.ts';
import { timestampOf } from '../../operations/field-rules.ts';
import type { Billing } from '../../operations/index.ts';
import type { View } from '../../operations/operation.ts';
import { currency } from '../../operations/wire-values.ts';
import { grantOperation } from '../operator/grant-history.ts';
import { creditsText } from '../../whole-amounts.ts';
import { readGrant } from '../operator/grant-request.ts';
import type { GrantRequest } from '../operator/grant-request.ts';
import { cappedTogether } from '../operator/granting.ts';
import type { ContractLookup, JournalContext } from '../operator/journal-context.ts';
import { journaledBilling } from '../operator/journaled-billing.ts';
import { violations, violationWords } from '../operator/policy.ts';
import { outcomeOf } from '../operator/replay.ts';
import { createRowIdentity } from '../wire/row-identity.ts';
import { moneyText } from '../wire/rows.ts';
import { counted } from '../terminal/safe-text.ts';
import type { RowOutcome, Unit } from './apply.ts';
import { loadContracts, namesOf } from './contracts.ts';
import type { Contracts } from './contracts.ts';
import type { BulkKind, BulkOptions, Plan, Summary } from './kind.ts';
import { problemOf } from './rows.ts';
import type { BulkRow, Problem } from './rows.ts';

interface GrantRow extends Omit<BulkRow, 'ownMembers'> {
  /** With an external id; one that is generated is made from the cells. */
  readonly grant: GrantRequest;
}

export const grants: BulkKind = {
  async plan(rows, options) {
    const { rows: read, problems, doubts } = await readGrants(rows, options);
    const contracts = await loadContracts(
      options.opened.plain,
      read.map(({ grant }) => grant.contractId),
    );
    const unknown = read
      .filter(({ grant }) => contracts.customerOf(grant.contractId) === undefined)
      .map(({ line, grant }) => ({ line, message: `contractId: there is no contract ${grant.contractId}` }));
    const { context, plain } = options.opened;
    const known = { ...context, contractsOf: async (id: string) => await contracts.siblingsOf(id) };
    return {
      problems: [...problems, ...unknown],
      doubts,
      refusals: unknown.length === 0 ? await refusals(read, known) : [],
      summary: await summaryOf(
        read.filter(({ grant }) => contracts.customerOf(grant.contractId) !== undefined),
        contracts,
        plain,
      ),
      unitsFor: (billing) => read.map((row) => unitOf(row, billing)),
      billing: journaledBilling(plain, known),
    } satisfies Plan;
  },
};

interface ReadGrants {
  readonly rows: readonly GrantRow[];
  readonly problems: readonly Problem[];
  /** Rows without an externalId that are equal to an earlier one. */
  readonly doubts: readonly Problem[];
}

async function readGrants(rows: readonly BulkRow[], { source, allowZero }: BulkOptions): Promise<ReadGrants> {
  const identify = createRowIdentity();
  const read: GrantRow[] = [];
  const problems: Problem[] = [];
  const doubts: Problem[] = [];
  const lines = new Map<string, number>();
  const contents = new Map<string, number>();
  for (const row of rows) {
    const { line, input, ownMembers } = row;
    try {
      const grant = await readGrant(input);
      const isZero = grant.amountCents === 0n && grant.creditMicros === 0n;
      if (isZero && !allowZero) throw new BillingError('refused', 'amountCents: is 0; --allow-zero allows it');
      const { params = {}, body } = input;
      const content = canonicalJson([source, params, membersOf(body, ownMembers)]);
      const externalId = grant.externalId ?? identify(content);
      const key = JSON.stringify([grant.contractId, externalId]);
      const twin = lines.get(key);
      if (twin !== undefined) throw new BillingError('conflict', `externalId: the same as in line ${twin}`);
      lines.set(key, line);
      const equal = contents.get(content);
      if (equal === undefined) contents.set(content, line);
      else doubts.push({ line, message: `equal to line ${equal}, and granted as well` });
      const sent = { params, body: { ...(body as Record<string, unknown>), externalId } };
      const isGeneratedId = grant.externalId === undefined;
      read.push({ line, input: sent, grant: { ...grant, externalId, isGeneratedId } });
    } catch (error) {
      problems.push(problemOf(error, row));
    }
  }
  return { rows: read, problems, doubts };
}

/** Leaves out what flags say: a row stays the same row if the command is repeated with another `--expires-at`. */
function membersOf(body: unknown, names: ReadonlySet<string>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(body ?? {}).filter(([name]) => names.has(name)));
}

/** What the policy says against the rows, each judged as if those before it were granted. */
async function refusals(
  rows: readonly GrantRow[],
  context: JournalContext & { readonly contractsOf: ContractLookup },
): Promise<Problem[]> {
  const { policy, overrideReason, journal, place, operator, now } = context;
  if (policy === undefined || overrideReason !== undefined) return [];
  const history = (await journal.history()).fork();
  const found: Problem[] = [];
  let hasUnsent = false;
  for (const { line, grant } of rows) {
    const contractIds = await cappedTogether(grant, context.contractsOf, context);
    const broken = violations(policy, grant, { history, place, operator, now: now(), contractIds, hasUnsent });
    if (broken.length > 0) {
      found.push({ line, message: violationWords(broken) });
      continue;
    }
    hasUnsent = true;
    history.observe({
      ...place,
      at: timestampOf(now()),
      call: '',
      state: 'begun',
      operator,
      operation: grantOperation,
      params: { contractId: grant.contractId },
      requestHash: '',
      externalId: grant.externalId,
      amountCents: String(grant.amountCents),
    });
  }
  return found;
}

function unitOf({ line, input, grant: { isGeneratedId } }: GrantRow, billing: Billing): Unit {
  return {
    lines: [line],
    async send(): Promise<readonly RowOutcome[]> {
      const { id, status, differing } = await outcomeOf(input, await billing.call(grantOperation, input));
      if (status !== 'failed') return [{ line, status, id, error: '' }];
      const differs = `and differs in ${differing}`;
      if (isGeneratedId !== true) {
        return [{ line, status, id, error: `an entry with this externalId exists ${differs}` }];
      }
      const error = `this row was granted before ${differs}; --source NAME grants all rows of the file again`;
      return [{ line, status, id, error, wasDone: true }];
    },
  };
}

const view: View = {
  rows: 'totals',
  columns: [
    { header: 'CUSTOMER', path: 'name' },
    { header: 'ID', path: 'customerId' },
    { header: 'GRANTS', path: 'grants', format: 'number' },
    { header: 'AMOUNT', path: 'amountCents', format: 'money' },
    { header: 'CURRENCY', path: 'currency' },
    { header: 'FREE CREDITS', path: 'freeCredits', format: 'number' },
  ],
};

async function summaryOf(rows: readonly GrantRow[], contracts: Contracts, billing: Billing): Promise<Summary> {
  const totals = new Map<string, { grants: number; cents: bigint; freeMicros: bigint }>();
  for (const { grant } of rows) {
    const customerId = contracts.customerOf(grant.contractId) ?? '';
    const total = totals.getOrInsert(customerId, { grants: 0, cents: 0n, freeMicros: 0n });
    total.grants += 1;
    total.cents += grant.amountCents;
    if (grant.amountCents === 0n) total.freeMicros += grant.creditMicros;
  }
  const largest = [...totals].toSorted(([, one], [, other]) => Number(other.cents - one.cents));
  const names = await namesOf(
    billing,
    largest.map(([customerId]) => customerId),
  );
  const sum = (of: (total: { cents: bigint; freeMicros: bigint }) => bigint) =>
    [...totals.values()].reduce((all, total) => all + of(total), 0n);
  const free = sum(({ freeMicros }) => freeMicros);
  const amounts = moneyText(sum(({ cents }) => cents));
  return {
    words: `${counted(rows.length, 'grant')}: ${amounts}${free === 0n ? '' : ` and ${creditsText(free)} free credits`} to ${counted(totals.size, 'customer')}`,
    totals: {
      rows: largest.map(([customerId, { grants: count, cents, freeMicros }]) => ({
        customerId,
        name: names.get(customerId) ?? '',
        grants: count,
        amountCents: exactNumber(cents.toString()),
        currency,
        freeCredits: creditsText(freeMicros),
      })),
      view,
    },
  };
}
