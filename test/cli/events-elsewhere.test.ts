/** A book whose events live in a database of their own, from the command line: it bills the same, and never without them. */

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { beforeAll, describe, expect, test } from 'vitest';

import { subscribe } from '../support/billing-scenario.ts';
import { startClickhouse } from '../support/clickhouse-process.ts';
import { clickhouseUrl, useClickhouse } from '../support/clickhouse.ts';
import { runProgram, serveProgram } from '../support/program.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { createWorld } from '../support/world.ts';

const clickhouse = await useClickhouse();

describe.runIf(clickhouse !== undefined)('events in a database of their own', () => {
  const home = newDirectory();
  const beside = join(home, 'beside.db');
  const inside = join(home, 'inside.db');
  let events = '';
  let contractId = '';

  const tally = async (...words: string[]) => await runProgram(words, { home });
  const said = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await tally(...words);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };

  beforeAll(async () => {
    events = (await clickhouse?.create()) ?? '';
    for (const database of [beside, inside]) {
      const world = await createWorld({ database });
      ({ contractId } = await subscribe(world));
      await world.close();
    }
    const rows = Array.from(
      { length: 40 },
      (_value, index) => `2026-03-${10 + (index % 20)}T0${index % 10}:00:00Z,0.${index + 1}`,
    );
    writeFileSync(join(home, 'usage.csv'), ['timestamp,tokens', ...rows].join('\n'));
  });

  test('import, cost, bill run and doctor come to the same as with the events in the book', async () => {
    const story = async (...place: string[]): Promise<string[]> => {
      const importing = [
        'import',
        'events',
        join(home, 'usage.csv'),
        '--event-name',
        'llm.request',
        '--customer',
        'acme',
      ];
      await said(...importing, ...place);
      await said(...importing, ...place);
      const period = ['--start-date', '2026-03-01T00:00:00Z', '--end-date', '2026-04-01T00:00:00Z'];
      const answers = [
        await said(
          'usage',
          'cost',
          '--contract-id',
          contractId,
          ...period,
          '--json',
          'totalAmount,startDate',
          ...place,
        ),
        await said('usage', 'events', '--json', 'timestamp,properties', '--all', ...place),
      ];
      await said('bill', 'run', '--yes', ...place);
      answers.push(
        await said('invoices', 'list', '--json', 'status,totalCents,invoiceDate', ...place),
        await said('usage', 'cost', '--contract-id', contractId, ...period, '--by', 'day', '-o', 'csv', ...place),
      );
      await said('doctor', '--full', ...place);
      return answers;
    };
    const expected = await story('--database', inside);
    expect(expected[0]).toContain('0.12');
    expect(await story('--database', beside, '--events', events)).toEqual(expected);
    const moved = await clickhouse?.ask(events, 'SELECT count() AS events FROM tallybookEvents FINAL');
    expect(moved).toEqual([{ events: 40 }]);
  });

  test('a restored book says that they are not in it, and how to check both', async () => {
    const [backup, restored] = [join(home, 'backup.db'), join(home, 'restored.db')];
    await said('backup', backup, '--database', beside, '--events', events);
    const { stderr } = await tally('restore', backup, '--to', restored);
    expect(stderr).toContain('its events are in a separate database: restore that as of the same time');
    const [, check = ''] = /tally (doctor .* --events) URL/.exec(stderr) ?? [];
    expect(await tally(...check.split(' '), events)).toMatchObject({ code: 0 });
  });

  test('the book is not opened without its events, nor with those of another book', async () => {
    const without = await tally('customers', 'list', '--database', beside);
    expect(without).toMatchObject({ code: 7, stdout: '' });
    expect(without.stderr).toContain('--events');
    const other = (await clickhouse?.create()) ?? '';
    const wrong = await tally('customers', 'list', '--database', beside, '--events', other);
    expect(wrong).toMatchObject({ code: 7 });
    const taken = await tally('customers', 'list', '--database', join(home, 'new.db'), '--events', events);
    expect(taken.stderr).toContain('has the events of another book');
    const full = await tally('customers', 'list', '--database', inside, '--events', other);
    expect(full.stderr).toContain('tally copy');
    for (const { stderr } of [wrong, taken, full]) expect(stderr).not.toContain('p%40ss');
  });

  test('a profile names both, and shows no password', async () => {
    await said('profile', 'add', 'big', '--environment', 'embedded', '--database', beside, '--events', events);
    expect(await said('customers', 'list', '--profile', 'big', '-o', 'name')).not.toBe('');
    const shown = await said('profile', 'show', '--profile', 'big');
    expect(shown).toContain('clickhouse://tally:***@');
    expect(shown).not.toContain('p%40ss');
  });

  test('those that are billed are dropped with a yes alone, and everything that is asked says so', async () => {
    const place = ['--database', beside, '--events', events];
    const dropping = ['events', 'drop', '--before', '2026-04-01', ...place];
    const asked = ['usage', 'cost', '--contract-id', contractId, '--end-date', '2026-04-01T00:00:00Z', ...place];
    const cost = await said(...asked, '--json', 'totalAmount');
    const now = Temporal.Now.instant().round('second').subtract({ seconds: 1 }).toString();
    const early = await tally('events', 'drop', '--before', now, '--yes', ...place);
    expect(early).toMatchObject({ code: 7, stdout: '' });
    expect(early.stderr).toContain('is not finalized');
    expect(early.stderr).toContain(`finalize first with: tally bill run --database ${beside} --events `);
    expect(await said(...dropping, '--dry-run', '-o', 'csv')).toContain('"2026-04-01T00:00:00.000Z",40,1,1');
    chmodSync(beside, 0o444);
    for (const how of ['--dry-run', '--yes']) {
      const { code, stderr } = await runProgram([...dropping, how], { home, isOrdinary: true });
      expect([code, stderr]).toEqual([9, expect.stringContaining('is read-only; nothing was changed')]);
    }
    chmodSync(beside, 0o600);
    const silent = await tally(...dropping);
    expect(silent).toMatchObject({ code: 11, stdout: '' });
    expect(silent.stderr).toContain('--yes');
    expect(await said('usage', 'events', '--json', 'id', '--all', ...place)).not.toBe('[]\n');
    await said(...dropping, '--yes');
    expect(await said('usage', 'events', '--json', 'id', '--all', ...place)).toBe('[]\n');
    expect(await said(...asked, '--json', 'totalAmount')).toBe(cost);
    const again = ['import', 'events', join(home, 'usage.csv'), '--event-name', 'llm.request', '--customer', 'acme'];
    const refused = await tally(...again, ...place);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('were dropped');
    const invoices = JSON.parse(await said('invoices', 'list', '-o', 'json', ...place)) as { data: { id: string }[] };
    const explained = await said('invoices', 'explain', invoices.data.at(-1)?.id ?? '', '-o', 'json', ...place);
    expect(explained).toContain('"eventsDroppedBefore": "2026-04-01T00:00:00.000Z"');
    const { code, stderr } = await tally('doctor', '--full', ...place);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('events from before 2026-04-01T00:00:00.000Z were dropped'),
    ]);
    const copied = await tally('copy', '--to', join(home, 'copy.db'), ...place);
    expect(copied).toMatchObject({ code: 7, stdout: '' });
    expect(copied.stderr).toContain('cannot be copied');
    const inside = await tally(
      'events',
      'drop',
      '--before',
      '2026-04-01',
      '--yes',
      '--database',
      join(home, 'inside.db'),
    );
    expect(inside.stderr).toContain('none are ever dropped');
  });

  test('when they cannot be reached nothing is recorded, and the answer is 503', async () => {
    const server = await startClickhouse();
    const book = join(home, 'served.db');
    const world = await createWorld({ database: book });
    const { customerId } = await subscribe(world);
    const { data } = await world.call('keys.create', { body: { name: 'client', scopes: ['*'] } });
    await world.close();
    const place = ['--database', book, '--events', clickhouseUrl(server.port, 'default')];
    const serving = await serveProgram(place, { home });
    try {
      const send = async (key: string): Promise<number> => {
        const response = await fetch(`${serving.url}/v1/events`, {
          method: 'POST',
          headers: { 'x-api-key': data.key, authorization: `Bearer ${data.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({
            eventName: 'llm.request',
            customerId,
            idempotencyKey: key,
            properties: { tokens: 1 },
          }),
        });
        return response.status;
      };
      const recorded = () => {
        const database = new DatabaseSync(book, { readOnly: true });
        const rows = database.prepare('SELECT "events" FROM "stagedEvents"').all();
        database.close();
        return rows.map((row) => (JSON.parse(String(row['events'])) as unknown[][])[0]?.[3]);
      };
      const ready = async () => {
        const response = await fetch(`${serving.url}/readyz`);
        return [response.status, await response.json()];
      };
      await expect.poll(ready, { timeout: 30_000 }).toEqual([200, { status: 'ready' }]);
      expect(await send('before')).toBe(202);
      expect(recorded()).toEqual(['before']);
      await server.stop();
      expect(await ready()).toEqual([503, { status: 'notReady', reason: 'the database of events does not answer' }]);
      expect(await send('after')).toBe(503);
      expect(recorded()).toEqual(['before']);
      const again = await startClickhouse(server.port);
      await expect.poll(ready, { timeout: 30_000 }).toEqual([200, { status: 'ready' }]);
      await again.stop();
    } finally {
      await serving.stop();
    }
    const { code, stderr } = await tally('usage', 'events', ...place);
    expect(code).toBe(9);
    expect(stderr).toContain('cannot be reached');
    expect(stderr).not.toContain('p%40ss');
    expect(await said('customers', 'list', '-o', 'name', ...place)).toContain(customerId);
    const starting = await serveProgram(place, { home });
    const answers = await Promise.all(
      ['healthz', 'readyz'].map(async (probe) => await fetch(`${starting.url}/${probe}`)),
    );
    await starting.stop();
    expect(answers.map(({ status }) => status)).toEqual([200, 503]);
  });
});
