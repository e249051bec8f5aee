/** The reference in README: every operation with its command, request and scope, then every other command. */

import { commandLineOf, isGroupPage } from '../src/cli/help/page.ts';
import type { HelpPage } from '../src/cli/help/page.ts';
import { allOperations } from '../src/operations/all.ts';
import { commandGroups } from '../src/operations/operation.ts';
import type { Operation } from '../src/operations/operation.ts';
import { kebabCase } from './command-manifest.ts';

/** One section for each group of commands, in the order of help, and one for commands that are not operations. */
export function referenceMarkdown(local: readonly HelpPage[]): string {
  const sections = Object.entries(commandGroups).map(([group, about]) => section(group, about));
  return ['Requests marked with * are additions to the interface document.', ...sections, others(local)].join('\n\n');
}

function others(local: readonly HelpPage[]): string {
  const rows = local
    .filter((page) => !isGroupPage(page))
    .map((page) => `| \`${commandLineOf(page).replaceAll('|', '\\|')}\` | ${page.summary} |`);
  return [
    '### beside the operations',
    '',
    'What the command line does with several of them, or with files and databases.',
    '',
    '| command | what it does |',
    '|---|---|',
    ...rows,
  ].join('\n');
}

function section(group: string, about: string): string {
  const rows = allOperations.filter(({ command }) => command.group === group).map(row);
  return [
    `### ${group}`,
    '',
    `${about}.`,
    '',
    '| command | what it does | request | scope |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function row(operation: Operation): string {
  const { command, route, scope, summary, documented } = operation;
  const positional = (command.positional ?? []).map((name) => ` <${kebabCase(name)}>`).join('');
  const request = route === undefined ? 'local only' : `\`${route.method} ${route.path}\`${documented ? '' : ' *'}`;
  return `| \`tally ${command.group} ${command.verb}${positional}\` | ${summary} | ${request} | \`${scope}\` |`;
}
