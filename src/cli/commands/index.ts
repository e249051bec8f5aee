/** Commands that are not operations, by name in the order of help. Each is loaded when the command line names it. */

import type { CommandModule } from './command.ts';

export interface LocalCommand {
  readonly summary: string;
  readonly heading: 'Administration:' | 'Tools:';
  readonly isHidden?: true;
  /** Whether one of its verbs follows. */
  readonly hasVerbs?: true;
  /** With `--dry-run` it says what it would do, or only reads; every other command refuses that flag. */
  readonly takesDryRun?: true;
  /** Global flags that this command replaces by a flag of the same name with another meaning. */
  readonly ownFlags?: readonly string[];
  load(): Promise<CommandModule>;
}

export const localCommands: Readonly<Record<string, LocalCommand>> = {
  profile: {
    summary: 'Named services and databases, and their keys',
    heading: 'Administration:',
    hasVerbs: true,
    load: () => import('./profile.ts'),
  },
  doctor: {
    summary: 'Check the books of a database',
    heading: 'Administration:',
    takesDryRun: true,
    load: () => import('./doctor.ts'),
  },
  backup: {
    summary: 'Write a database to one file while it is used',
    heading: 'Administration:',
    load: () => import('./backup.ts'),
  },
  restore: {
    summary: 'Make a database from a backup',
    heading: 'Administration:',
    takesDryRun: true,
    load: () => import('./restore.ts'),
  },
  copy: {
    summary: 'Copy a whole book to another database',
    heading: 'Administration:',
    takesDryRun: true,
    load: () => import('./copy.ts'),
  },
  journal: {
    summary: 'What was written from here, by whom and when',
    heading: 'Administration:',
    hasVerbs: true,
    load: () => import('./journal.ts'),
  },
  import: {
    summary: 'Events from files, each row counted once',
    heading: 'Tools:',
    hasVerbs: true,
    takesDryRun: true,
    load: () => import('./import.ts'),
  },
  pull: {
    summary: 'Contracts of a remote service, mirrored into a file',
    heading: 'Tools:',
    takesDryRun: true,
    load: () => import('./pull.ts'),
  },
  catalog: {
    summary: 'Products, prices, meters and plans as one file',
    heading: 'Tools:',
    hasVerbs: true,
    takesDryRun: true,
    load: () => import('./catalog.ts'),
  },
  simulate: {
    summary: 'Scenarios, and real usage under other prices',
    heading: 'Tools:',
    hasVerbs: true,
    load: () => import('./simulate.ts'),
  },
  demo: {
    summary: 'A worked example on a new database',
    heading: 'Tools:',
    // It has its own database; its `--events` is a file of events for the story.
    ownFlags: ['events'],
    load: () => import('./demo.ts'),
  },
  serve: { summary: 'Serve a database over HTTP', heading: 'Tools:', load: () => import('./serve.ts') },
  api: {
    summary: 'Send any request, or print the OpenAPI document',
    heading: 'Tools:',
    takesDryRun: true,
    load: () => import('./api.ts'),
  },
  commands: { summary: 'List every command', heading: 'Tools:', load: () => import('./commands.ts') },
  completion: { summary: 'Print the completions of a shell', heading: 'Tools:', load: () => import('./completion.ts') },
  help: { summary: 'Help of a command or topic', heading: 'Tools:', load: () => import('./help.ts') },
  __complete: {
    summary: 'Candidates for a value, for the completion scripts',
    heading: 'Tools:',
    isHidden: true,
    takesDryRun: true,
    load: () => import('./complete.ts'),
  },
};

/** Verbs that are not operations, in the group of operations that they belong to. */
export const localVerbs: Partial<Record<string, Readonly<Record<string, Pick<LocalCommand, 'summary' | 'load'>>>>> = {
  budgets: {
    check: {
      summary: 'Tell by the exit code whether a budget of a contract is exhausted',
      load: () => import('./budgets-check.ts'),
    },
  },
  credits: {
    statement: {
      summary: 'Opening balance, movements and closing balance of a period, to print or to send',
      load: () => import('./credits-statement.ts'),
    },
  },
  invoices: {
    export: {
      summary: 'One invoice as a page to print or to send, or as its lines',
      load: () => import('./invoices-export.ts'),
    },
  },
  webhooks: {
    listen: {
      summary: 'Receive, verify and print events on this machine',
      load: () => import('./webhooks-listen.ts'),
    },
    deliver: { summary: 'Send what is due now, of all organizations', load: () => import('./webhooks-deliver.ts') },
  },
};
