/** What the story does not need but the examples of help do: resources with the ids that they name, and small files. */

import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { makeDirectory } from '../../make-directory.ts';
import { exampleIds } from '../../operations/example-ids.ts';
import { processorCustomerIdField, providers } from '../../operations/providers.ts';
import { writeOutputFile } from '../files/output-file.ts';
import { idOf } from './story.ts';
import type { Tally } from './story.ts';

/** Continues, silently, where the story of generated events ended. */
export async function furnish(
  tally: Tally,
  { directory, today }: { readonly directory: string; readonly today: string },
) {
  const { contract, paidInvoice, plan } = exampleIds;
  await tally(['clock', 'set', '--to', today]);
  const goodwill = ['--amount-cents', '1000', '--expires-at', '2099-12-31T00:00:00Z', '--description', 'Goodwill'];
  await tally(['credits', 'grant', contract, ...goodwill, '--external-id', 'goodwill-1'], [exampleIds.grant]);
  await tally(['invoices', 'send', paidInvoice]);
  await tally(['invoices', 'pay', paidInvoice, '--status', 'paid']);
  const linked = ['--provider', providers.paymentProcessor1, '--payment-provider-id', 'cus_100'];
  const contact = 'name=Accounts,email=accounts@hooli.example,roles=accounts_payable';
  const named = ['--name', 'Hooli', '--external-customer-id', 'hooli', '--contact', contact];
  const hooli = await idOf(tally, ['customers', 'create', ...named, ...linked]);
  const terms = ['--customer-id', hooli, '--plan-id', plan, '--start-date', '2026-03-01'];
  await tally(['contracts', 'create', ...terms], [exampleIds.hooliContract, exampleIds.draft]);
  await tally(['keys', 'create', '--name', 'demo', '--scopes', 'customers:read'], [exampleIds.key]);
  const receiver = ['--url', 'http://127.0.0.1:4000/', '--allow-private'];
  await tally(['webhooks', 'create', ...receiver], [exampleIds.endpoint]);
  await tally(['webhooks', 'trigger', 'credit.budget.exhausted'], [exampleIds.event, exampleIds.delivery]);
  await tally(['products', 'create', '--name', 'Consulting'], [exampleIds.freeProduct]);
  const hour = ['--product-name', 'Workshops', '--name', 'Workshop day', '--model', 'FLAT', '--unit-amount', '900'];
  await tally(
    ['pricing', 'create', ...hour, '--billing-mode', 'ONE_TIME'],
    [exampleIds.trainingProduct, exampleIds.freePricing],
  );
  const words = ['--code', 'STORAGE', '--display-name', 'Storage', '--aggregation-key', 'size'];
  await tally(['meters', 'create', ...words], [exampleIds.freeMeter]);
  await tally(['backup', join(directory, 'demo-backup.db')]);
  await tally(['catalog', 'export', '--file', join(directory, 'catalog.yaml')]);
  writeOutputFile(join(directory, 'events.jsonl.gz'), gzipSync(`${cloudEvents.join('\n')}\n`));
  for (const [name, lines] of Object.entries(files)) writeOutputFile(join(directory, name), `${lines.join('\n')}\n`);
  const { default: examples } = await import('./examples.json', { with: { type: 'json' } });
  makeDirectory(join(directory, 'examples'));
  for (const [name, text] of Object.entries(examples)) writeOutputFile(join(directory, 'examples', name), text);
}

const files: Readonly<Record<string, readonly string[]>> = {
  'grants.csv': [
    'contractId,amountCents,reason',
    `${exampleIds.contract},1500,Apology for the outage`,
    `${exampleIds.globexContract},2500,Spring campaign`,
  ],
  'customers.csv': [
    'name,externalCustomerId,contact.name,contact.email,contact.roles',
    'Wayne Enterprises,wayne,Lucius Fox,lucius@wayne.example,primary+accounts_payable',
    'Tyrell Corporation,tyrell,Rachael,rachael@tyrell.example,primary',
  ],
  'managers.csv': [`${processorCustomerIdField},csm.email,csm.name`, 'cus_100,grace@example.com,Grace Hopper'],
  'usage.csv': [
    'timestamp,account,size,region',
    '2026-04-01T08:30:00,acme,1024,eu-central',
    '2026-04-01T09:15:00,globex,2048,us-east',
  ],
  'trace.csv': [
    'TIMESTAMP,ContextTokens,GeneratedTokens',
    '2026-04-01 09:15:00,374,44',
    '2026-04-01 14:30:00,1812,350',
  ],
};

const cloudEvents = ['request-1', 'request-2'].map((id) =>
  JSON.stringify({
    specversion: '1.0',
    id,
    source: '/gateway',
    type: 'llm.request',
    subject: 'acme',
    time: '2026-04-01T10:00:00Z',
    data: { Model: 'small', ContextTokens: 120, GeneratedTokens: 30 },
  }),
);
