/** `tally __complete`: candidates for the value of a flag, one a line. Says nothing when it does not know. */

import { globalFlags } from '../global-flags.ts';
import type { GlobalFlag } from '../global-flags.ts';
import type { LoadManifest } from '../manifest.ts';
import { safe, vouch } from '../safe-text.ts';
import type { Session } from '../session.ts';
import type { CommandModule } from './index.ts';

export const declare: CommandModule['declare'] = (command, { runAction, loadManifest }) => {
  command
    .argument('<flag>', 'name of the flag without dashes')
    .argument('[group]')
    .argument('[verb]')
    .action(async (flag: string, group?: string, verb?: string) => {
      await runAction(async (session) => {
        const candidates = await candidatesFor(flag, `${group} ${verb}`, { loadManifest, session });
        // What a shell could run or what would be two candidates is left out (security 4, SEC-24).
        const plain = candidates.filter((candidate) => /^[\w .:*@+-]+$/.test(candidate));
        session.terminal.out(vouch(plain.map((candidate) => `${safe(candidate)}\n`).join('')));
      });
    });
};

async function candidatesFor(
  flag: string,
  command: string,
  { loadManifest, session }: { readonly loadManifest: LoadManifest; readonly session: Session },
): Promise<readonly string[]> {
  if (flag === 'profile') return Object.keys((await session.profiles()).list());
  const { commands } = await loadManifest();
  const found = commands.find((each) => `${each.group} ${each.verb}` === command);
  if (flag === 'clear') return (found?.flags ?? []).filter((spec) => spec.isNullable === true).map((spec) => spec.flag);
  const spec = found?.flags.find((each) => each.flag === flag || each.alias === flag);
  if (spec?.kind === 'boolean') return ['true', 'false'];
  const own = spec?.choices ?? spec?.element?.choices;
  return own ?? (globalFlags as readonly GlobalFlag[]).find((each) => each.name === flag)?.choices ?? [];
}
