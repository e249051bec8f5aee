/** Triggers on events write to the schema of the table that fires them, though it was renamed under the session that writes. */

import { names } from './0001-events.ts';
import { markDaysOf } from './0008-event-days.ts';
import type { PostgresMigration } from './migration.ts';

/** Undone where the function ends, because it has a path of its own. */
const replace = (name: string, work: string): string =>
  `CREATE OR REPLACE FUNCTION "${name}"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
   BEGIN
     PERFORM set_config('search_path', quote_ident(TG_TABLE_SCHEMA) || ', pg_temp', true);
     ${work};
     RETURN NULL;
   END $$`;

const keepVersion = `INSERT INTO "eventVersions" (${names.map((name) => `"${name}"`).join(', ')})
     VALUES (${names.map((name) => `OLD."${name}"`).join(', ')})`;

export const ownSchema: PostgresMigration = {
  version: 9,
  statements: [replace('tallybookKeepVersion', keepVersion), replace('tallybookMarkDays', markDaysOf('changed'))],
};
