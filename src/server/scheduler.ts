/** The bill runs of a server: on a schedule, one at a time, continuing after a failure. */

import type { DueReport, Engine } from '../operations/index.ts';

export interface SchedulerOptions {
  readonly engine: Pick<Engine, 'billDue'>;
  /** From the end of one run to the beginning of the next. */
  readonly pauseMilliseconds: number;
  /** Called with the report or the error of each run, except skipped ones. */
  readonly onRun: (outcome: RunOutcome) => void;
}

/** Both if it ended midway. */
export interface RunOutcome {
  readonly report?: DueReport;
  readonly error?: unknown;
}

export interface Scheduler {
  /** Begins with a run at once. */
  start(): void;
  /** Begins no further step, and waits for the one in progress. */
  close(): Promise<void>;
}

/** A schedule that does nothing until it is started. */
export function createScheduler({ engine, pauseMilliseconds, onRun }: SchedulerOptions): Scheduler {
  const stopping = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let round: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    try {
      const report = await engine.billDue(stopping.signal);
      if (report !== undefined) onRun({ report, error: report.stoppedBy });
    } catch (error) {
      onRun({ error });
    }
    if (!stopping.signal.aborted) timer = setTimeout(begin, pauseMilliseconds);
  }

  function begin(): void {
    round = run();
  }

  return {
    start: begin,
    async close() {
      stopping.abort();
      clearTimeout(timer);
      await round;
    },
  };
}
