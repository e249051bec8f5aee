/** The main job, told as commands: what is sold, to whom, what they used, what it costs, and who pays how much. */

import { assert } from '../../assert.ts';
import { exampleIds } from '../../operations/example-ids.ts';

/**
 * Runs one command, shows it with its output, and returns what it printed. `ids` are the first ids that it creates, for the
 * resources that examples name.
 */
export type Tally = (words: readonly string[], ids?: readonly string[]) => Promise<string>;

export interface StoryInput {
  readonly say: (sentence: string) => void;
  readonly tally: Tally;
  /** The file to import. */
  readonly file: string;
  readonly customers: readonly StoryCustomer[];
  /** Flags that say how the file's rows become events. */
  readonly mapping: readonly string[];
  /** First day of the month of the file, and the first day after it. */
  readonly startDate: string;
  readonly endDate: string;
  /** Requests per month that cost nothing. */
  readonly freeRequests: number;
  /** Budget of the first customer: its model and its cap. */
  readonly budget: { readonly model: string; readonly maxCreditsCents: number };
  readonly grantCents: number;
  /** Instant at which the promotional credits lapse. */
  readonly grantExpiresAt: string;
}

export interface StoryCustomer {
  readonly externalId: string;
  readonly name: string;
}

interface Sale extends StoryCustomer {
  readonly customerId: string;
  readonly contractId: string;
}

export async function tellStory(input: StoryInput): Promise<void> {
  const planId = await sell(input);
  const sales = await sign(input, planId);
  await meter(input);
  const [first] = sales;
  assert(first !== undefined, 'a story needs a customer');
  await cost(input, first);
  await credit(input, first);
  await bill(input, sales);
}

/** The words of a command line; an inserted text is one word, an inserted list as many words as it has. */
function line(texts: TemplateStringsArray, ...values: readonly (string | readonly string[])[]): string[] {
  return texts.flatMap((text, index) => {
    const value = values[index];
    const given = value === undefined ? [] : typeof value === 'string' ? [value] : value;
    return [...text.split(/\s+/).filter((word) => word !== ''), ...given];
  });
}

/** The id that a creating command prints, which the next command takes. */
export async function idOf(tally: Tally, words: readonly string[], ids?: readonly string[]): Promise<string> {
  return (await tally([...words, '-o', 'name'], ids)).trim();
}

async function sell({ say, tally, freeRequests }: StoryInput): Promise<string> {
  say('What is sold: three meters over one kind of event, and a plan that prices them.');
  const only = line`--event-type-filter include=llm.request`;
  const context = await idOf(
    tally,
    line`meters create --code CONTEXT_TOKENS --display-name ${'Context tokens'} --aggregation-key ContextTokens ${only}`,
  );
  const generated = await idOf(
    tally,
    line`meters create --code GENERATED_TOKENS --display-name ${'Generated tokens'}
      --aggregation-key GeneratedTokens --group-key Model ${only}`,
    [exampleIds.meter],
  );
  const requests = await idOf(
    tally,
    line`meters create --code REQUESTS --display-name Requests --aggregation-type COUNT ${only}`,
  );
  say('3.00 USD a million context tokens. 15.00 a million generated ones, and twice that for the large model.');
  const large = '{"dimensions":{"Model":"large"},"unitAmount":"0.000030"}';
  await tally(line`meters set-rate-card ${generated} --fallback-unit-amount 0.000015 --rate ${large}`);
  const usage = line`--product-name Inference --model USAGE --price-interval MONTH`;
  const free = String(freeRequests);
  const prices = [
    line`--name ${'Context tokens'} --meter-id ${context} --unit-amount 0.000003`,
    line`--name ${'Generated tokens'} --meter-id ${generated} --unit-amount 0.000015`,
    line`--name Requests --meter-id ${requests} --tiering GRADUATED
      --tier ${`maxQty=${free},unitAmount=0`} --tier ${`minQty=${free},unitAmount=0.0005`}`,
  ];
  const items: string[] = [];
  for (const price of prices) {
    const ids = items.length === 0 ? [exampleIds.product, exampleIds.pricing] : [];
    items.push('--item', `pricingId=${await idOf(tally, line`pricing create ${usage} ${price}`, ids)}`);
  }
  return await idOf(tally, line`plans create --name ${'Pay as you go'} ${items}`, [exampleIds.plan]);
}

/** Ids of the first customers; for each the contract comes first, then the invoice of its first month. */
const namedSales = [
  { customer: [exampleIds.customer], contract: [exampleIds.contract, exampleIds.invoice] },
  { customer: [], contract: [exampleIds.globexContract, exampleIds.paidInvoice] },
];

async function sign({ say, tally, customers, startDate }: StoryInput, planId: string): Promise<Sale[]> {
  say('Who buys it: each customer gets a rolling contract, and with it draft invoices.');
  const sales: Sale[] = [];
  for (const [index, customer] of customers.entries()) {
    const { externalId, name } = customer;
    const named = namedSales[index];
    const contact = `name=Accounts,email=accounts@${externalId}.example,roles=accounts_payable`;
    const customerId = await idOf(
      tally,
      line`customers create --name ${name} --external-customer-id ${externalId} --contact ${contact}`,
      named?.customer,
    );
    const contractId = await idOf(
      tally,
      line`contracts create --customer-id ${customerId} --plan-id ${planId} --start-date ${startDate}`,
      named?.contract,
    );
    sales.push({ ...customer, customerId, contractId });
  }
  await tally(line`customers list`);
  return sales;
}

async function meter({ say, tally, file, mapping }: StoryInput): Promise<void> {
  say('What they used: every row of the file becomes an event, once. A second import changes nothing.');
  const words = line`import events ${file} --event-name llm.request ${mapping}`;
  await tally(words);
  await tally(words);
}

async function cost({ say, tally, startDate, endDate }: StoryInput, sale: Sale): Promise<void> {
  const range = line`--start-date ${`${startDate}T00:00:00Z`} --end-date ${`${endDate}T00:00:00Z`}`;
  say(`What ${sale.name} owes for it by the catalog's prices, below a cent too.`);
  await tally(line`usage cost --external-customer-id ${sale.externalId} ${range}`);
  say('The same by the contract: each line rounded once, as on its invoice.');
  await tally(line`usage cost --contract-id ${sale.contractId} ${range}`);
}

async function credit(
  { say, tally, budget, grantCents, grantExpiresAt }: StoryInput,
  { contractId }: Sale,
): Promise<void> {
  say('A promotional grant. Sent again under the same id, it grants nothing more.');
  const grant = line`credits grant ${contractId} --amount-cents ${String(grantCents)} --expires-at ${grantExpiresAt}
    --description Welcome --external-id welcome-1`;
  await tally(grant);
  await tally([...grant, '--json', 'id,amountCents,balanceAfterCents']);
  say(
    'A budget: how much of it usage of one model may take. At the cap it is exhausted, and credits pay no more of it.',
  );
  await tally(
    line`budgets add ${contractId} --event-property-key Model --event-property-value ${budget.model}
      --max-credits-cents ${String(budget.maxCreditsCents)}`,
  );
  await tally(line`budgets usage ${contractId}`);
}

async function bill({ say, tally, endDate }: StoryInput, sales: readonly Sale[]): Promise<void> {
  say(
    'The month is over: its drafts are finalized. Credits pay for usage alone, and no more of it than the budget allows.',
  );
  for (const { customerId } of sales) {
    const drafts = await tally(
      line`invoices list --customer-id ${customerId} --status Drafted --columns id,invoiceDate,totalCents -o tsv`,
    );
    const invoiceId = drafts
      .split('\n')
      .find((row) => row.split('\t')[1] === endDate)
      ?.split('\t')[0];
    assert(invoiceId !== undefined, `a draft is dated ${endDate}`);
    await tally(line`invoices finalize ${invoiceId} --json invoiceNumber,status,totalCents,dueDate`);
    await tally(line`invoices get ${invoiceId} --include lineItems`);
  }
  say('What became of the credits.');
  const contractId = sales[0]?.contractId ?? '';
  await tally(line`credits ledger ${contractId}`);
  await tally(line`credits balance ${contractId}`);
}
