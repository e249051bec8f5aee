/** The charts that `--chart` draws of an answer, by operation; each is loaded when it is drawn. */

import { assert } from '../../assert.ts';
import type { GlobalFlags } from '../command-line/global-flags.ts';
import { type Chart, checkChart } from './chart.ts';

const charts: Readonly<Record<string, () => Promise<Chart>>> = {
  'credits.ledger': async () => (await import('./ledger.ts')).ledgerChart,
  'credits.balance': async () => (await import('./balance.ts')).balanceChart,
  'budgets.usage': async () => (await import('./budgets.ts')).budgetChart,
};

/** The chart that `--chart` asks for. */
export async function chosenChart(operation: string, flags: GlobalFlags): Promise<Chart> {
  checkChart(flags);
  const load = charts[operation];
  assert(load !== undefined, `${operation} has the flag --chart, and so a chart`);
  return await load();
}
