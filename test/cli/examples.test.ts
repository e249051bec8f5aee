/** Every example of every help page, run as it is printed on the demo's database. */

import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { helpPages } from '../../src/cli/help-pages.ts';
import type { Dependencies } from '../../src/cli/session/session.ts';
import { createClient } from '../../src/client/client.ts';
import { exampleIds } from '../../src/operations/example-ids.ts';
import { makeCertificate } from '../support/certificate.ts';
import { createPlayground } from '../support/playground.ts';
import type { Playground } from '../support/playground.ts';
import { launcher, runProgram, serveProgram } from '../support/program.ts';
import type { Serving } from '../support/program.ts';
import { manifest, shellWords } from './shell.ts';

const pages = (await helpPages(manifest)).map((page) => ({ ...page, title: ['tally', ...page.words].join(' ') }));

const asksForKey = (line: string) => line.includes('--base-url');
/** Real processes, since the services are processes too. */
const needsService = (line: string) => /--profile|tally pull|mirror\.db/.test(line);
const needsCertificate = (line: string) => line.includes('.pem');
const needsShell = (line: string) => /[<>|]/.test(line.replaceAll(/'[^']*'/g, ''));
const waits = (words: readonly string[]) => words[0] === 'serve' || words.includes('listen');

const demoContract = '01900000-0000-7000-8000-000000000006';

let playground: Playground;
let services: Awaited<ReturnType<typeof startServices>> | undefined;
beforeAll(async () => (playground = await createPlayground()));
afterAll(async () => {
  await services?.sandbox.stop();
  await services?.live.stop();
  await playground.close();
});

test.each(pages)('the help of $title ends with examples', ({ examples }) => {
  expect(examples.length).toBeGreaterThanOrEqual(2);
});

describe('the examples run in their order', () => {
  test.each(pages)('$title', async ({ examples }) => {
    // Below, in what runs one.
    expect.hasAssertions();
    const directory = playground.copy();
    const lines = examples.map(({ line }) => line).join('\n');
    if (needsService(lines)) await addProfiles(directory, lines.includes('--expect-env production'));
    // Nothing has been journaled yet.
    if (lines.includes('tally journal')) await byHand(`tally customers resume ${exampleIds.customer}`, directory);
    for (const { line } of examples) {
      if (asksForKey(line)) await withKey(line, directory);
      else if (needsCertificate(line)) await serveByTls(line, directory);
      else if (needsService(line) || needsShell(line)) byBash(line, directory);
      else await byHand(line, directory);
    }
  });
});

/** What the examples call elsewhere: the demo's book behind HTTP, and a book of production that has nothing yet. */
async function startServices(): Promise<{ readonly sandbox: Service; readonly live: Service }> {
  const demo = playground.copy();
  const database = join(demo, 'live.db');
  await byHand(`tally orgs create --name live --environment production --database ${database}`, demo);
  return {
    sandbox: await startService(demo, join(demo, 'demo.db'), []),
    live: await startService(demo, database, ['--org', 'live']),
  };
}

interface Service extends Serving {
  readonly key: string;
}

async function startService(home: string, database: string, org: readonly string[]): Promise<Service> {
  const words = ['keys', 'create', '--name', 'examples', '--scopes', '*', '--database', database, ...org, '-o', 'json'];
  const { stdout } = await playground.tally(words, { directory: home });
  const { data } = JSON.parse(stdout) as { data: { key: string } };
  return { ...(await serveProgram(['--database', database], { home })), key: data.key };
}

/** The profiles `sandbox` and `live`, and the contracts of a file. What is pulled from live is the demo's. */
async function addProfiles(directory: string, isProduction: boolean): Promise<void> {
  services ??= await startServices();
  const { sandbox, live } = services;
  writeFileSync(join(directory, 'contracts.csv'), `contractId\n${demoContract}\n`);
  await addProfile(directory, ['sandbox', '--environment', 'sandbox'], sandbox);
  await (isProduction
    ? addProfile(directory, ['live', '--environment', 'production'], live)
    : addProfile(directory, ['live', '--environment', 'sandbox'], sandbox));
}

async function addProfile(home: string, words: readonly string[], { url, key }: Service): Promise<void> {
  const added = await runProgram(['profile', 'add', ...words, '--base-url', url, '--key-stdin'], { home, input: key });
  expect([words, added.code, added.code === 0 ? '' : added.stderr]).toEqual([words, 0, '']);
}

/** A person types the key of the service, which is then asked whether it knows it. */
async function withKey(line: string, directory: string): Promise<void> {
  services ??= await startServices();
  const { url, key } = services.sandbox;
  const words = shellWords(line.replace(/https:\S+/, url)).slice(1);
  const openBilling: Dependencies['openBilling'] = async (target) => {
    if (target.kind !== 'remote') throw new TypeError('this example names a service');
    const client = createClient({
      ...target,
      now: Date.now,
      sleep: async (milliseconds) => await pause(milliseconds),
      random: () => 0,
    });
    return { billing: client, connection: () => client.connection(), close: async () => await client.close() };
  };
  const terminal = { isTerminal: true, answers: [key] };
  const { exitCode, stderr } = await playground.tally(words, { directory, terminal, instead: { openBilling } });
  expect([line, exitCode, exitCode === 0 ? '' : stderr]).toEqual([line, 0, '']);
}

async function serveByTls(line: string, directory: string): Promise<void> {
  const { cert, certFile, keyFile } = makeCertificate();
  copyFileSync(certFile, join(directory, 'chain.pem'));
  copyFileSync(keyFile, join(directory, 'key.pem'));
  const words = shellWords(line).map((word) => (word.endsWith('.pem') ? join(directory, word) : word));
  const database = ['--database', join(directory, 'demo.db')];
  const serving = await serveProgram([...words.slice(2), ...database], { home: directory });
  const { port } = new URL(serving.url);
  const status = await new Promise((resolve, reject) => {
    get(`https://127.0.0.1:${port}/healthz`, { ca: cert }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).once('error', reject);
  });
  await serving.stop();
  expect([line, status]).toEqual([line, 200]);
}

/** As a person would run it, who confirms what is asked. */
async function byHand(line: string, directory: string): Promise<void> {
  const words = shellWords(line).slice(1);
  // Any free port, since that of the example may be taken here.
  const port = words.indexOf('--port');
  if (words.includes('listen') && port !== -1) words[port + 1] = '0';
  const instead = waits(words) ? { untilStopped: async () => await Promise.resolve() } : {};
  const terminal = { isTerminal: true, answers: ['yes'] };
  const { exitCode, stdout, stderr } = await playground.tally(words, { directory, terminal, instead });
  expect([line, exitCode, exitCode === 0 ? '' : stderr]).toEqual([line, 0, '']);
  // An expression that finds nothing is no failure to jq.
  if (words.includes('--jq')) expect([line, stdout]).not.toEqual([line, 'null\n']);
}

function byBash(line: string, directory: string): void {
  const bin = join(directory, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'tally'), `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`);
  chmodSync(join(bin, 'tally'), 0o755);
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: directory,
    TALLY_DATABASE: join(directory, 'demo.db'),
    TALLY_CONFIG_DIR: join(directory, 'config'),
    TALLY_DATA_DIR: directory,
  };
  const options = { cwd: directory, env, encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync('bash', ['-o', 'pipefail', '-ec', line], options);
  expect([line, status, status === 0 ? '' : stderr]).toEqual([line, 0, '']);
}
