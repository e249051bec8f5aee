/** The streams of a command: the only place that writes. Decides on colour and width, and whom it can ask. */

import type { Readable } from 'node:stream';

import { BadRequestError } from '../../errors.ts';
import { gatherBytes } from '../../gathered-bytes.ts';
import { aboveBar, drawBar, drawQuestion } from './drawing.ts';
import type { Drawing, Interruption, Keys } from './drawing.ts';
import type { OutputEnd } from './output-end.ts';
import { askPerson, type Question } from './questions.ts';
import { redact, withoutSecrets } from './redact.ts';
import type { SafeText } from './safe-text.ts';

export interface OutputStream {
  readonly isTerminal: boolean;
  readonly hasColor: boolean;
  /** Whether pictures may be drawn with more than ASCII. */
  readonly hasUnicode: boolean;
  /** Width in columns; undefined where there is no terminal. */
  readonly columns: number | undefined;
}

export interface Terminal {
  readonly stdin: { readonly isTerminal: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** False once whoever read standard output has gone away: what is written from then on is for nobody. */
  hasReader(): boolean;
  /** Writes the answer, without known secrets. */
  out(text: SafeText): void;
  /** Writes notes, questions and errors, without known secrets and whatever looks like one. */
  err(text: SafeText): void;
  /** Writes lines of a service's log like notes; they are dropped while nobody reads those before them. */
  log(text: SafeText): void;
  /** From now on this text never appears in what is written. */
  conceal(secret: string): void;
  /** The text without known secrets, for what is written elsewhere. */
  withoutSecrets(text: string): string;
  /** Standard input as it arrives, for input too large to hold. */
  openInput(): Readable;
  /** Where a progress bar draws itself until it is closed. */
  openProgress(): Drawing;
  /** Everything on standard input; throws a BadRequestError when it is not UTF-8. */
  readInput(): Promise<string>;
  /** The person's answer, `yes` for a confirmed question; undefined at the end of input. */
  ask(question: Question): Promise<string | undefined>;
}

export interface Streams {
  /** Opened only when needed: opening it costs time even in a command that reads nothing. */
  readonly stdin: Keys;
  readonly stdout: OutputEnd;
  readonly stderr: OutputEnd;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  /** Calls the interruption at signals, until the returned function is called. */
  readonly whenInterrupted: (interruption: Interruption) => () => void;
  /** Stops the process until a shell continues it. */
  readonly stop: () => void;
}

/** The terminal of a process. */
export function createTerminal(streams: Streams): Terminal {
  const { stdout, stderr, env } = streams;
  const talk = outputStream(stderr, streams);
  const secrets = new Set<string>();
  let hasBar = false;
  return {
    stdin: {
      get isTerminal() {
        const { stdin } = streams;
        // After the end of input a terminal would answer every question with no.
        return stdin.isTTY === true && !stdin.readableEnded;
      },
    },
    stdout: outputStream(stdout, streams),
    stderr: talk,
    hasReader: () => stdout.hasReader,
    out: (text) => stdout.write(withoutSecrets(text, secrets)),
    err: (text) => stderr.write(hasBar ? aboveBar(redact(text, secrets)) : redact(text, secrets)),
    log: (text) => stderr.log(redact(text, secrets)),
    conceal: (secret) => void secrets.add(secret.trim()),
    withoutSecrets: (text) => withoutSecrets(text, secrets),
    openInput: () => streams.stdin,
    openProgress() {
      const { output, close } = drawBar(stderr.stream(), streams);
      hasBar = true;
      const end = () => {
        hasBar = false;
        close();
      };
      return { output, close: end };
    },
    readInput: () => readAll(streams.stdin),
    async ask(question) {
      if (env['TERM'] === 'dumb') {
        const { askPlainly } = await import('./plain-questions.ts');
        const { stdin: input, whenInterrupted } = streams;
        return await askPlainly(question, { input, output: stderr.stream(), whenInterrupted });
      }
      const { output, close } = drawQuestion(stderr.stream(), streams);
      try {
        return await askPerson(question, { input: streams.stdin, output, hasUnicode: talk.hasUnicode });
      } finally {
        close();
      }
    },
  };
}

/** Whether a stream takes colours: FORCE_COLOR, then NO_COLOR, then TERM=dumb, then whether it is a terminal. */
export function takesColor(isTerminal: boolean, env: Streams['env']): boolean {
  if (env['FORCE_COLOR'] !== undefined && env['FORCE_COLOR'] !== '') return env['FORCE_COLOR'] !== '0';
  if (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') return false;
  return env['TERM'] !== 'dumb' && isTerminal;
}

/** Whether a stream shows block and box characters: a terminal that is not dumb, with a UTF-8 locale or on Windows. */
export function takesUnicode(isTerminal: boolean, env: Streams['env'], platform: string): boolean {
  if (!isTerminal || env['TERM'] === 'dumb') return false;
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return /utf-?8/i.test(locale) || (platform === 'win32' && locale === '');
}

function outputStream(end: OutputEnd, { env, platform }: Pick<Streams, 'env' | 'platform'>): OutputStream {
  return {
    get isTerminal() {
      return end.isTTY;
    },
    get hasColor() {
      return takesColor(end.isTTY, env);
    },
    get hasUnicode() {
      return takesUnicode(end.isTTY, env, platform);
    },
    get columns() {
      // A terminal that nobody sized reports 0, as in containers and under CI.
      return end.isTTY ? end.columns || 80 : undefined;
    },
  };
}

async function readAll(stdin: Readable): Promise<string> {
  const gathered = gatherBytes();
  for await (const chunk of stdin) gathered.add(Buffer.from(chunk as Uint8Array));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(gathered.whole());
  } catch (cause) {
    throw new BadRequestError('standard input is not UTF-8 text', {
      cause,
      hint: 'save it as UTF-8, or convert it on the way, for example: iconv -f WINDOWS-1252 -t UTF-8 FILE | tally …',
    });
  }
}
