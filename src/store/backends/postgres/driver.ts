/** How Kysely speaks to the server: through sessions of a pool, which begin and end transactions themselves. */

import {
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';

import { createSessions, type Session, type SessionOptions } from './session.ts';

export function createDialect(options: SessionOptions): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => createDriver(options),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

function createDriver(options: SessionOptions): Driver {
  const session = (connection: DatabaseConnection): Session => connection as Session;
  return {
    init: async () => {},
    acquireConnection: createSessions(options),
    beginTransaction: async (connection, { accessMode = 'read write' }) => await session(connection).begin(accessMode),
    commitTransaction: async (connection) => await session(connection).commit(),
    rollbackTransaction: async (connection) => await session(connection).rollBack(),
    releaseConnection: async (connection) => session(connection).release(),
    destroy: async () => await options.pool.end(),
  };
}
