/** Questions drawn on a terminal, and the person's answers. */

import type { Readable, Writable } from 'node:stream';

import type * as Prompts from '@inquirer/prompts';

import { BillingError } from '../../errors.ts';
import { safe, say } from './safe-text.ts';
import type { SafeText } from './safe-text.ts';

/** A possible answer, with a label that distinguishes it from the others. */
export interface Choice {
  readonly value: string;
  /** Empty where the value is enough. */
  readonly label: string;
}

export interface Question {
  readonly kind: 'text' | 'secret' | 'choice' | 'confirm';
  readonly message: SafeText;
  /** Long lists are searched. */
  readonly choices?: readonly Choice[] | undefined;
  /** Says what is wrong with an answer, which is then asked for again; undefined if nothing is. */
  readonly validate?: (text: string) => Promise<string | undefined>;
}

export interface Drawn {
  readonly input: Readable;
  readonly output: Writable;
  /** Whether more than ASCII may be drawn. */
  readonly hasUnicode: boolean;
}

/** The library's own symbols are not ASCII. */
const plainTheme = {
  prefix: { idle: '?', done: '+' },
  spinner: { interval: 80, frames: ['|', '/', '-', '\\'] },
  icon: { cursor: '>' },
  style: { keysHelpTip: () => 'arrow keys to move, enter to select' },
};

/** The answer, `yes` for a confirmed question; undefined at the end of input. */
export async function askPerson(question: Question, { hasUnicode, ...streams }: Drawn): Promise<string | undefined> {
  const prompts = await import('@inquirer/prompts');
  const { message } = question;
  const theme = hasUnicode ? {} : plainTheme;
  try {
    if (question.kind === 'secret')
      return await prompts.password({ message, mask: '*', toggleMask: false, theme }, streams);
    if (question.kind === 'choice') return await askToChoose(prompts, { ...question, theme }, streams);
    if (question.kind === 'text')
      return await prompts.input({ message, validate: validator(question), theme }, streams);
    return (await prompts.confirm({ message, default: false, theme }, streams)) ? 'yes' : 'no';
  } catch (error) {
    if (error instanceof Error && error.message.includes('SIGINT')) throw interruptedQuestion();
    if (error instanceof Error && error.name === 'ExitPromptError') return undefined;
    throw error;
  }
}

export function interruptedQuestion(): BillingError {
  return new BillingError('interrupted', 'interrupted: nothing was done');
}

/** A short list is shown whole. A long one is searched by the text typed, in ids and names. */
async function askToChoose(
  prompts: Pick<typeof Prompts, 'search' | 'select'>,
  { message, choices = [], theme }: Question & { readonly theme: Partial<typeof plainTheme> },
  streams: { input: Readable; output: Writable },
): Promise<string> {
  const shown = choices.map((choice) => {
    const name = choiceText(choice);
    return { value: choice.value, name, short: name };
  });
  if (shown.length <= longestShownWhole) return await prompts.select({ message, choices: shown, theme }, streams);
  const matching = (term = '') => shown.filter(({ name }) => name.toLowerCase().includes(term.toLowerCase()));
  return await prompts.search(
    { message, source: (term) => matching(term), pageSize: longestShownWhole, theme },
    streams,
  );
}

export const longestShownWhole = 10;

export function plainChoice(value: string): Choice {
  return { value, label: '' };
}

export function choiceText({ value, label }: Choice): SafeText {
  return label === '' ? safe(value) : say`${label}  ${value}`;
}

function validator({ validate }: Question): (text: string) => Promise<boolean | string> {
  return async (text) => (text === '' ? true : ((await validate?.(text)) ?? true));
}
