/**
 * Scripts of commands with their whole output.
 *
 *   # a comment
 *   @ 2026-04-02T00:00:00Z                     sets the clock
 *   < {"name": "Acme"}                          gives the next command this on standard input; repeatable
 *   $ tally customers list                      runs it; what it printed follows
 *   customer = tally customers create … -o name runs it, and keeps what it printed for $customer
 *   ! a line of standard error
 *   = 7                                         its exit code, where it is not 0
 */

import type { CommandStage } from '../support/stage.ts';

export interface ScriptStep {
  readonly clock: string | undefined;
  readonly input: string;
  /** The line as it stands in the script. */
  readonly line: string;
  readonly keepAs: string | undefined;
  readonly words: readonly string[];
  readonly before: readonly string[];
}

/** What a script needs of a stage. */
export type ScriptStage = Pick<CommandStage, 'clock' | 'directory' | 'tally' | 'close'>;

const command = /^(?:(\w+) = |\$ )tally(?: (.*))?$/;

/** The steps of a script; recorded output is left out, comments go with the step after them. */
export function parseScript(text: string): ScriptStep[] {
  const steps: ScriptStep[] = [];
  let before: string[] = [];
  let input: string[] = [];
  let clock: string | undefined;
  for (const line of text.split('\n')) {
    const match = command.exec(line);
    if (match !== null) {
      steps.push({ clock, input: input.join('\n'), line, keepAs: match[1], words: shellWords(match[2] ?? ''), before });
      [before, input, clock] = [[], [], undefined];
    } else if (line.startsWith('#')) before.push(line);
    else if (line.startsWith('@ ')) clock = line.slice(2);
    else if (line.startsWith('< ')) input.push(line.slice(2));
  }
  return steps;
}

/** Runs the script and writes it anew, with the output that came. */
export async function performScript(text: string, stage: ScriptStage): Promise<string> {
  const kept = new Map<string, string>();
  const blocks: string[] = [];
  for (const step of parseScript(text)) {
    if (step.clock !== undefined) stage.clock.set(step.clock);
    const filled = (text: string) => text.replaceAll(/\$(\w+)/g, (_all, name: string) => valueOf(kept, name));
    const result = await stage.tally(step.words.map(filled), { input: filled(step.input) });
    if (step.keepAs !== undefined) kept.set(step.keepAs, result.stdout.trim());
    blocks.push(
      [
        ...step.before,
        ...(step.clock === undefined ? [] : [`@ ${step.clock}`]),
        ...(step.input === '' ? [] : step.input.split('\n').map((line) => `< ${line}`)),
        step.line,
        ...linesOf(result.stdout),
        ...linesOf(result.stderr).map((line) => `! ${line}`),
        ...(result.exitCode === 0 ? [] : [`= ${result.exitCode}`]),
        '',
      ].join('\n'),
    );
  }
  return blocks.join('\n');
}

/**
 * What the two surfaces rightly tell apart: the name of the environment, the id that the server gave a refused request,
 * and, in a rehearsal, where the request would go and with which key.
 */
export function sameEverywhere(text: string, directory: string): string {
  return text
    .replaceAll(directory, '<directory>')
    .replaceAll(/"environment":"(?:embedded|sandbox)"/g, '"environment":"<environment>"')
    .replaceAll(/,"requestId":"[^"]+"/g, '')
    .replaceAll(/dry run on (?:embedded|sandbox)/g, 'dry run on <environment>')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+\/v1/g, '/v1')
    .replaceAll(/^Authorization: Bearer tally_live_….{4}\n/gm, '');
}

function valueOf(kept: ReadonlyMap<string, string>, name: string): string {
  const value = kept.get(name);
  if (value === undefined) throw new Error(`the script keeps nothing as ${name}`);
  return value;
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** Words as a shell splits them: spaces part, single and double quotes hold together. */
function shellWords(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map((match) =>
    match[0].replaceAll(/'([^']*)'|"([^"]*)"/g, (_all, single?: string, double?: string) => single ?? double ?? ''),
  );
}
