/** Every declaration at once: for the server, for the OpenAPI document, for what is generated, and for tests. */

import { budgetOperations } from './budgets.ts';
import { catalogOperations } from './catalog.ts';
import { clockOperations } from './clock.ts';
import { contractOperations } from './contracts.ts';
import { creditOperations } from './credits.ts';
import { customerOperations } from './customers.ts';
import type { OperationTable, RoomDeclarations } from './index.ts';
import { invoiceOperations } from './invoices.ts';
import { keyOperations } from './keys.ts';
import { meterOperations } from './meters.ts';
import type { Operation } from './operation.ts';
import { usageOperations } from './usage.ts';
import { webhookOperations } from './webhooks.ts';

const declarations: RoomDeclarations = {
  customers: customerOperations,
  contracts: contractOperations,
  credits: creditOperations,
  budgets: budgetOperations,
  meters: meterOperations,
  usage: usageOperations,
  invoices: invoiceOperations,
  catalog: catalogOperations,
  keys: keyOperations,
  webhooks: webhookOperations,
  clock: clockOperations,
};

/** Every operation, room by room. */
export const allOperations: readonly Operation[] = Object.values(declarations).flat();

/** Every operation by its name. */
export const operations: OperationTable = Object.fromEntries(
  allOperations.map((operation) => [operation.name, operation]),
) as unknown as OperationTable;
