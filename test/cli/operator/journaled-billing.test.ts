/** Which writes are journaled before they are sent: those that move money, or take something away. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createShell, exampleLineOf, manifest } from '../shell.ts';
import type { Shell } from '../shell.ts';

/** Operations that stand in the journal as begun while the service has their request, of all commands that write. */
async function journaledAhead(): Promise<{ readonly sent: Set<string>; readonly ahead: Set<string> }> {
  const [sent, ahead] = [new Set<string>(), new Set<string>()];
  for (const command of manifest.commands.filter(({ isWrite }) => isWrite)) {
    const shell: Shell = createShell({
      reply: ({ name }) => {
        if (name !== command.operation) return {};
        sent.add(name);
        const path = join(shell.home, 'data', 'journal', 'journal.jsonl');
        const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
        if (text.includes('"state":"begun"') && text.includes(`"operation":"${name}"`)) ahead.add(name);
        return {};
      },
    });
    await shell.run(`${exampleLineOf(command).replace(/^tally /, '')} --yes`);
  }
  return { sent, ahead };
}

test('what moves money or takes something away is in the journal before it is sent, and nothing else is', async () => {
  const { sent, ahead } = await journaledAhead();
  expect([...ahead].toSorted()).toEqual([
    'bill.run',
    'clock.advance',
    'clock.set',
    'contracts.cancel',
    'credits.adjust',
    'credits.grant',
    'credits.grantPaid',
    'credits.reverse',
    'credits.settle',
    'events.drop',
    'invoices.cancel',
    'invoices.finalize',
    'invoices.pay',
    'invoices.refund',
  ]);
  expect(sent.size).toBeGreaterThan(40);
});
