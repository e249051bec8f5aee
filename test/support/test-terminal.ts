/** A terminal for tests: it keeps what is written, and answers from a list. */

import { Readable, Writable } from 'node:stream';

import type { Question } from '../../src/cli/terminal/questions.ts';
import { redact, withoutSecrets } from '../../src/cli/terminal/redact.ts';
import { safe, vouch } from '../../src/cli/terminal/safe-text.ts';
import type { Terminal } from '../../src/cli/terminal/terminal.ts';

export interface TestTerminal extends Terminal {
  readonly written: { readonly stdout: string; readonly stderr: string };
  readonly asked: readonly Question[];
}

export interface TestTerminalOptions {
  readonly isTerminal?: boolean;
  /** Where standard input or standard error is another thing than standard output. */
  readonly isInputTerminal?: boolean;
  readonly isErrorTerminal?: boolean;
  readonly columns?: number;
  readonly hasColor?: boolean;
  readonly hasUnicode?: boolean;
  readonly input?: string;
  /** What the person answers, in order; then the input ends. */
  readonly answers?: readonly string[];
  readonly onAsk?: (question: Question) => void;
}

export function testTerminal(options: TestTerminalOptions = {}): TestTerminal {
  const written = { stdout: '', stderr: '' };
  const asked: Question[] = [];
  const secrets = new Set<string>();
  const isTerminal = options.isTerminal ?? false;
  const answers = [...(options.answers ?? [])];
  const stream = {
    isTerminal,
    hasColor: options.hasColor ?? false,
    hasUnicode: options.hasUnicode ?? false,
    columns: isTerminal ? (options.columns ?? 120) : undefined,
  };
  return {
    written,
    asked,
    stdin: { isTerminal: options.isInputTerminal ?? isTerminal },
    stdout: stream,
    stderr: { ...stream, isTerminal: options.isErrorTerminal ?? isTerminal },
    hasReader: () => true,
    out: (text) => void (written.stdout += withoutSecrets(text, secrets)),
    err: (text) => void (written.stderr += redact(text, secrets)),
    log: (text) => void (written.stderr += redact(text, secrets)),
    conceal: (secret) => void secrets.add(secret),
    withoutSecrets: (text) => withoutSecrets(text, secrets),
    openInput: () => Readable.from([Buffer.from(options.input ?? '')]),
    openProgress: () => ({
      output: new Writable({ write: (_chunk, _encoding, done) => done() }),
      close: () => undefined,
    }),
    readInput: () => Promise.resolve(options.input ?? ''),
    ask: async (question) => {
      asked.push(question);
      options.onAsk?.(question);
      written.stderr += vouch(`? ${question.message}\n`);
      for (;;) {
        const answer = answers.shift();
        const problem = answer === undefined ? undefined : await question.validate?.(answer);
        if (problem === undefined) return answer;
        written.stderr += vouch(`> ${safe(problem)}\n`);
      }
    },
  };
}
