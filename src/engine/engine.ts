/** The service on a database: who calls, and the one path that every call takes. */

import { limits } from '../limits.ts';
import { once } from '../once.ts';
import type { Caller, Engine } from '../operations/index.ts';
import { createMeterSql } from '../store/open-meter-sql.ts';
import { callOperation, rehearseOperation } from './call.ts';
import type { EngineDependencies, EngineParts } from './dependencies.ts';
import { createKnownLedgers } from './known-ledgers.ts';

const loadKeys = once(() => import('./keys.ts'));

/** The service on an open store; closing it closes the store. */
export function createEngine(dependencies: EngineDependencies): Engine {
  const { store, meterSql = createMeterSql() } = dependencies;
  const parts: EngineParts = { ...dependencies, meterSql, ledgers: createKnownLedgers() };
  return {
    as: (caller: Caller) => ({
      call: async (name, input = {}) => await callOperation(parts, caller, name, input),
    }),
    rehearsal: (caller: Caller) => ({
      call: async (name, input = {}) => await rehearseOperation(parts, caller, name, input),
    }),
    authenticate: async (key) => await (await loadKeys()).authenticate(dependencies, key),
    owner: async (organization) => await (await loadKeys()).findOwner(dependencies, organization),
    billDue: async (signal) => await (await import('./clock.ts')).billDue(parts, signal),
    ping: async () => {
      await store.read(async () => await Promise.resolve());
    },
    checkWritable: async () => {
      const options = { busyTimeoutMilliseconds: limits.readinessMilliseconds, turn: 'readiness' };
      const { writeProbe } = await import('../store/records/book-facts.ts');
      await store.write(writeProbe, options);
    },
    checkEvents: async () => await store.events.checkAnswers?.(),
    vitals: async () => await (await import('./vitals.ts')).readVitals(dependencies),
    close: async () => {
      meterSql.close();
      await store.close();
    },
  };
}
