/** A command line on a stage: the real program in this process, on a database of its own or through a served one. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { loadManifest } from '../../src/cli/command-line/manifest.ts';
import { run } from '../../src/cli/program.ts';
import type { Dependencies, Stage as EngineStage } from '../../src/cli/session/session.ts';
import type { EmbeddedTarget } from '../../src/cli/target/target.ts';
import { newDirectory } from './temporary-files.ts';
import { testTerminal } from './test-terminal.ts';
import type { TestTerminalOptions } from './test-terminal.ts';
import { createClient } from '../../src/client/client.ts';
import { createEngine } from '../../src/engine/engine.ts';
import { createMaintenance } from '../../src/engine/maintenance.ts';
import { openMirrorBilling } from '../../src/engine/mirror-billing.ts';
import { createSkippedValues } from '../../src/engine/skipped-values.ts';
import { allOperations } from '../../src/operations/all.ts';
import { openApiDocument } from '../../src/server/openapi.ts';
import { createServer } from '../../src/server/server.ts';
import { checkWebhookUrl } from '../../src/server/webhook-address.ts';
import { isMirrorFile } from '../../src/store/mirror-file.ts';
import { isToBeMade, openStore } from '../../src/store/open.ts';
import { countedBytes, countedIds, createClock, resolverOf } from './world.ts';
import type { Clock } from './world.ts';

export type Surface = 'embedded' | 'http';

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

export interface CommandStage {
  readonly clock: Clock;
  readonly directory: string;
  readonly tally: (
    argv: readonly string[],
    terminal?: TestTerminalOptions,
    instead?: Partial<Dependencies>,
  ) => Promise<CommandResult>;
  readonly close: () => Promise<void>;
}

export interface ServedStage extends CommandStage {
  /** The variables by which a command line reaches the served database. */
  readonly remote: { readonly TALLY_BASE_URL: string; readonly TALLY_API_KEY: string };
}

const ownerOnly = ['keys', 'orgs', 'webhooks', 'clock', 'bill'];

/** Whether a command has no route, so that it runs on the database itself. */
export function isOwnerOnly([group = '', verb]: readonly string[]): boolean {
  return ownerOnly.includes(group) && verb !== 'whoami';
}

/** The same organization and key on either surface, so that ids and instants are the same on both. */
export async function createStage(
  surface: Surface,
  options: {
    readonly start?: string;
    /** Ids that nothing in a database made elsewhere has. */
    readonly newId?: () => string;
    /** Stands between command line and service; gives its own address. */
    readonly proxy?: (url: string) => Promise<string>;
    /** Instead of a file of its own. */
    readonly database?: string;
  } = {},
): Promise<ServedStage> {
  const clock = createClock(options.start);
  const directory = newDirectory();
  const database = options.database ?? join(directory, 'stage.db');
  const [newId, randomBytes] = [options.newId ?? countedIds(), countedBytes()];
  const newCommandId = countedIds();
  const openEngine = async (
    target: Pick<EmbeddedTarget, 'database'>,
    stage: EngineStage = { now: clock.now, newId },
  ) => {
    const store = await openStore(target.database);
    const engine = createEngine({
      store,
      ...stage,
      randomBytes,
      finalizationGraceHours: 0,
      checkWebhookUrl: async (url, rules) => await checkWebhookUrl(url, { ...rules, resolve: resolverOf() }),
    });
    const openWebhookSender = async () =>
      await Promise.resolve({
        deliverDue: async () => await Promise.resolve({ delivered: 0, retrying: 0, failed: 0 }),
        waiting: async () => await Promise.resolve({ count: 0, nextDueAt: null }),
        start: () => undefined,
        close: async () => await Promise.resolve(),
      });
    return { engine, openWebhookSender, close: async () => await engine.close() };
  };
  const served = await openEngine({ database });
  const owner = served.engine.as(await served.engine.owner());
  const { body } = await owner.call('keys.create', { body: { name: 'stage', scopes: ['*'] } });
  const key = (body as { readonly data: { readonly key: string } }).data.key;
  const server = createServer({
    engine: served.engine,
    host: undefined,
    port: 0,
    rateLimitPerMinute: 0,
    version: '0.0.0',
    now: clock.now,
    newId: countedIds(),
    log: () => undefined,
  });
  const { url: serverUrl } = await server.listen();
  const url = options.proxy === undefined ? serverUrl : await options.proxy(serverUrl);
  const remote = { TALLY_BASE_URL: url, TALLY_API_KEY: key, TALLY_ENVIRONMENT: 'sandbox' };
  const local = { TALLY_DATABASE: database };

  const dependenciesFor = (
    terminalOptions: TestTerminalOptions,
    isLocal: boolean,
  ): Dependencies & { terminal: ReturnType<typeof testTerminal> } => ({
    terminal: testTerminal(terminalOptions),
    env: surface === 'embedded' || isLocal ? local : remote,
    machine: { platform: process.platform, userId: process.getuid?.(), now: () => clock.now().epochMilliseconds },
    version: '0.0.0',
    newId: newCommandId,
    leaveInterrupts: () => undefined,
    atInterrupt: () => undefined,
    openKeyring: async () => await Promise.reject(new Error('a stage has no keyring')),
    operator: () => 'ada',
    directories: async () =>
      await Promise.resolve({ config: join(directory, 'config'), data: join(directory, 'data') }),
    openEngine,
    openBilling: async (target, { timeoutMilliseconds, isRehearsal }) => {
      if (target.kind === 'embedded') {
        if (isMirrorFile(target.database)) return await openMirrorBilling(target.database);
        const isElsewhere = isRehearsal === true && isToBeMade(target.database);
        const { engine, close } = await openEngine(isElsewhere ? { ...target, database: ':memory:' } : target);
        const owner = await engine.owner(target.organization);
        return { billing: engine.as(owner), rehearsal: engine.rehearsal(owner), close };
      }
      const client = createClient({
        baseUrl: target.baseUrl,
        key: target.key,
        timeoutMilliseconds,
        now: () => clock.now().epochMilliseconds,
        sleep: async () => await Promise.resolve(),
        random: () => 0.5,
      });
      return { billing: client, connection: () => client.connection(), close: async () => await client.close() };
    },
    serve: async () => await Promise.reject(new Error('a stage is served already')),
    openApiDocument: async () => await Promise.resolve(openApiDocument(allOperations, { version: '0.0.0' })),
    openMaintenance: async () => await Promise.resolve(createMaintenance({ now: clock.now })),
    watchValues: async (meters) => await Promise.resolve(createSkippedValues(meters)),
    checkAddress: async () => await Promise.resolve(),
    untilStopped: async () => await new Promise(() => undefined),
  });

  return {
    clock,
    directory,
    remote,
    tally: async (argv, terminalOptions = {}, instead = {}) => {
      const dependencies = dependenciesFor(terminalOptions, isOwnerOnly(argv));
      const exitCode = await run(argv, { ...dependencies, ...instead }, loadManifest);
      return { ...dependencies.terminal.written, exitCode };
    },
    close: async () => {
      await server.close();
      await served.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
