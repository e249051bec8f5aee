/** `tally budgets check`: what each budget of a contract has consumed, and exit code 10 if one is exhausted, for cron and CI. */

import { Big } from 'big.js';

import { assert } from '../../assert.ts';
import { BillingError } from '../../errors.ts';
import type { ResponseBody } from '../../operations/index.ts';
import { namingWhatIsMissing } from '../call/missing-name.ts';
import { reading } from '../session/open-session.ts';
import { checkFields, printBody } from '../output/output.ts';
import { wireText } from '../wire/rows.ts';
import { counted, say } from '../terminal/safe-text.ts';
import type { Session } from '../session/session.ts';
import { tell } from '../session/tell.ts';
import type { CommandSpec } from '../command-line/manifest.ts';
import type { CommandModule } from './command.ts';

type Budget = ResponseBody<'budgets.usage'>['data']['budgets'][number];

interface CheckFlags {
  readonly at?: string;
}

export const declare: CommandModule['declare'] = (command, { runAction, loadManifest }) => {
  command
    .description('Shows what each budget of a contract has consumed, metered now. Exit code 10 when one is exhausted.')
    .usage('<contract-id> [flags]')
    .argument('<contract-id>', 'contract id')
    .option(
      '--at <percent>',
      'exit code 10 from this percentage of a cap on (when not given, only when it is exhausted)',
    )
    .addHelpText(
      'after',
      `
Examples:
  # Is one used up?
  tally budgets check 01900000-0000-7000-8000-00000000000f
  # Is one three times over?
  tally budgets check 01900000-0000-7000-8000-000000000006 --at 300
`,
    )
    .action(
      async (contractId: string, flags: CheckFlags) =>
        await runAction(async (session) => {
          const usage = (await loadManifest('budgets')).commands.find(({ verb }) => verb === 'usage');
          assert(usage !== undefined, 'budgets have a command that shows their usage');
          await check(contractId, { flags, usage, session });
        }),
    );
};

interface Check {
  readonly flags: CheckFlags;
  /** The command whose answer is judged. */
  readonly usage: CommandSpec;
  readonly session: Session;
}

async function check(contractId: string, { flags, usage, session }: Check): Promise<void> {
  const percent = percentOf(flags.at);
  checkFields(session.output, usage.fields, usage.view);
  await reading(session, await session.target(), async ({ billing }) => {
    const { body } = await namingWhatIsMissing(
      { ids: [contractId], billing },
      async () => await billing.call('budgets.usage', { params: { contractId } }),
    );
    await printBody(body, usage, session);
    const { budgets } = body.data;
    if (budgets.length === 0) tell(session, say`there are none`);
    refuse(budgets, percent);
  });
}

/** Throws BillingError `checkFailed` if a budget is exhausted, or has reached the percentage. */
function refuse(budgets: readonly Budget[], percent: Big | undefined): void {
  const found = budgets.filter(({ isExhausted, percentConsumed }) =>
    percent === undefined ? isExhausted : new Big(wireText(percentConsumed)).gte(percent),
  );
  const [first] = found;
  if (first === undefined) return;
  const what = percent === undefined ? 'exhausted' : `at ${percent.toFixed()} % or more`;
  const words = `${found.length} of ${counted(budgets.length, 'budget')} ${found.length === 1 ? 'is' : 'are'} ${what}`;
  throw new BillingError('checkFailed', `${words}; the first: ${first.label}, ${wireText(first.percentConsumed)} %`);
}

function percentOf(text: string | undefined): Big | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,6}(?:\.\d{1,6})?$/.test(text) && /[1-9]/.test(text)) return new Big(text);
  throw new BillingError('usage', `--at takes a percentage such as 80, not ${text}`);
}
