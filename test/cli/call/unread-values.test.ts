/** Whoever sends an event by hand hears what no meter reads in it; a script is spared the request for the meters. */

import { beforeEach, describe, expect, test } from 'vitest';

import { openStageWithAcme } from '../import/acme.ts';
import { made, saved, stage } from '../../support/use-stage.ts';
import { createShell } from '../shell.ts';

const eventOf = (name: string) => `usage ingest --event-name ${name} --external-customer-id acme --idempotency-key k1`;
const event = eventOf('request');
const sending = async (line: string, isTerminal = true) =>
  await stage.tally(line.split(' '), isTerminal ? { isTerminal } : {});
const skipped = 'warning: tokens: meter TOKENS skips 1 of 1 value; the first, in this event: "12,5" is not a number';
const again = 'send corrected events under the same keys (--idempotency-key)';

describe.each(['embedded', 'http'] as const)('%s', (surface) => {
  beforeEach(async () => {
    await openStageWithAcme(surface);
    await made(
      ...'meters create --code TOKENS --display-name Tokens --aggregation-key tokens'.split(' '),
      '--event-type-filter',
      '{"include":["request"]}',
    );
  });

  test('a value that a meter skips is named to a person, and the answer stays as it is', async () => {
    const { stdout, stderr, exitCode } = await sending(`${event} --property tokens=12,5 -o json`);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'accepted', idempotencyKey: 'k1' });
    expect(stderr).toContain(`${skipped}\n  hint: nothing is billed for them;`);
    expect(stderr).toContain(again);
    expect(stderr.split('warning: ')).toHaveLength(2);
    expect(exitCode).toBe(0);
  });

  test.each([
    [`${event} --property token=12`, 'warning: tokens: meter TOKENS finds it in none of 1 event'],
    [`${eventOf('raed')} --property tokens=12`, 'warning: no meter takes events called "raed": 1 event'],
  ])('so is what is misspelt: %s', async (line, told) => {
    const { stderr, exitCode } = await sending(line);
    expect(stderr).toContain(
      `${told}\n  hint: nothing is billed for that; see what meters read with: tally meters list`,
    );
    expect(exitCode).toBe(0);
  });

  test('of a batch it is said in which event', async () => {
    const [one, other] = ['1', '"x"'].map(
      (tokens) => `{"eventName":"request","externalCustomerId":"acme","properties":{"tokens":${tokens}}}`,
    );
    const file = saved('batch.json', `{"events":[${one},${other}]}`);
    const { stderr } = await stage.tally(['usage', 'ingest-batch', '--input', file], { isTerminal: true });
    expect(stderr).toContain('TOKENS skips 1 of 2 values; the first, in events[1]: "x" is not a number');
  });

  test('a dry run on a database says it wherever it is written, and none sends anything', async () => {
    const { stderr, exitCode } = await sending(`${event} --property tokens=12,5 --dry-run`, false);
    expect(stderr.includes(skipped)).toBe(surface === 'embedded');
    expect(stderr.includes('correct them before they are sent')).toBe(surface === 'embedded');
    expect(exitCode).toBe(0);
    expect((await sending('usage events', false)).stdout).toBe('');
  });

  test.each([
    ['of what meters read', '--property tokens=12.5', true],
    ['to a script', '--property tokens=12,5', false],
    ['with --quiet', '--property tokens=12,5 --quiet', true],
    ['with --quiet in a dry run', '--property tokens=12,5 --quiet --dry-run', true],
  ])('nothing is said %s', async (_case, flags, isTerminal) => {
    expect(await sending(`${event} ${flags}`, isTerminal)).toMatchObject({ stderr: '', exitCode: 0 });
  });
});

test('with a key that may not read meters an event is accepted in silence', async () => {
  await openStageWithAcme('http');
  await made(...'meters create --code TOKENS --display-name Tokens --aggregation-key tokens'.split(' '));
  const { stdout } = await stage.tally('keys create --name narrow --scopes usage:write -o json'.split(' '));
  const { data } = JSON.parse(stdout) as { readonly data: { readonly key: string } };
  const env = { ...stage.remote, TALLY_API_KEY: data.key };
  const words = `${event} --property tokens=12,5`.split(' ');
  expect(await stage.tally(words, { isTerminal: true }, { env })).toMatchObject({ stderr: '', exitCode: 0 });
});

test('a script sends one request for an event, and no other', async () => {
  const shell = createShell();
  await shell.run('usage ingest --event-name e --external-customer-id a');
  expect(shell.calls.map(({ name }) => name)).toEqual(['usage.ingest']);
});
