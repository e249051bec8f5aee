/** What a person sees of a grant besides the answer: the wallet before and after it, and which grants burn first. */

import type { Answer, Billing, ResponseBody } from '../../operations/index.ts';
import type { CallInput } from '../../operations/operation.ts';
import { amountText, valueAt, wireText } from '../wire/rows.ts';
import { counted, say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import { ifTold } from '../session/if-told.ts';

type Wallet = ResponseBody<'credits.balance'>['data'];

const shownGrants = 5;

/**
 * Reads the wallet, and returns a function that prints the receipt on standard error once the grant is made. Warns of free
 * credits that would pay for nothing. A wallet that cannot be read does not stop the grant.
 */
export async function beginReceipt(
  session: Session,
  billing: Billing,
  input: CallInput,
): Promise<((answer: Answer) => Promise<void>) | undefined> {
  const { terminal, output, flags } = session;
  if (flags.quiet === true) return undefined;
  const isForPeople = terminal.stderr.isTerminal || output.format === 'table';
  const isFree = Number(wireText(valueAt(input.body, 'creditRateCents') ?? 1)) === 0;
  if (!isForPeople && !isFree) return undefined;
  const before = await readWallet(billing, input);
  if (isFree && before !== undefined && before.blocks.every(({ creditRateCents }) => Number(creditRateCents) === 0)) {
    terminal.err(
      say`warning: no grant of this contract has a rate, so free credits pay for nothing unless the contract's creditSettings name one\n`,
    );
  }
  if (!isForPeople) return undefined;
  return async () => {
    const after = await readWallet(billing, input);
    if (after === undefined) return;
    const lines = [...(before === undefined ? [] : [walletLine('before', before)]), walletLine('after', after)];
    for (const line of [...lines, ...burnLines(after)]) terminal.err(say`${line}\n`);
  };
}

async function readWallet(billing: Billing, { params = {} }: CallInput): Promise<Wallet | undefined> {
  return (await ifTold(async () => await billing.call('credits.balance', { params })))?.body.data;
}

function walletLine(when: string, { balance }: Wallet): SafeText {
  const { balanceCents, creditBalance, currency } = balance;
  const credits = wireText(creditBalance);
  const words = credits === '0' ? say`` : say`, ${credits} credits`;
  return say`wallet ${when.padEnd(6)}  ${amountText(wireText(balanceCents))} ${currency}${words}`;
}

function burnLines({ blocks }: Wallet): SafeText[] {
  const burning = blocks.filter(({ status }) => status === 'active');
  const lines = burning.slice(0, shownGrants).map((block, index) => {
    const { id, remainingCents, remainingCredits, currency, description, expiresAt } = block;
    const credits = wireText(remainingCredits);
    const amount = say`${amountText(wireText(remainingCents))} ${currency}${credits === '0' ? '' : `, ${credits} credits`}`;
    const expiry = expiresAt === null ? 'never expires' : `expires ${expiresAt.replace(/\.000Z$/, 'Z')}`;
    return say`${index === 0 ? 'burns first' : '       then'}    ${id}  ${amount}  ${expiry}  ${description}`;
  });
  return burning.length > shownGrants
    ? [...lines, say`       and ${counted(burning.length - shownGrants, 'more grant')}`]
    : lines;
}
