/** Databases on the ClickHouse server of a run of tests. */

import { randomUUID } from 'node:crypto';
import { createClient } from '@clickhouse/client';
import { afterAll, inject } from 'vitest';

import { credentials } from './clickhouse-credentials.ts';
import { portOrSkip } from './port-or-skip.ts';

export interface ClickhouseDatabases {
  /** The URL of a new, empty database. */
  readonly create: () => Promise<string>;
  /** The same, or one that `giveBack` has emptied, which is twice as quick. */
  readonly take: () => Promise<string>;
  /** Takes the rows out of one that nobody uses any more. */
  readonly giveBack: (url: string) => Promise<void>;
  /** What another program does there, or sees. */
  readonly run: (url: string, text: string) => Promise<void>;
  readonly ask: (url: string, text: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/**
 * The server's databases, or undefined where it cannot run on this machine: then the file that asks has one skipped test,
 * which says why. Call at the top of a test file.
 */
export async function useClickhouse(): Promise<ClickhouseDatabases | undefined> {
  const port = await portOrSkip('ClickHouse', inject('clickhouse'));
  if (port === undefined) return undefined;
  const client = createClient({
    url: `http://127.0.0.1:${port}`,
    username: credentials.user,
    password: credentials.password,
  });
  const nameOf = (url: string) => url.slice(url.lastIndexOf('/') + 1);
  // The databases go with the server.
  afterAll(async () => await client.close());
  const create = async () => {
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    await client.command({ query: `CREATE DATABASE ${name}` });
    return clickhouseUrl(port, name);
  };
  const free: string[] = [];
  const within = (url: string, text: string) => text.replaceAll(/\btallybook[A-Z]\w+/g, `${nameOf(url)}.$&`);
  return {
    run: async (url, text) => {
      await client.command({ query: within(url, text) });
    },
    ask: async (url, text) => await (await client.query({ query: within(url, text), format: 'JSONEachRow' })).json(),
    create,
    take: async () => free.pop() ?? (await create()),
    giveBack: async (url) => {
      await client.command({ query: `TRUNCATE ALL TABLES FROM ${nameOf(url)}` });
      free.push(url);
    },
  };
}

export function clickhouseUrl(port: number, database: string): string {
  const { user, password } = credentials;
  return `clickhouse://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}
