/** A process of its own that writes customers: `node write-customers.ts FILE NAME COUNT`. Prints what was acknowledged. */

import { openStore } from '../../src/store/open.ts';
import { row } from './rows.ts';

const [file = '', name = '', count = '0'] = process.argv.slice(2);
const store = await openStore(file);
for (let index = 0; index < Number(count); index += 1) {
  await store.write(async (tx) => {
    const organization = await tx
      .selectFrom('organizations')
      .select('nextInvoiceNumber')
      .where('id', '=', 'org-a')
      .executeTakeFirstOrThrow();
    const nextInvoiceNumber = organization.nextInvoiceNumber + 1n;
    await tx.updateTable('organizations').set({ nextInvoiceNumber }).where('id', '=', 'org-a').execute();
    await tx
      .insertInto('customers')
      .values(row.customer('org-a', `${name}-${index}`))
      .execute();
  });
  process.stdout.write(`${name}-${index}\n`);
}
await store.close();
