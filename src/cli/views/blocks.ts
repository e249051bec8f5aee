/** What layouts draw with: blocks of a title and labelled lines below it. */

import { Chalk } from 'chalk';

import type { ExactNumber } from '../../exact-json.ts';
import { cellText, wireText } from '../wire/rows.ts';
import { safe, vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { OutputStream } from '../terminal/terminal.ts';

export interface Block {
  readonly title: SafeText;
  /** A label with its lines; one without lines is left out. */
  readonly fields: readonly (readonly [label: string, lines: readonly SafeText[]])[];
}

const indent = '  ';

/** The blocks below each other, an empty line between them. */
export function drawBlocks(blocks: readonly Block[], stdout: OutputStream): SafeText {
  const chalk = new Chalk({ level: stdout.hasColor ? 1 : 0 });
  return vouch(blocks.map((block) => drawBlock(block, (title) => vouch(chalk.bold(title)))).join('\n'));
}

function drawBlock({ title, fields }: Block, bold: (text: SafeText) => SafeText): SafeText {
  const width = Math.max(0, ...fields.map(([label]) => label.length));
  const lines = fields.flatMap(([label, texts]) =>
    texts.map((text, index) => `${indent}${(index === 0 ? label : '').padEnd(width)}  ${text}`.trimEnd()),
  );
  return vouch(`${[bold(title), ...lines].join('\n')}\n`);
}

/** `12.50 USD` of an amount in cents. */
export function money(cents: ExactNumber): SafeText {
  return cellText({ cents }, { header: '', path: 'cents', format: 'money' });
}

/** `2026-03-01T00:00:00Z` of a timestamp. */
export function time(timestamp: string): SafeText {
  return cellText({ timestamp }, { header: '', path: 'timestamp', format: 'timestamp' });
}

/** A plain value as scripts get it. */
export function plain(value: unknown): SafeText {
  return safe(wireText(value));
}

/** `model=large, region=eu`; lists by commas. */
export function members(values: Readonly<Record<string, unknown>>): SafeText {
  return cellText({ values }, { header: '', path: 'values', format: 'list' });
}
