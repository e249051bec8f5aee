/** The receipt of a grant beside the answer: the wallet before and after it, and which grants burn first (cli 3). */

import type { ExactNumber } from '../../exact-json.ts';
import type { Answer, Billing, ResponseBody } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import { creditsText } from '../../whole-amounts.ts';
import { centsOf, holdingOf, nothing } from '../wire/amounts.ts';
import type { Holding } from '../wire/amounts.ts';
import { instantText, moneyText, wireText } from '../wire/rows.ts';
import { counted, say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';

type Wallet = ResponseBody<'credits.balance'>['data'];

const shownGrants = 5;

/**
 * Prints the receipt of a grant on standard error, and warns of free credits that would pay for nothing. It reads the wallet
 * once, after the grant, since a service counts the requests of a script. A service that does not show the wallet still says in
 * the entry what the balance was once it was made.
 */
export async function printReceipt(
  answer: Answer<'credits.grant'>,
  { params = {} }: CallInput,
  { billing, session: { terminal, flags } }: { readonly billing: Billing; readonly session: Session },
): Promise<void> {
  if (flags.quiet === true) return;
  const print = (lines: readonly SafeText[]) => {
    for (const line of lines) terminal.err(say`${line}\n`);
  };
  // The grant is made: whatever is wrong with the wallet, the command must not look as if it had failed.
  try {
    const { body } = await billing.call('credits.balance', { params });
    print(receiptLines(answer, body.data));
  } catch {
    try {
      print(entryLines(answer));
    } catch {
      // An entry of some services lacks its balance.
    }
  }
}

/** With the instant, because the entry may be one that was there already. */
function entryLines({ body: { data } }: Answer<'credits.grant'>): SafeText[] {
  const after = holdingOf(data.balanceAfterCents, data.creditBalanceAfter);
  const before = less(after, holdingOf(data.amountCents, data.creditAmount));
  return [
    walletLine('before', before, data.currency),
    walletLine('after', after, data.currency),
    say`as of          ${instantText(data.createdAt)}`,
  ];
}

function receiptLines({ body, isReplay }: Answer<'credits.grant'>, wallet: Wallet): SafeText[] {
  const { amountCents, creditAmount, creditRateCents } = body.data;
  const after = holdingOf(wallet.balance.balanceCents, wallet.balance.creditBalance);
  const granted = isReplay === true ? nothing : holdingOf(amountCents, creditAmount);
  const { currency } = wallet.balance;
  const lines = [
    walletLine('before', less(after, granted), currency),
    walletLine('after', after, currency),
    ...burnLines(wallet),
  ];
  if (
    !isZero(creditRateCents) ||
    granted.creditMicros === 0n ||
    !wallet.blocks.every((block) => isZero(block.creditRateCents))
  ) {
    return lines;
  }
  return [
    say`warning: no grant of this contract has a rate, so free credits pay for nothing unless the contract's creditSettings name one`,
    ...lines,
  ];
}

function less(all: Holding, part: Holding): Holding {
  return { cents: all.cents - part.cents, creditMicros: all.creditMicros - part.creditMicros };
}

function isZero(value: ExactNumber): boolean {
  return centsOf(value) === 0n;
}

function walletLine(when: string, { cents, creditMicros }: Holding, currency: string): SafeText {
  const words = creditMicros === 0n ? say`` : say`, ${creditsText(creditMicros)} credits`;
  return say`wallet ${when.padEnd(6)}  ${moneyText(cents, currency)}${words}`;
}

function burnLines({ blocks }: Wallet): SafeText[] {
  const burning = blocks.filter(({ status }) => status === 'active');
  const lines = burning.slice(0, shownGrants).map((block, index) => {
    const { id, remainingCents, remainingCredits, currency, description, expiresAt } = block;
    const credits = wireText(remainingCredits);
    const amount = say`${moneyText(wireText(remainingCents), currency)}${credits === '0' ? '' : `, ${credits} credits`}`;
    const expiry = expiresAt === null ? say`never expires` : say`expires ${instantText(expiresAt)}`;
    return say`${index === 0 ? 'burns first' : '       then'}    ${id}  ${amount}  ${expiry}  ${description}`;
  });
  return burning.length > shownGrants
    ? [...lines, say`       and ${counted(burning.length - shownGrants, 'more grant')}`]
    : lines;
}
