/** The service on a database: who calls, and the one path that every call takes. */

import { UnavailableError } from '../errors.ts';
import { limits } from '../limits.ts';
import { once } from '../once.ts';
import type { Caller, Engine } from '../operations/index.ts';
import { createPending } from '../pending.ts';
import { createMeterSql } from '../store/open-meter-sql.ts';
import { callOperation, rehearseOperation } from './call.ts';
import type { EngineDependencies, EngineParts } from './dependencies.ts';
import { createKnownLedgers } from './known-ledgers.ts';

const loadKeys = once(() => import('./keys.ts'));

/** The service on an open store; closing it closes the store. */
export function createEngine(dependencies: EngineDependencies): Engine {
  const { store, meterSql = createMeterSql() } = dependencies;
  const { finalizationGraceHours = limits.finalizationGraceHours } = dependencies;
  const parts: EngineParts = { ...dependencies, finalizationGraceHours, meterSql, ledgers: createKnownLedgers() };
  const pending = createPending();
  let isClosed = false;

  /** Closing waits for `work`: some of it takes many transactions, and the store must not close between them. */
  async function whileOpen<T>(work: () => Promise<T>): Promise<T> {
    if (isClosed) throw new UnavailableError('the service is closed', { hint: 'open it again' });
    return await pending.run(work);
  }

  return {
    as: (caller: Caller) => ({
      call: (name, input = {}) => whileOpen(() => callOperation(parts, caller, name, input)),
    }),
    rehearsal: (caller: Caller) => ({
      call: (name, input = {}) => whileOpen(() => rehearseOperation(parts, caller, name, input)),
    }),
    authenticate: (key) => whileOpen(async () => await (await loadKeys()).authenticate(dependencies, key)),
    owner: (organization) => whileOpen(async () => await (await loadKeys()).findOwner(dependencies, organization)),
    billDue: (signal) => whileOpen(async () => await (await import('./clock.ts')).billDue(parts, signal)),
    ping: async () => {
      await store.read(async () => await Promise.resolve());
    },
    checkWritable: async () => await (await import('./only-read.ts')).checkWritable(store),
    checkEvents: async () => await store.events.checkAnswers?.(),
    vitals: async () => await (await import('./vitals.ts')).readVitals(dependencies),
    close: async () => {
      isClosed = true;
      await pending.settled();
      meterSql.close();
      await store.close();
    },
  };
}
