/** The package as a library, used as a stranger would: packed, installed into a project, imported, compiled against. */

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createServer } from '../../src/server/server.ts';
import { root } from '../support/sources.ts';
import { createWorld, countedIds } from '../support/world.ts';
import type { World } from '../support/world.ts';

let folder: string;
/** The folder of a project that has installed the package. */
let project: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tally-library-'));
  // Packed from a copy, since another test packs the checkout at the same time.
  const copy = join(folder, 'copy');
  for (const path of ['package.json', 'README.md', 'LICENSE', 'bin', 'completions', 'man', 'schemas']) {
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
  execFileSync(process.execPath, [join(root, 'tools/build.ts'), join(copy, 'dist')]);
  const [{ filename }] = JSON.parse(npm(copy, 'pack', '--ignore-scripts', '--json'));
  project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "name": "stranger", "version": "1.0.0" }');
  npm(project, 'install', '--offline', '--no-audit', '--no-fund', join(copy, filename));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the examples of docs/library.md', () => {
  const [engineCode, clientCode] = examples('js');
  const [engineOutput, clientOutput] = examples('');

  test('the service in your process prints what stands there', () => {
    expect(runScript(engineCode ?? '')).toEqual({ stdout: engineOutput, stderr: '', status: 0 });
  });

  test('a client of a served instance prints what stands there', async () => {
    const { url, key, close } = await serveWorld(await createWorld());
    try {
      const environment = { BILLING_URL: url, BILLING_KEY: key };
      expect(await runScriptAside(clientCode ?? '', environment)).toEqual({ stdout: clientOutput, stderr: '' });
    } finally {
      await close();
    }
  });
});

describe('these examples in a program with strict types', () => {
  const globals = `declare const console: { log(...words: unknown[]): void };
    declare const process: { readonly env: Readonly<Record<string, string | undefined>> };`;

  test.each(examples('js'))('compile: %#', (code) => {
    expect(compile('example.mts', `${globals}\n${code}`)).toBe('');
  });
});

test('require gives the same library', () => {
  const code = `const { openEngine, BillingError } = require('tallybook');
    openEngine({ database: 'no-such-kind://x' }).catch((error) => console.log(error instanceof BillingError, error.kind));`;
  expect(runScript(code, 'script.cjs')).toEqual({ stdout: 'true usage\n', stderr: '', status: 0 });
});

test('a write of which nobody knows is told from one that changed nothing by its class', () => {
  const code = `import { UnavailableError, UnknownOutcomeError } from 'tallybook';
    console.log(new UnknownOutcomeError('lost') instanceof UnavailableError, new UnavailableError('locked') instanceof UnknownOutcomeError);`;
  expect(runScript(code)).toEqual({ stdout: 'true false\n', stderr: '', status: 0 });
});

test('two engines at once keep apart, and one that is closed refuses calls', () => {
  const { stdout } = runScript(`import { openEngine, NotFoundError } from 'tallybook';
    const [one, other] = await Promise.all([openEngine({ database: ':memory:' }), openEngine({ database: 'other.db' })]);
    const created = await one.call('customers.create', { body: {
      name: 'Acme', contacts: [{ name: 'Ada', email: 'ada@acme.example', roles: ['primary'] }] } });
    const { id: customerId } = created.body.data;
    const failure = await other.call('customers.get', { params: { customerId } }).catch((error) => error);
    await one.close();
    const afterwards = await one.call('customers.list').catch((error) => error);
    console.log(failure instanceof NotFoundError, afterwards instanceof Error, (await other.call('customers.list')).body.total);
    await other.close();`);
  expect(stdout).toBe('true true 0\n');
});

test('null is no input, and what is missing is named', () => {
  const code = `import { openEngine } from 'tallybook';
    const engine = await openEngine({ database: ':memory:' });
    const { body } = await engine.call('customers.list', { params: null, query: null });
    console.log(JSON.stringify(body));
    await engine.call('customers.get', null).catch(({ kind, message }) => console.log(kind, message));
    await engine.close();`;
  const stdout = '{"data":[],"hasMore":false,"total":0}\ninvalidInput customerId: is required\n';
  expect(runScript(code)).toEqual({ stdout, stderr: '', status: 0 });
});

test('time is what the caller says', () => {
  const { stdout } = runScript(`import { openEngine } from 'tallybook';
    const engine = await openEngine({ database: ':memory:', now: () => new Date('2030-02-03T04:05:06Z') });
    const { body } = await engine.call('keys.create', { body: { name: 'key', scopes: ['customers:read'] } });
    const holder = await engine.withKey(body.data.key);
    const failure = await holder.call('customers.update', { params: { customerId: 'x' }, body: { name: 'y' } }).catch((error) => error);
    console.log(body.data.createdAt, failure.kind);
    await engine.close();`);
  expect(stdout).toBe('2030-02-03T04:05:06.000Z forbidden\n');
});

test('it reads no environment and touches no stream of the process', () => {
  const { stdout, stderr } = runScript(`import { writeSync } from 'node:fs';
    let touched = new Set();
    for (const name of ['stdin', 'stdout', 'stderr', 'argv']) {
      const own = process[name];
      Object.defineProperty(process, name, { configurable: true, get: () => (touched.add(name), own) });
    }
    const env = process.env;
    process.env = new Proxy(env, { get: (target, name) => (touched.add(name), target[name]) });
    const { openEngine, createClient } = await import('tallybook');
    const engine = await openEngine({ database: 'quiet.db' });
    await engine.call('customers.list');
    await engine.close();
    const byEngine = [...touched];
    touched = new Set();
    const client = createClient({ baseUrl: 'http://127.0.0.1:9', apiKey: 'tally_live_' + '0'.repeat(48), timeoutMilliseconds: 50 });
    await client.call('customers.list').catch((error) => error);
    await client.close();
    writeSync(1, JSON.stringify({ byEngine, byClient: [...touched] }));`);
  const { byEngine, byClient } = JSON.parse(stdout);
  // Node itself asks for the first when it loads a file; the library of requests asks for the rest.
  const others = ['WATCH_REPORT_DEPENDENCIES', 'UNDICI_NO_WASM_SIMD', 'UNDICI_USE_MILO', 'FORCE_COLOR', 'stderr'];
  expect(byEngine.filter((name: string) => name !== others[0])).toEqual([]);
  expect(byClient.filter((name: string) => !others.includes(name))).toEqual([]);
  expect(stderr).toBe('');
});

describe('its types', () => {
  const good = `import { openEngine, createClient, BillingError, InvalidInputError, textOfNumber } from 'tallybook';
    import type { AnswerBody, Billing, Input } from 'tallybook';
    export async function use(): Promise<string> {
      const engine: Billing = await openEngine({ database: ':memory:', now: () => new Date(0) });
      const client: Billing = createClient({ baseUrl: 'https://billing.example.com', apiKey: 'k' });
      const { body, etag, aheadOfClock } = await client.call('customers.get', { params: { customerId: 'c' } });
      const name: string = body.data.name;
      const legalName: string | null = body.data.legalName;
      const list: AnswerBody<'customers.list'> = (await engine.call('customers.list')).body;
      await engine.call('invoices.list', { query: { include: 'lineItems,period' } });
      await engine.call('budgets.remove', { params: { contractId: 'c', index: 0 } });
      const grant: Input<'credits.grant'> = { params: { contractId: 'c' }, body: { amountCents: 5, expiresAt: 'x' } };
      const cents: string = textOfNumber((await engine.call('credits.grant', grant)).body.data.amountCents);
      try { return name + legalName + cents + list.total + (etag ?? aheadOfClock ?? ''); } catch (error) {
        if (error instanceof InvalidInputError) return error.issues.map(({ path }) => path).join();
        if (error instanceof BillingError) return error.kind;
        throw error;
      }
    }`;

  test.each(['index.mts', 'index.cts'])('say what goes in and comes out, with nothing else installed: %s', (name) => {
    expect(compile(name, good)).toBe('');
  });

  test.each([
    ['an operation that is none', `call('customers.crate')`, 'customers.crate'],
    ['an input that is missing', `call('customers.get')`, 'Expected 2 arguments'],
    ['a field that is misspelt', `call('customers.list', { query: { limt: 1 } })`, 'limt'],
    ['a body that is missing', `call('usage.cost', {})`, "'body' is missing"],
    ['a value of another type', `call('customers.get', { params: { customerId: 1 } })`, "'number' is not assignable"],
    ['a member of no answer', `call('customers.list').then(({ body }) => body.rows)`, "'rows' does not exist"],
  ])('refuse %s', (_, call, words) => {
    const code = `import type { Billing } from 'tallybook'; export const use = (billing: Billing) => billing.${call};`;
    expect(compile('wrong.mts', code)).toContain(words);
  });

  test('name no path of ours and no library', () => {
    const types = join(project, 'node_modules/tallybook/dist/types');
    for (const path of readdirSync(types, { recursive: true, encoding: 'utf8' })) {
      if (!path.endsWith('.cts')) continue;
      const imported = [...readFileSync(join(types, path), 'utf8').matchAll(/from "([^"]*)"/g)].map(([, id]) => id);
      expect(imported.filter((id) => !/^\.\.?\/[\w-]+\.cjs$/.test(id ?? ''))).toEqual([]);
    }
  });
});

/** The blocks of the page that are of a language, or of none. */
function examples(language: 'js' | ''): string[] {
  const blocks = readFileSync(join(root, 'docs/library.md'), 'utf8').matchAll(/^```(js)?\n(.*?)^```$/gms);
  return [...blocks].filter(([, of = '']) => of === language).map(([, , text]) => text ?? '');
}

function compile(name: string, code: string): string {
  writeFileSync(join(project, name), code);
  const options = { module: 'nodenext', target: 'es2022', strict: true, noEmit: true, skipLibCheck: false, types: [] };
  const strictest = {
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: name.endsWith('.mts'),
  };
  const config = { compilerOptions: { ...options, ...strictest }, files: [name] };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
  return spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project], {
    encoding: 'utf8',
  }).stdout;
}

function runScript(code: string, name = 'script.mjs') {
  writeFileSync(join(project, name), code);
  const { stdout, stderr, status } = spawnSync(process.execPath, [name], { cwd: project, encoding: 'utf8', env: {} });
  return { stdout, stderr, status };
}

/** While the service that it speaks to runs in this process. */
async function runScriptAside(code: string, env: Record<string, string>) {
  writeFileSync(join(project, 'client.mjs'), code);
  const { execFile } = await import('node:child_process');
  const { promisify } = await import('node:util');
  return await promisify(execFile)(process.execPath, ['client.mjs'], { cwd: project, env });
}

async function serveWorld(world: World) {
  const { data } = await world.call('keys.create', { body: { name: 'library', scopes: ['*'] } });
  const { engine, clock } = world;
  const options = { engine, host: undefined, port: 0, rateLimitPerMinute: 0, version: '0.0.0' };
  const server = createServer({ ...options, now: clock.now, newId: countedIds(), log: () => undefined });
  const { url } = await server.listen();
  const close = async () => {
    await server.close();
    await world.close();
  };
  return { url, key: data.key, close };
}

function npm(cwd: string, ...words: readonly string[]): string {
  return execFileSync('npm', words, {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
