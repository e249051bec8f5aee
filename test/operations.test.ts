/** Every declared operation stands on every surface: nothing is written twice, so nothing can be forgotten. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { loadManifest } from '../src/cli/command-line/manifest.ts';
import { run } from '../src/cli/program.ts';
import { testTerminal } from './support/test-terminal.ts';
import { createClient } from '../src/client/client.ts';
import type { BillingError } from '../src/errors.ts';
import { allOperations } from '../src/operations/all.ts';
import type { OperationName } from '../src/operations/index.ts';
import { scopes } from '../src/operations/operation.ts';
import type { Operation, Scope } from '../src/operations/operation.ts';
import { openApiDocument } from '../src/server/openapi.ts';
import { createServer } from '../src/server/server.ts';
import { countedIds, createWorld } from './support/world.ts';
import type { World } from './support/world.ts';

let world: World;
let url: string;
let closeServer: () => Promise<void>;
const keys = new Map<Scope, string>();

beforeAll(async () => {
  world = await createWorld();
  for (const scope of scopes) {
    const { data } = await world.call('keys.create', { body: { name: scope, scopes: [scope] } });
    keys.set(scope, data.key);
  }
  const server = createServer({
    engine: world.engine,
    port: 0,
    rateLimitPerMinute: 0,
    version: '0.0.0',
    now: world.clock.now,
    newId: countedIds(),
  });
  ({ url } = await server.listen());
  closeServer = async () => await server.close();
});
afterAll(async () => {
  await closeServer();
  await world.close();
});

/** What comes of a call that passes the checks before its handler: anything but a refusal of the caller or of the path. */
async function outcomeOverHttp(operation: Operation, scope: Scope): Promise<string> {
  const client = createClient({
    baseUrl: url,
    key: keys.get(scope) ?? '',
    now: () => world.clock.now().epochMilliseconds,
    sleep: async () => await Promise.resolve(),
    random: () => 0,
  });
  try {
    await client.call(operation.name as OperationName, operation.examples[0]?.input);
    return 'answered';
  } catch (error) {
    return (error as BillingError).kind;
  } finally {
    await client.close();
  }
}

const named = allOperations.map((operation) => [operation.name, operation] as const);
const routed = named.filter(([, operation]) => operation.route !== undefined);

describe.each(routed)('%s', (_name, operation) => {
  test('is reached over HTTP by the client, by a key of its scope', async () => {
    expect(['answered', 'notFound', 'invalidInput', 'conflict']).toContain(
      await outcomeOverHttp(operation, operation.scope === 'any' ? 'usage:read' : operation.scope),
    );
  });

  test('is refused to a key that has every scope but its own, unless it asks for none', async () => {
    for (const scope of scopes.filter((each) => each !== '*' && each !== operation.scope)) {
      const expected = operation.scope === 'any' ? 'answered' : 'forbidden';
      expect(`${scope}: ${await outcomeOverHttp(operation, scope)}`).toBe(`${scope}: ${expected}`);
    }
  });
});

test.each(routed)('%s asks for its scope, whoever calls the engine', async (_name, operation) => {
  const { organizationId } = await world.engine.owner();
  const others = scopes.filter((each) => each !== '*' && each !== operation.scope);
  const call = world.engine
    .as({ organizationId, scopes: others, isLocal: false })
    .call(operation.name as OperationName, operation.examples[0]?.input)
    .then(() => 'answered')
    .catch((error: unknown) => (error as BillingError).kind);
  expect(await call).toBe(operation.scope === 'any' ? 'answered' : 'forbidden');
});

test.each(named.filter(([, operation]) => operation.route === undefined))(
  '%s is administration: the client says at once that a remote does not offer it',
  async (_name, operation) => {
    expect(await outcomeOverHttp(operation, '*')).toBe('notOffered');
  },
);

test.each(named)('%s has a command with help and examples', async (_name, operation) => {
  const terminal = testTerminal();
  const { group, verb } = operation.command;
  const exitCode = await run([group, verb, '--help'], { terminal, env: {}, version: '0' } as never, loadManifest);
  expect(exitCode).toBe(0);
  expect(terminal.written.stdout.replaceAll(/\s+/g, ' ')).toContain(operation.summary);
  expect(terminal.written.stdout).toContain(`\n  tally ${group} ${verb}`);
});

test.each(routed)('%s stands in the OpenAPI document under its name', (name, operation) => {
  const document = openApiDocument(allOperations, { version: '0.0.0' }) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
  };
  const { method, path } = operation.route ?? { method: 'GET', path: '' };
  expect(document.paths[path]?.[method.toLowerCase()]?.operationId).toBe(name);
});

test.each(named)('%s stands in the reference of README with its scope', (_name, { command, scope, summary }) => {
  const readme = readFileSync(fileURLToPath(new URL('../README.md', import.meta.url)), 'utf8');
  const row = readme
    .split('\n')
    .find((line) => new RegExp(`^\\| \`tally ${command.group} ${command.verb}[ \`]`).test(line));
  expect(row).toContain(summary);
  expect(row).toContain(`\`${scope}\` |`);
});
