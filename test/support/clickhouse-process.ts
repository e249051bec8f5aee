/** A ClickHouse server of its own, on loopback and in a process of its own: see clickhouse-front-process.ts. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface ClickhouseProcess {
  readonly port: number;
  /** Ends it as a failing machine would. */
  readonly stop: () => Promise<void>;
}

/** Rejects with a sentence for people where the engine cannot be loaded on this machine. */
export async function startClickhouse(port = 0): Promise<ClickhouseProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'clickhouse-front-process.ts'), String(port)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (text: Buffer) => (complaint += text.toString()));
  const ended = once(child, 'exit');
  const [told] = (await Promise.race([once(child.stdout, 'data'), ended.then(() => [undefined])])) as [
    Buffer | undefined,
  ];
  if (told === undefined) throw new Error(/^\w*Error\b.*$/m.exec(complaint)?.[0] ?? 'chdb did not start');
  return {
    port: Number(told.toString()),
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
