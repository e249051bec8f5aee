/** Fields by what a person types for them. */

import type { CommandSpec } from './manifest.ts';

/** Names fields by their flags: `goes with creditAmount` becomes `goes with --credit-amount`. */
export function byFlags(text: string, { flags }: Pick<CommandSpec, 'flags'>): string {
  return text.replaceAll(/\b[a-z]+[A-Z]\w*/g, (word) => {
    const spec = flags.find(({ name }) => name === word);
    return spec === undefined ? word : `--${spec.flag}`;
  });
}
