import { expect, onTestFinished, test, vi } from 'vitest';

import type { DueReport } from '../../src/operations/index.ts';
import { createScheduler } from '../../src/server/scheduler.ts';
import type { RunOutcome } from '../../src/server/scheduler.ts';

const nothing: DueReport = { finalizedCount: 0, failedCount: 0, failures: [] };

/** Time stands still from here on, so that a run which waits to begin can be counted. */
function withoutTime(): { runsToCome: () => number } {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  return { runsToCome: () => vi.getTimerCount() };
}

interface Run {
  readonly signal: AbortSignal | undefined;
  readonly end: (outcome?: Error | DueReport | 'passed over') => void;
}

/** An engine whose runs end when the test says so, and the schedule over it. */
function schedule() {
  const runs: Run[] = [];
  const outcomes: RunOutcome[] = [];
  const waiting: (() => void)[] = [];
  const scheduler = createScheduler({
    pauseMilliseconds: 1,
    onRun: (outcome) => outcomes.push(outcome),
    engine: {
      billDue: async (signal) =>
        await new Promise((resolve, reject) => {
          runs.push({
            signal,
            end(outcome) {
              if (outcome instanceof Error) reject(outcome);
              else resolve(outcome === 'passed over' ? undefined : (outcome ?? nothing));
            },
          });
          for (const tell of waiting.splice(0)) tell();
        }),
    },
  });
  onTestFinished(async () => {
    for (const { end } of runs) end();
    await scheduler.close();
  });
  return {
    scheduler,
    runs,
    outcomes,
    nextRun: async () => await new Promise<void>((resolve) => waiting.push(resolve)),
  };
}

test('the first run begins at once, and each other one when the one before has ended', async () => {
  const { scheduler, runs, outcomes, nextRun } = schedule();
  expect(runs).toHaveLength(0);
  scheduler.start();
  expect(runs).toHaveLength(1);
  const second = nextRun();
  runs[0]?.end();
  await second;
  expect(runs).toHaveLength(2);
  expect(outcomes).toEqual([{ report: nothing }]);
});

test('a run that fails is told, and the next one comes', async () => {
  const { scheduler, runs, outcomes, nextRun } = schedule();
  scheduler.start();
  const second = nextRun();
  const error = new Error('locked');
  runs[0]?.end(error);
  await second;
  expect(outcomes).toEqual([{ error }]);
});

test('a run that ended midway is told with what it had done and with what ended it', async () => {
  const { scheduler, runs, outcomes, nextRun } = schedule();
  scheduler.start();
  const second = nextRun();
  const report = { ...nothing, finalizedCount: 3, stoppedBy: new Error('locked') };
  runs[0]?.end(report);
  await second;
  expect(outcomes).toEqual([{ report, error: report.stoppedBy }]);
});

test('a run that is passed over counts as none, and the next one comes', async () => {
  const { scheduler, runs, outcomes, nextRun } = schedule();
  scheduler.start();
  const second = nextRun();
  runs[0]?.end('passed over');
  await second;
  expect(outcomes).toEqual([]);
});

test('closing tells the run to begin no further step, waits for it, and begins no other', async () => {
  const { runsToCome } = withoutTime();
  const { scheduler, runs, outcomes } = schedule();
  scheduler.start();
  let isClosed = false;
  const closing = scheduler.close().then(() => (isClosed = true));
  expect(runs[0]?.signal?.aborted).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  expect(isClosed).toBe(false);
  runs[0]?.end();
  await closing;
  expect(outcomes).toEqual([{ report: nothing }]);
  expect([runs.length, runsToCome()]).toEqual([1, 0]);
});

test('closing between two runs begins no other', async () => {
  const { runsToCome } = withoutTime();
  const { scheduler, runs, outcomes } = schedule();
  scheduler.start();
  runs[0]?.end();
  await new Promise((resolve) => setImmediate(resolve));
  expect(outcomes).toEqual([{ report: nothing }]);
  expect(runsToCome()).toBe(1);
  await scheduler.close();
  expect([runs.length, runsToCome()]).toEqual([1, 0]);
});

test('one that was never started closes at once', async () => {
  const { scheduler, runs } = schedule();
  await scheduler.close();
  expect(runs).toHaveLength(0);
});
