/** `tally commands`: every command with what it does; as JSON everything there is to know about them. */

import { errorFacts } from '../../errors.ts';
import { globalFlags, operationFlags, outputFormats } from '../command-line/global-flags.ts';
import { commandLineOf, isGroupPage, type HelpPage } from '../help/page.ts';
import { exitCodeMeanings } from '../help/topics.ts';
import type { CommandSpec, Manifest } from '../command-line/manifest.ts';
import { jsonAnswer, printBody } from '../output/output.ts';
import { asLines, safe, say } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { CommandModule } from './command.ts';

const view = {
  rows: 'data',
  columns: [
    { header: 'COMMAND', path: 'command', isWhole: true },
    { header: 'WHAT IT DOES', path: 'summary' },
    { header: 'SCOPE', path: 'scope' },
  ],
} as const;

export const declare: CommandModule['declare'] = (command, { runAction, loadManifest, allCommands }) => {
  command
    .usage('[flags]')
    .addHelpText(
      'after',
      `
Examples:
  # One a line
  tally commands
  # Everything there is to know of them: flags, types, choices, exit codes, scopes
  tally commands --json
  # What a scope allows
  tally commands --json command,scope --jq '.[] | select(.scope == "usage:write") | .command'
`,
    )
    .action(
      async () =>
        await runAction(async (session) => {
          const { terminal, output } = session;
          const manifest = await loadManifest();
          if (output.format === 'json' && output.jsonFields === undefined) {
            return terminal.out(await jsonAnswer(everything(manifest, await allCommands.localPages()), output));
          }
          const local = (await allCommands.localPages()).filter((page) => !isGroupPage(page));
          const data = [
            ...manifest.commands.map(({ group, verb, positionals, summary, scope }) => ({
              command: ['tally', group, verb, ...positionals.map(({ placeholder }) => `<${placeholder}>`)].join(' '),
              summary,
              scope,
            })),
            ...local.map((page) => ({ command: commandLineOf(page), summary: page.summary, scope: '' })),
          ];
          const { columns: width } = terminal.stdout;
          const isTable = output.format === 'table' && output.columns === undefined;
          if (isTable && width !== undefined && width < leastTableWidth(data)) {
            return terminal.out(stacked(data, width));
          }
          await printBody({ data }, { view }, session);
        }),
    );
};

interface Line {
  readonly command: string;
  readonly summary: string;
  readonly scope: string;
}

const readableSummary = 40;
const gap = 2;

/** Below that a table would cut what commands do, or leave it out. */
function leastTableWidth(lines: readonly Line[]): number {
  const widest = (name: keyof Line) => Math.max(...lines.map((line) => line[name].length));
  return widest('command') + gap + readableSummary + gap + widest('scope');
}

/** Each command with what it does below it. */
function stacked(lines: readonly Line[], width: number): SafeText {
  const wrapped = new RegExp(`.{1,${Math.max(width - gap, 1)}}(?: |$)|\\S+ ?`, 'g');
  const below = ({ summary, scope }: Line) => (scope === '' ? summary : `${summary} (${scope})`).match(wrapped) ?? [];
  return asLines(lines.flatMap((line) => [safe(line.command), ...below(line).map((part) => say`  ${part.trimEnd()}`)]));
}

function everything(manifest: Manifest, local: readonly HelpPage[]) {
  return {
    ...manifest,
    commands: manifest.commands.map((command) => ({ ...command, exitCodes: exitCodesOf(command) })),
    localCommands: local,
    globalFlags,
    operationFlags,
    outputFormats,
    exitCodes: Object.fromEntries(exitCodeMeanings),
  };
}

/** Kinds of failure that any command can end with. */
const everywhere = [
  'internal',
  'usage',
  'unauthorized',
  'forbidden',
  'rateLimited',
  'badRequest',
  'network',
  'refused',
  'notOffered',
  'interrupted',
] as const;

/** Flags with which a command may end with a failed check, because some of many are not done. */
const ofMany: ReadonlySet<string> = new Set(['from', 'resume']);
/** Its chart adds up entries, which may be in two currencies. */
const adding = 'credits.ledger';

function exitCodesOf({ operation, errors, findingsPath, localFlags = [] }: CommandSpec): number[] {
  const checks = findingsPath !== undefined || operation === adding || localFlags.some(({ name }) => ofMany.has(name));
  const kinds = [...everywhere, ...errors, ...(checks ? (['checkFailed'] as const) : [])];
  return [...new Set([0, ...kinds.map((kind) => errorFacts[kind].exitCode)])].toSorted((one, other) => one - other);
}
