/** Credits deducted from wallets, one by one and many at once, beside bare SQL; afterwards the same run checks the book. */

import { join } from 'node:path';

import { bareDeductionsPerSecond } from './bare-deductions.ts';
import { openBook } from './engine.ts';
import type { InstalledPackage } from './installed-package.ts';
import { type LedgerBook, writeLedgerBook } from './ledger-book.ts';
import { inTurns } from './measure.ts';
import type { Result } from './report.ts';

const contracts = 1_000;
const together = 64;
/** A service runs for days, so it is measured after V8 has compiled its code. */
const untilWarm = 12_800;
const alonePerRound = 500;
const togetherPerRound = 3_200;
const mostRounds = 5;

export async function measureLedger(installed: InstalledPackage, rounds: number): Promise<Result[]> {
  const file = join(installed.folder, 'ledger.db');
  const book = await writeLedgerBook(file, contracts);
  const engine = await openBook(file);
  const billing = engine.as(await engine.owner());
  const deduct = async (i: number): Promise<unknown> => await billing.call('credits.adjust', deduction(book, i));
  let made = 0;
  await perSecond(untilWarm, together, async () => await deduct(made++));
  const medians = await inTurns(
    {
      bareAlone: () => bareDeductionsPerSecond(installed.folder, { count: 2_000, batch: 1 }),
      alone: async () => await perSecond(alonePerRound, 1, async () => await deduct(made++)),
      bareTogether: () => bareDeductionsPerSecond(installed.folder, { count: 102_400, batch: together }),
      together: async () => await perSecond(togetherPerRound, together, async () => await deduct(made++)),
    },
    { turns: Math.min(rounds, mostRounds) },
  );
  await engine.close();
  installed.run('--database', file, 'doctor', '--full');
  const unit = 'deductions/s';
  return [
    { name: 'bare SQL deductions, a commit each', measured: medians.bareAlone, unit },
    {
      name: 'credit deductions, alone',
      measured: medians.alone,
      unit,
      ratio: medians.alone / medians.bareAlone,
      ratioTo: 'bare SQL',
      lowestRatio: 0.8,
    },
    { name: `bare SQL deductions, ${together} a commit`, measured: medians.bareTogether, unit },
    {
      name: `credit deductions, ${together} at once`,
      measured: medians.together,
      unit,
      ratio: medians.together / medians.bareTogether,
      ratioTo: 'bare SQL',
      lowestRatio: 0.5,
    },
  ];
}

function deduction({ contractIds, grantIds }: LedgerBook, i: number) {
  const contract = i % contractIds.length;
  return {
    params: { contractId: contractIds[contract] ?? '' },
    body: { grantEntryId: grantIds[contract], amountCents: -1, description: 'bench' },
  };
}

async function perSecond(count: number, width: number, once: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  for (let done = 0; done < count; done += width) await Promise.all(Array.from({ length: width }, once));
  return (count / (performance.now() - began)) * 1000;
}
