/** A diff for people: what is created, replaced and archived, each with the reason. */

import { Chalk } from 'chalk';

import { wireText } from '../wire/rows.ts';
import { say, vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import type { OutputStream } from '../terminal/terminal.ts';
import { actions, kinds } from './change.ts';
import type { Action, Change } from './change.ts';
import type { CatalogDiff } from './diff.ts';

const heads = {
  create: { sign: '+', color: 'green' },
  replace: { sign: '~', color: 'yellow' },
  archive: { sign: '-', color: 'red' },
} as const satisfies Record<Action, object>;

const kindWidth = Math.max(...kinds.map((kind) => kind.length));

/** Lines for a person, ending in a line end. */
export function diffText(diff: CatalogDiff, stream: OutputStream): SafeText {
  const chalk = new Chalk({ level: stream.hasColor ? 1 : 0 });
  const groups = actions.flatMap((action) => {
    const changes = diff.changes.filter((change) => change.action === action);
    const { sign, color } = heads[action];
    return changes.length === 0 ? [] : [chalk[color](`${sign} ${action}`), ...changes.flatMap(linesOf)];
  });
  const rest = [
    `= ${diff.unchanged} unchanged`,
    ...(diff.unlisted === 0 ? [] : [`  ${diff.unlisted} not in the file, left alone (--prune archives)`]),
    ...(diff.changes.some(({ action }) => action !== 'create') ? [frozenWords] : []),
  ];
  return vouch([...groups, ...rest].map((line) => `${line}\n`).join(''));
}

const frozenWords =
  'Contracts keep the prices, rates and meters that they were made with; new contracts get the new ones.';

function linesOf(change: Change): SafeText[] {
  const indent = ' '.repeat(kindWidth + 6);
  return [
    say`    ${change.kind.padEnd(kindWidth)}  ${change.name}`,
    ...whyOf(change).map((line) => say`${indent}${line}`),
  ];
}

function valueText(value: unknown): string {
  return value === null ? '(none)' : wireText(value);
}

/** A diff as data; `why` says in a line what a table has no room for. */
export function diffData({ changes, unchanged, unlisted }: CatalogDiff) {
  return { changes: changes.map((change) => ({ ...change, why: whyOf(change).join('; ') })), unchanged, unlisted };
}

function whyOf({ action, reason, differences }: Change): string[] {
  const words = differences.map(({ field, from, to }) =>
    action === 'create' ? `${field}: ${valueText(to)}` : `${field}: ${valueText(from)} -> ${valueText(to)}`,
  );
  return reason === undefined ? words : [reason, ...words];
}
