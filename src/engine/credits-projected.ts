/** What grants would hold if usage were settled now (semantics 9, projected). */

import { type GrantState, hasExpired } from '../calculation/ledger.ts';
import { sumOf } from '../calculation/money.ts';
import type { Contract } from '../store/records/contracts.ts';
import { withMissingDrafts } from './draft-periods.ts';
import type { CallContext } from './handler.ts';
import { type KnownOfContract, readFacts, readOpenBilling } from './open-billing.ts';

/** A grant that has not expired, and what usage leaves of it. */
export interface ProjectedGrant {
  readonly grant: GrantState;
  readonly leftCents: bigint;
  readonly leftMicros: bigint;
}

/** The grants of a contract in burn order, after usage up to now, also that of periods that no bill run has drafted yet. */
export async function projectGrants(
  context: CallContext,
  contract: Contract,
  known: KnownOfContract = {},
): Promise<ProjectedGrant[]> {
  const facts = known.facts ?? (await readFacts(context, contract));
  const invoices = withMissingDrafts(context, contract, facts.invoices);
  const { wallet, draws } = await readOpenBilling(context, contract, { ...known, facts: { ...facts, invoices } });
  const byGrant = Map.groupBy(draws, ({ grantId }) => grantId);
  return wallet.grants
    .filter((grant) => !hasExpired(grant, context.now))
    .map((grant) => {
      const own = byGrant.get(grant.grantId) ?? [];
      return {
        grant,
        leftCents: grant.availableCents - sumOf(own.map((draw) => draw.amountCents)),
        leftMicros: grant.availableMicros - sumOf(own.map((draw) => draw.creditMicros)),
      };
    });
}
