/** A directory of its own for each test, the stores opened in it, and what another program does to the same file. */

import { readFileSync, writeFileSync } from 'node:fs';
import { chmod, copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach } from 'vitest';

import type { BackupManifest } from '../../src/operations/backup-manifest.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store, StoreOptions } from '../../src/store/store.ts';
import { newDirectory } from '../support/temporary-files.ts';
import { insertTwoOrganizations, row } from './rows.ts';

const stores: Store[] = [];
export let directory: string;
export let file: string;

/** Call at the top of a test file. */
export function useTestFile(): void {
  beforeEach(() => {
    directory = newDirectory();
    file = join(directory, 'billing.db');
  });
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
    // The end of the run removes it.
    await chmod(directory, 0o755);
  });
}

/** The database of the test, or the one at `url`; closed when the test ends. */
export async function open(url = file, options: StoreOptions = {}): Promise<Store> {
  const store = await openStore(url, options);
  stores.push(store);
  return store;
}

export async function openFilled(): Promise<Store> {
  const store = await open();
  await store.write(insertTwoOrganizations);
  return store;
}

/** Leaves a database with three customers of two organizations that nobody has open. */
export async function fill(): Promise<void> {
  await (await openFilled()).close();
}

/** As `fill`, with a file and a directory that cannot be written; gives the path of a copy that has one more customer. */
export async function fillUnwritable(): Promise<string> {
  await fill();
  const changed = `${file}.changed`;
  await copyFile(file, changed);
  const writer = await open(changed);
  await addCustomer(writer, 'c');
  await writer.close();
  await chmod(changed, 0o644);
  await chmod(file, 0o444);
  await chmod(directory, 0o555);
  return changed;
}

/** Writes the content of `changed` into the file of the test, and leaves the file and its directory as they were. */
export async function replaceUnwritable(changed: string): Promise<void> {
  await chmod(directory, 0o755);
  await chmod(file, 0o644);
  await copyFile(changed, file);
  await chmod(file, 0o444);
  await chmod(directory, 0o555);
}

export async function customers(store: Store): Promise<number> {
  return (await store.read((tx) => tx.selectFrom('customers').select('id').execute())).length;
}

export function addCustomer(store: Store, id: string): Promise<unknown> {
  return store.write((tx) => tx.insertInto('customers').values(row.customer('org-a', id)).execute());
}

/** What another program sees and does in the same file. */
export function withSqlite<T>(use: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file);
  try {
    return use(database);
  } finally {
    database.close();
  }
}

/** The superuser may write whatever its mode says; as somebody else it is held to the modes as well. */
export async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

/** What the manifest beside a backup says. */
export function readManifest(backup: string): BackupManifest {
  return JSON.parse(readFileSync(`${backup}.manifest.json`, 'utf8')) as BackupManifest;
}

/** Makes a page of a file of many unreadable. */
export function damagePage(path: string): void {
  const bytes = readFileSync(path);
  bytes.fill(0xff, 4096 * 10, 4096 * 11);
  writeFileSync(path, bytes);
}

/** Makes a database whose index of customers is not that of the table: its rows stand in it under other values than they have. */
export function disorderIndex(path: string): void {
  const database = new DatabaseSync(path);
  database.enableDefensive(false);
  database.exec(`PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(sql, '"createdAt"', '"name"') WHERE name = 'customers_created'`);
  database.close();
}
