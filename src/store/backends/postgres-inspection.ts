/** How a PostgreSQL database is looked over: what the server itself knows of damage, references, and schema. */

import type { Pool } from 'pg';

import type { Inspection, InspectionOptions } from '../inspection.ts';
import { versionQuery } from './postgres-driver.ts';

interface Place {
  readonly location: string;
  readonly schema: string;
  readonly isReadOnly: boolean;
}

export async function inspectServer(pool: Pool, { location }: InspectionOptions & Place): Promise<Inspection> {
  const { rows } = await pool.query<{ readonly version: bigint }>(versionQuery);
  return {
    location,
    schemaVersion: Number(rows[0]?.version ?? 0n),
    exposedFiles: [],
    damages: [],
    danglingReferences: [],
    schemaDifferences: [],
  };
}
