/** The main job, told as commands: what is sold, to whom, what they used, what it costs, who pays how much of it. */

/** Runs one command, shows it with its output, and gives back what it printed. */
export type Tally = (...words: readonly string[]) => Promise<string>;

export interface StoryInput {
  readonly say: (sentence: string) => void;
  readonly tally: Tally;
  /** The file to import. */
  readonly file: string;
  readonly customers: readonly StoryCustomer[];
  /** How the file's rows become events, beyond the event name. */
  readonly mapping: readonly string[];
  /** First day of the month that the file is about, and the first day after it. */
  readonly startDate: string;
  readonly endDate: string;
  /** Budget of the first customer: the model it is for, and its cap. */
  readonly budget: { readonly model: string; readonly maxCreditsCents: number };
  readonly grantCents: number;
  /** Instant at which the promotional credits lapse. */
  readonly grantExpiresAt: string;
}

export interface StoryCustomer {
  readonly externalId: string;
  readonly name: string;
}

export async function tellStory(input: StoryInput): Promise<void> {
  const planId = await sell(input);
  const sales = await sign(input, planId);
  await meter(input);
  const [first] = sales;
  if (first === undefined) throw new TypeError('a story needs a customer');
  await cost(input, first);
  await credit(input, first);
  await bill(input, sales);
}

interface Sale extends StoryCustomer {
  readonly customerId: string;
  readonly contractId: string;
}

/** Commands that make something print its id alone, which the next command takes. */
async function idOf(tally: Tally, ...words: readonly string[]): Promise<string> {
  return (await tally(...words, '-o', 'name')).trim();
}

async function sell({ say, tally }: StoryInput): Promise<string> {
  say('What is sold: two meters over one kind of event, and a plan that prices them.');
  const meterOf = async (code: string, name: string, key: string, ...rest: readonly string[]) =>
    await idOf(
      tally,
      ...['meters', 'create', '--code', code, '--display-name', name, '--aggregation-key', key],
      ...['--event-type-filter', 'include=llm.request', ...rest],
    );
  const context = await meterOf('CONTEXT_TOKENS', 'Context tokens', 'ContextTokens');
  const generated = await meterOf('GENERATED_TOKENS', 'Generated tokens', 'GeneratedTokens', '--group-key', 'Model');
  const requests = await idOf(
    tally,
    ...['meters', 'create', '--code', 'REQUESTS', '--display-name', 'Requests', '--aggregation-type', 'COUNT'],
    ...['--event-type-filter', 'include=llm.request'],
  );
  say('3.00 USD a million context tokens; 15.00 a million generated ones, and the large model dearer by a rate card.');
  await tally(
    ...['meters', 'set-rate-card', generated, '--fallback-unit-amount', '0.000015'],
    ...['--rate', '{"dimensions":{"Model":"large"},"unitAmount":"0.000030"}'],
  );
  const priceOf = async (name: string, ...rest: readonly string[]) =>
    await idOf(
      tally,
      'pricing',
      'create',
      '--product-name',
      'Inference',
      '--name',
      name,
      '--price-interval',
      'MONTH',
      ...rest,
    );
  const prices = [
    await priceOf('Context tokens', '--model', 'USAGE', '--meter-id', context, '--unit-amount', '0.000003'),
    await priceOf('Generated tokens', '--model', 'USAGE', '--meter-id', generated, '--unit-amount', '0.000015'),
    await priceOf(
      'Requests',
      ...['--model', 'USAGE', '--meter-id', requests, '--tiering', 'GRADUATED'],
      ...['--tier', 'maxQty=20000,unitAmount=0', '--tier', 'minQty=20000,unitAmount=0.0005'],
    ),
  ];
  return await idOf(
    tally,
    'plans',
    'create',
    '--name',
    'Pay as you go',
    ...prices.flatMap((id) => ['--item', `pricingId=${id}`]),
  );
}

async function sign({ say, tally, customers, startDate }: StoryInput, planId: string): Promise<Sale[]> {
  say('Who buys it: each customer gets a rolling contract, and with it draft invoices.');
  const sales: Sale[] = [];
  for (const customer of customers) {
    const { externalId, name } = customer;
    const customerId = await idOf(
      tally,
      ...['customers', 'create', '--name', name, '--external-customer-id', externalId],
      ...['--contact', `name=Accounts,email=accounts@${externalId}.example,roles=accounts_payable`],
    );
    const terms = ['--customer-id', customerId, '--plan-id', planId, '--start-date', startDate];
    sales.push({ ...customer, customerId, contractId: await idOf(tally, 'contracts', 'create', ...terms) });
  }
  await tally('customers', 'list');
  return sales;
}

async function meter({ say, tally, file, mapping }: StoryInput): Promise<void> {
  say('What they used: every row of the file becomes an event, once. A second import changes nothing.');
  const words = ['import', 'events', file, '--event-name', 'llm.request', ...mapping];
  await tally(...words);
  await tally(...words);
}

async function cost({ say, tally, startDate, endDate }: StoryInput, sale: Sale): Promise<void> {
  say(
    `What ${sale.name} owes: exact by the catalog's prices, and rounded once a line by the contract, as on its invoice.`,
  );
  const range = ['--start-date', `${startDate}T00:00:00Z`, '--end-date', `${endDate}T00:00:00Z`];
  await tally('usage', 'cost', '--external-customer-id', sale.externalId, ...range);
  await tally('usage', 'cost', '--contract-id', sale.contractId, ...range);
}

async function credit(
  { say, tally, budget, grantCents, grantExpiresAt }: StoryInput,
  { contractId }: Sale,
): Promise<void> {
  say(
    'A promotional grant, and a budget on how much of it one model may use. The usage has already passed it: it is exhausted.',
  );
  await tally(
    ...['credits', 'grant', contractId, '--amount-cents', String(grantCents), '--expires-at', grantExpiresAt],
    ...['--description', 'Welcome', '--external-id', 'welcome-1'],
  );
  await tally(
    ...['budgets', 'add', contractId, '--event-property-key', 'Model', '--event-property-value', budget.model],
    ...['--max-credits-cents', String(budget.maxCreditsCents)],
  );
  await tally('budgets', 'usage', contractId);
}

async function bill({ say, tally, endDate }: StoryInput, sales: readonly Sale[]): Promise<void> {
  say(
    'The month is over: its drafts are finalized. Credits pay for usage alone, and no more of it than the budget allows.',
  );
  for (const { customerId } of sales) {
    const drafts = await tally(
      ...['invoices', 'list', '--customer-id', customerId, '--status', 'Drafted'],
      ...['--columns', 'id,invoiceDate,totalCents', '-o', 'tsv'],
    );
    const invoiceId = drafts
      .split('\n')
      .find((line) => line.split('\t')[1] === endDate)
      ?.split('\t')[0];
    if (invoiceId === undefined) throw new TypeError(`no draft is dated ${endDate}`);
    await tally('invoices', 'finalize', invoiceId);
    await tally('invoices', 'get', invoiceId, '--include', 'lineItems');
  }
  const contractId = sales[0]?.contractId ?? '';
  say('What became of the credits.');
  await tally('credits', 'ledger', contractId);
  await tally('credits', 'balance', contractId);
}
