/** A book with customers whose contracts have credits, and a key to it. */

import { createPlan } from './billing-book.ts';
import { creator } from './creator.ts';
import { openBook } from './engine.ts';

export interface LedgerBook {
  readonly key: string;
  readonly customerIds: readonly string[];
  readonly contractIds: readonly string[];
  /** One per contract, in their order. */
  readonly grantIds: readonly string[];
}

/** Writes the book to a new file. */
export async function writeLedgerBook(file: string, contracts: number): Promise<LedgerBook> {
  const engine = await openBook(file);
  const billing = engine.as(await engine.owner());
  const create = creator(billing);
  const planId = await createPlan(create);
  const book = { customerIds: [] as string[], contractIds: [] as string[], grantIds: [] as string[] };
  for (let i = 0; i < contracts; i += 1) {
    const contacts = [{ name: 'Ada', email: 'ada@example.com', roles: ['primary'] }];
    const customerId = await create('customers.create', { body: { name: `Customer ${i}`, contacts } });
    const contractId = await create('contracts.create', { body: { planId, customerId, startDate: '2026-03-01' } });
    const grant = { amountCents: 1_000_000, expiresAt: '2100-01-01T00:00:00Z' };
    book.grantIds.push(await create('credits.grant', { params: { contractId }, body: grant }));
    book.customerIds.push(customerId);
    book.contractIds.push(contractId);
  }
  const { body } = await billing.call('keys.create', { body: { name: 'bench', scopes: ['*'] } });
  await engine.close();
  return { ...book, key: body.data.key };
}
