/** Questions on a terminal that cannot move its cursor (`TERM=dumb`), and the person's answers, line by line. */

import type { Writable } from 'node:stream';

import type { Interruption, Keys } from './drawing.ts';
import { choiceText, interruptedQuestion, longestShownWhole } from './questions.ts';
import type { Question } from './questions.ts';
import { say } from './safe-text.ts';
import type { SafeText } from './safe-text.ts';

export interface PlainStreams {
  readonly input: Keys;
  readonly output: Writable;
  readonly whenInterrupted: (interruption: Interruption) => () => void;
}

/** The person's answer, `yes` for a confirmed question; undefined at the end of input. */
export async function askPlainly(question: Question, streams: PlainStreams): Promise<string | undefined> {
  const { message } = question;
  if (question.kind === 'secret') return await secretAnswer(say`? ${message} (not shown): `, streams);
  if (question.kind === 'choice') return await chosen(question, streams);
  if (question.kind === 'text') return await validAnswer(question, streams);
  const reply = await answerTo(say`? ${message} (y/N) `, streams);
  return reply === undefined ? undefined : /^y(?:es)?$/i.test(reply.trim()) ? 'yes' : 'no';
}

async function answerTo(
  prompt: SafeText,
  { input, output, whenInterrupted }: PlainStreams,
): Promise<string | undefined> {
  output.write(prompt);
  const interruption = new AbortController();
  // A terminal drops what was typed when it stops a program.
  const close = whenInterrupted({
    leave: (how) => void output.write(how === 'ended' ? '\n' : ''),
    goOn: () => void output.write(prompt),
    interrupt: () => interruption.abort(),
  });
  const line = await nextLine(input, interruption.signal);
  close();
  // So that the next message begins on a new line.
  if (line === undefined) output.write('\n');
  if (interruption.signal.aborted) throw interruptedQuestion();
  return line;
}

async function validAnswer({ message, validate }: Question, streams: PlainStreams): Promise<string | undefined> {
  for (;;) {
    const text = await answerTo(say`? ${message}: `, streams);
    const problem = text === undefined || text === '' ? undefined : await validate?.(text);
    if (problem === undefined) return text;
    streams.output.write(say`> ${problem}\n`);
  }
}

/** The value chosen by its number or value; in a long list first narrowed by a part of it. */
async function chosen({ message, choices = [] }: Question, streams: PlainStreams): Promise<string | undefined> {
  const { output } = streams;
  output.write(say`? ${message}\n`);
  let shown = choices;
  for (;;) {
    const isLong = shown.length > longestShownWhole;
    if (!isLong)
      for (const [index, choice] of shown.entries()) output.write(say`  ${index + 1}. ${choiceText(choice)}\n`);
    const asked = isLong ? say`a piece of one of ${shown.length}: ` : say`its number, from 1 to ${shown.length}: `;
    const reply = (await answerTo(asked, streams))?.trim();
    if (reply === undefined || reply === '') return reply;
    const picked = (isLong ? undefined : shown[numberOf(reply) - 1]) ?? choices.find(({ value }) => value === reply);
    if (picked !== undefined) return picked.value;
    const found = choices.filter((choice) => choiceText(choice).toLowerCase().includes(reply.toLowerCase()));
    if (found.length === 0) output.write(say`> there is none with ${reply}\n`);
    else shown = found;
  }
}

function numberOf(reply: string): number {
  return /^\d+$/.test(reply) ? Number(reply) : 0;
}

/** The next line, from a terminal that edits lines itself; undefined at the end of input, whatever was typed before it. */
async function nextLine(input: Keys, signal: AbortSignal): Promise<string | undefined> {
  let text = '';
  const take = (chunk: string) => {
    text += chunk;
    return text.includes('\n') ? text.slice(0, text.indexOf('\n')) : undefined;
  };
  const line = await untilTold(input, take, signal);
  if (line === undefined) return undefined;
  const ahead = text.slice(line.length + 1);
  if (ahead !== '') input.unshift(Buffer.from(ahead));
  return line.replace(/\r$/, '');
}

/** Reads until `take` returns a value, and returns that; undefined at the end of input, or when aborted. */
async function untilTold<T>(
  input: Keys,
  take: (chunk: string) => T | undefined,
  signal?: AbortSignal,
): Promise<T | undefined> {
  if (input.readableEnded) return undefined;
  const decoder = new TextDecoder();
  return await new Promise((resolve) => {
    const end = (told: T | undefined): void => {
      input.off('data', onData).off('end', onEnd).pause();
      resolve(told);
    };
    const onEnd = (): void => end(undefined);
    const onData = (chunk: Buffer | string): void => {
      const told = take(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }));
      if (told !== undefined) end(told);
    };
    input.on('data', onData).on('end', onEnd).resume();
    signal?.addEventListener('abort', onEnd);
  });
}

const [interruptKey, endKey, wipeKey] = ['\u0003', '\u0004', '\u0015'];
const lastWiped = new Set(['\u007f', '\b']);

/** Reads key by key, because a terminal that edits lines would show them. */
async function secretAnswer(
  prompt: SafeText,
  { input, output, whenInterrupted }: PlainStreams,
): Promise<string | undefined> {
  const begin = (): void => {
    input.setRawMode?.(true);
    output.write(prompt);
  };
  const leave = (): void => {
    input.setRawMode?.(false);
    output.write('\n');
  };
  const close = whenInterrupted({ leave, goOn: begin });
  begin();
  let secret = '';
  const keyEnding = await untilTold(input, (keys) => {
    for (const key of keys) {
      if (['\r', '\n', interruptKey, endKey].includes(key)) return key;
      if (key === wipeKey) secret = '';
      else if (lastWiped.has(key)) secret = secret.slice(0, -1);
      else if (key >= ' ') secret += key;
    }
    return undefined;
  });
  close();
  leave();
  if (keyEnding === interruptKey) throw interruptedQuestion();
  return keyEnding === undefined || keyEnding === endKey ? undefined : secret;
}
