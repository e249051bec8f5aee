/** An explained ledger entry for a person: what it did and why, its grant, and what followed from it. */

import type { ResponseBody } from '../../operations/index.ts';
import { safe, say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { OutputStream } from '../terminal/terminal.ts';
import { type Block, drawBlocks, time } from './blocks.ts';
import { amounts, grantBlocks, lineBlock, paysForText } from './invoice-explanation.ts';

type Explained = ResponseBody<'credits.explain'>['data'];
type Movement = Explained['movements'][number];

export function drawEntryExplanation({ data }: ResponseBody<'credits.explain'>, stdout: OutputStream): SafeText {
  return drawBlocks(
    [
      head(data),
      grantBlock(data),
      ...(data.line === undefined ? [] : [lineBlock(data.line)]),
      ...grantBlocks(data.order),
    ],
    stdout,
  );
}

function head({ entry, reason, contractId, invoice, target }: Explained): Block {
  return {
    title: say`${entry.type} of ${amounts(entry.amountCents, entry.creditAmount)}: ${entry.description}`,
    fields: [
      ['id', [safe(entry.id)]],
      ['contract', [safe(contractId)]],
      ['created', [time(entry.createdAt)]],
      ['why', [safe(reason)]],
      ['balance', [balanceText(entry)]],
      [
        'invoice',
        invoice === undefined ? [] : [say`${invoice.invoiceNumber}, ${invoice.status} (${invoice.invoiceId})`],
      ],
      ['undoes', target === undefined ? [] : [movementText(target)]],
      ['undone by', entry.reversedByEntryId === null ? [] : [safe(entry.reversedByEntryId)]],
    ],
  };
}

function balanceText(entry: Explained['entry']): SafeText {
  const before = amounts(entry.balanceBeforeCents, entry.creditBalanceBefore);
  return say`${before}, then ${amounts(entry.balanceAfterCents, entry.creditBalanceAfter)}`;
}

function grantBlock({ grant, movements }: Explained): Block {
  const before = amounts(grant.beforeCents, grant.beforeCredits);
  const after = amounts(grant.afterCents, grant.afterCredits);
  return {
    title: say`Grant ${grant.grantId}: ${grant.description}`,
    fields: [
      ['kind', [say`${grant.isPromotional ? 'promotional' : 'paid'}, ${grant.status}`]],
      ['granted', [amounts(grant.originalCents, grant.originalCredits)]],
      ['expires', [grant.expiresAt === null ? say`never` : time(grant.expiresAt)]],
      ['pays for', [paysForText(grant.paysFor)]],
      ['held', [say`${before} before this entry, then ${after}`]],
      ['moved by', movements.map(movementText)],
    ],
  };
}

function movementText({ id, type, amountCents, creditAmount, createdAt, description }: Movement): SafeText {
  return say`${time(createdAt)}  ${type} of ${amounts(amountCents, creditAmount)}  ${description} (${id})`;
}
