/** What a check of the books found, for a person: each finding whole, since what to do must not be cut off. */

import type { Examination, Finding, Verification } from '../../operations/findings.ts';
import { safe, say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { OutputStream } from '../terminal/terminal.ts';
import { type Block, drawBlocks, plain, time } from './blocks.ts';

/** Findings below what was looked at; of a whole database that stands on standard error. */
export function drawFindings(
  { data }: { readonly data: Pick<Examination, 'findings'> | Verification },
  stdout: OutputStream,
): SafeText {
  const head = 'contractId' in data ? [contractBlock(data)] : [];
  return drawBlocks([...head, ...data.findings.map(findingBlock)], stdout);
}

function contractBlock({ contractId, checkedAt, entryCount, invoiceCount, ledgerHead }: Verification): Block {
  return {
    title: say`Contract ${contractId}`,
    fields: [
      ['checked at', [time(checkedAt)]],
      ['entries', [plain(entryCount)]],
      ['invoices', [plain(invoiceCount)]],
      ['ledger head', [safe(ledgerHead)]],
    ],
  };
}

function findingBlock({ check, severity, objectId, problem, fix }: Finding): Block {
  return {
    title: say`${severity}: ${problem}`,
    fields: [
      ['check', [safe(check)]],
      ['object', [safe(objectId)]],
      ['fix', [safe(fix)]],
    ],
  };
}
