/** What layouts draw with: blocks of a title with labelled lines below it. */

import { Chalk } from 'chalk';

import type { ExactNumber } from '../../exact-json.ts';
import { cellText, wireText } from '../wire/rows.ts';
import { safe, vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { OutputStream } from '../terminal/terminal.ts';

export interface Block {
  readonly title: SafeText;
  /** Labels with their lines; a label without lines is left out. */
  readonly fields: readonly (readonly [label: string, lines: readonly SafeText[]])[];
}

const indent = '  ';

/** The blocks below each other, separated by an empty line. */
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

/** An amount in cents as `12.50 USD`. */
export function money(cents: ExactNumber): SafeText {
  return cellText({ cents }, { header: '', path: 'cents', format: 'money' });
}

/** A timestamp as `2026-03-01T00:00:00Z`. */
export function time(timestamp: string): SafeText {
  return cellText({ timestamp }, { header: '', path: 'timestamp', format: 'timestamp' });
}

/** A plain value as scripts get it. */
export function plain(value: unknown): SafeText {
  return safe(wireText(value));
}

/** Members as `model=large, region=eu`. */
export function members(values: Readonly<Record<string, unknown>>): SafeText {
  return cellText({ values }, { header: '', path: 'values', format: 'list' });
}
