/** Writes a call as the command line that makes it; flags.ts reads that line back to the same call. */

import { isExactNumber, textOfNumber } from '../src/exact-json.ts';
import type { CallInput } from '../src/operations/operation.ts';
import type { CommandSpec, FlagSpec, Shape } from '../src/cli/command-line/manifest.ts';
import { shellWord } from '../src/cli/command-line/shell-word.ts';

/** `tally credits grant ID --amount-cents 5000 …`, quoted for a shell. */
export function exampleLine(command: Omit<CommandSpec, 'examples'>, input: CallInput): string {
  const body = (input.body ?? {}) as Record<string, unknown>;
  const words = [
    'tally',
    command.group,
    command.verb,
    ...command.positionals.map(({ name }) => input.params?.[name] ?? ''),
  ];
  const cleared: string[] = [];
  for (const spec of command.flags) {
    const value = spec.in === 'query' ? input.query?.[spec.name] : body[spec.name];
    if (value === undefined) continue;
    if (value === null) cleared.push(spec.flag);
    else words.push(...flagWords(spec, value));
  }
  if (cleared.length > 0) words.push('--clear', cleared.join(','));
  if (input.ifMatch !== undefined) words.push('--if-match', input.ifMatch);
  return words.map(shellWord).join(' ');
}

function flagWords(spec: FlagSpec, value: unknown): string[] {
  const flag = `--${spec.flag}`;
  if (spec.kind === 'boolean') return [String(value) === 'true' ? flag : `${flag}=false`];
  if (spec.kind === 'objects')
    return (value as unknown[]).flatMap((each) => [flag, objectText(each, spec.fields ?? {})]);
  if (spec.kind === 'object') return [flag, objectText(value, spec.fields ?? {})];
  if (spec.kind === 'members') return memberWords(flag, value as Record<string, unknown>, spec.element);
  if (spec.kind === 'list') return [flag, listText(value as unknown[], ',')];
  return [flag, scalarText(value, spec)];
}

function memberWords(flag: string, members: Record<string, unknown>, element: Shape | undefined): string[] {
  return Object.entries(members).flatMap(([name, value]) => [flag, `${name}=${scalarText(value, element)}`]);
}

/** `name=Ada,roles=primary+csm` if that is unambiguous, otherwise JSON. */
function objectText(value: unknown, fields: Readonly<Record<string, Shape>>): string {
  const parts = Object.entries(value as Record<string, unknown>).map(([name, each]) => {
    const shape = fields[name];
    if (shape?.kind === 'list') return `${name}=${listText(each as unknown[], '+')}`;
    if (shape === undefined || typeof each === 'object') return undefined;
    const written = scalarText(each, shape);
    return /[,"]|^[[{]/.test(written) ? undefined : `${name}=${written}`;
  });
  return parts.includes(undefined) ? JSON.stringify(value) : parts.join(',');
}

function listText(values: readonly unknown[], separator: string): string {
  const texts = values.map(String);
  const isPlain = texts.every((text, index) => typeof values[index] === 'string' && /^[^,|+"[\]{}]+$/.test(text));
  return isPlain ? texts.join(separator) : JSON.stringify(values);
}

function scalarText(value: unknown, shape: Shape | undefined): string {
  if (isExactNumber(value)) return textOfNumber(value);
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return JSON.stringify(value);
  const looksLikeAnother = /^(?:true|false|null|-?\d|["[{])/.test(value);
  return shape?.kind === 'any' && looksLikeAnother ? JSON.stringify(value) : value;
}
