/** What somebody does to a book behind the program's back: straight into the file, triggers set aside, seals made to fit. */

import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

import { entryHash, invoiceHash, noHash } from '../../src/store/records/hash-chain.ts';

type Row = Record<string, SQLInputValue>;

export interface Damage {
  /** Runs statements in which nothing is checked. */
  readonly run: (sql: string, ...values: SQLInputValue[]) => void;
  readonly one: (sql: string, ...values: SQLInputValue[]) => Row;
  /** Writes an entry behind the last one of a contract, its balances right and its seal fitting; gives its id. */
  readonly append: (contractId: string, entry: Row) => string;
  /** Makes the seals of a contract's ledger and invoices fit what stands there now. */
  readonly reseal: (contractId: string) => void;
}

/** Opens the file for `work`, and leaves it with the triggers that it had. */
export function damage(file: string, work: (damage: Damage) => void): void {
  const database = new DatabaseSync(file, {
    enableForeignKeyConstraints: false,
    readBigInts: true,
    defensive: false,
  });
  try {
    database.exec('PRAGMA synchronous = OFF');
    const triggers = database
      .prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
      .all() as unknown as { readonly name: string; readonly sql: string }[];
    for (const { name } of triggers) database.exec(`DROP TRIGGER "${name}"`);
    work(damageOn(database));
    for (const { sql } of triggers) database.exec(sql);
  } finally {
    database.close();
  }
}

function damageOn(database: DatabaseSync): Damage {
  const one: Damage['one'] = (sql, ...values) => {
    const row = database.prepare(sql).get(...values);
    if (row === undefined) throw new Error(`there is none: ${sql}`);
    return row;
  };
  const reseal: Damage['reseal'] = (contractId) => {
    const entries = database.prepare('SELECT * FROM ledgerEntries WHERE contractId = ? ORDER BY seq').all(contractId);
    let head = noHash;
    for (const entry of entries) {
      head = entryHash(head, entry);
      database.prepare('UPDATE ledgerEntries SET hash = ? WHERE seq = ?').run(head, entry['seq'] as bigint);
    }
    const finalized = database
      .prepare('SELECT * FROM invoices WHERE contractId = ? AND finalizedAt IS NOT NULL')
      .all(contractId);
    for (const invoice of finalized) {
      const lines = database
        .prepare('SELECT * FROM invoiceLines WHERE invoiceId = ? ORDER BY position')
        .all(invoice['id'] as string);
      database
        .prepare('UPDATE invoices SET contentHash = ? WHERE seq = ?')
        .run(invoiceHash(invoice, lines), invoice['seq'] as bigint);
    }
  };
  let appended = 0;
  return {
    one,
    reseal,
    run: (sql, ...values) => void database.prepare(sql).run(...values),
    append: (contractId, given) => {
      appended += 1;
      const id = `appended-${appended}`;
      const last = database
        .prepare('SELECT * FROM ledgerEntries WHERE contractId = ? ORDER BY seq DESC LIMIT 1')
        .get(contractId) as Row;
      const sum = (balance: string, amount: string) => (last[balance] as bigint) + ((given[amount] ?? 0n) as bigint);
      const { seq: _seq, hash: _hash, ...like } = last;
      const entry: Row = {
        ...like,
        id,
        amountCents: 0n,
        creditMicros: 0n,
        creditRateCents: 0n,
        appliedCents: 0n,
        invoiceId: null,
        lineKey: null,
        grantEntryId: null,
        reversesEntryId: null,
        externalId: null,
        fingerprint: null,
        expiresAt: null,
        specifiers: null,
        balanceAfterCents: sum('balanceAfterCents', 'amountCents'),
        creditBalanceAfterMicros: sum('creditBalanceAfterMicros', 'creditMicros'),
        ...given,
      };
      const names = Object.keys(entry);
      database
        .prepare(
          `INSERT INTO ledgerEntries (${names.map((name) => `"${name}"`).join(', ')})
           VALUES (${names.map(() => '?').join(', ')})`,
        )
        .run(...Object.values(entry));
      reseal(contractId);
      return id;
    },
  };
}
