/** The manual page, derived from the same declarations as the help; written by `npm run generate`. */

import { globalFlags, flagForm } from '../src/cli/command-line/global-flags.ts';
import type { HelpFlag, HelpPage } from '../src/cli/help/page.ts';
import { helpTopics } from '../src/cli/help/topics.ts';
import type { ExampleLine } from '../src/cli/command-line/manifest.ts';

/** The page in the language of man(7). */
export function manPage(pages: readonly HelpPage[], version: string): string {
  const [root, ...commands] = pages;
  const global = globalFlags.map((flag) => ({
    ...flag,
    form: flagForm(flag),
  }));
  return [
    '.\\" Written by npm run generate: do not edit.',
    `.TH TALLY 1 "" "tallybook ${text(version)}" "User Commands"`,
    '.SH NAME',
    'tally \\- usage\\-based billing: a command line for the service, with the service inside',
    '.SH SYNOPSIS',
    '.B tally',
    text(root?.usage ?? ''),
    '.SH DESCRIPTION',
    'Without a profile, tally works on a database of its own in the data directory of the user: the first command just works.',
    'The same commands work on a remote service, named by a profile.',
    '.SH GLOBAL FLAGS',
    ...global.flatMap(flagLines),
    '.SH COMMANDS',
    ...commands.flatMap(commandLines),
    ...Object.values(helpTopics).flatMap(topicLines),
    '.SH EXAMPLES',
    ...(root?.examples ?? []).flatMap(exampleLines),
    '',
  ].join('\n');
}

function commandLines({ words, description, usage, arguments: given, flags, examples }: HelpPage): string[] {
  return [
    `.SS tally ${text(words.join(' '))} ${text(usage)}`.trimEnd(),
    text(description),
    ...given
      .filter((each) => each.description !== '')
      .flatMap((each) => tagged(`.I ${text(each.name)}`, each.description)),
    ...flags.flatMap(flagLines),
    '.PP',
    ...examples.flatMap(exampleLines),
  ];
}

function flagLines({ form, description, choices, default: preset }: HelpFlag): string[] {
  const notes = [
    choices === undefined || description.includes(choices.join(', ')) ? '' : `one of ${choices.join(', ')}`,
    preset === undefined ? '' : `default ${preset}`,
  ].filter((note) => note !== '');
  return tagged(`.B ${text(form)}`, `${description}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`);
}

function tagged(tag: string, about: string): string[] {
  return ['.TP', tag, text(about)];
}

function exampleLines({ about, line }: ExampleLine): string[] {
  return [text(about), '.PP', '.RS 4', '.EX', text(line), '.EE', '.RE', '.PP'];
}

/** A topic begins with its title and a colon. */
function topicLines(topic: string): string[] {
  const [title = '', ...lines] = topic.trimEnd().split('\n');
  return [`.SH ${text(title.replace(/:$/, '').toUpperCase())}`, '.EX', ...lines.map(text), '.EE'];
}

/** Escapes plain text, so that no backslash, hyphen, quote or leading dot has a special meaning. */
function text(plain: string): string {
  const escaped = plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replaceAll('"', '\\(dq');
  return escaped.startsWith('.') ? `\\&${escaped}` : escaped;
}
