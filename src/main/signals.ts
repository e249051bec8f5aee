/** How the program answers the signals that the system sends to its process. */

import type { Interruption } from '../cli/terminal/drawing.ts';
import { errorFacts, terminatedExitCode } from '../errors.ts';

export interface Signals {
  /** Restores the terminal when a signal arrives that nothing answers, and then lets the signal take effect. */
  readonly whenInterrupted: (interruption: Interruption) => () => void;
  /** Leaves SIGINT to Node. */
  readonly leaveInterrupts: () => void;
  /** Sets what is told if the person interrupts the program from now on. */
  readonly atInterrupt: (tell: (() => void) | undefined) => void;
  /** Resolves at the first signal; a second one, the same or the other, ends the process at once. */
  readonly untilStopped: (tellLast: () => void) => Promise<void>;
}

const interrupting = ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGTSTP'] as const;
const interruptedExitCode = errorFacts.interrupted.exitCode;

/** From now on, SIGINT ends the process at once, with its exit code. */
export function createSignals(ownProcess: NodeJS.Process): Signals {
  /** Signals at which the program ends by itself, in an orderly way. */
  const answered = new Set<NodeJS.Signals>(['SIGINT']);
  let tellInterrupt: (() => void) | undefined;

  function stopAtOnce(): void {
    tellInterrupt?.();
    ownProcess.exit(interruptedExitCode);
  }

  ownProcess.on('SIGINT', stopAtOnce);
  return {
    whenInterrupted({ leave, goOn, interrupt }) {
      const interrupted = (signal: NodeJS.Signals): void => {
        if (signal === 'SIGINT' && interrupt !== undefined) return interrupt();
        if (answered.has(signal)) return;
        leave(signal === 'SIGTSTP' ? 'stopped' : 'ended');
        ownProcess.off(signal, interrupted);
        ownProcess.kill(ownProcess.pid, signal);
      };
      const listen = (): void => {
        for (const signal of interrupting) ownProcess.off(signal, interrupted).on(signal, interrupted);
      };
      // After Node's own listeners, which pause the input.
      const continued = (): void =>
        void setImmediate(() => {
          listen();
          goOn();
        });
      listen();
      const stops = interrupt !== undefined && ownProcess.listeners('SIGINT').includes(stopAtOnce);
      if (stops) ownProcess.off('SIGINT', stopAtOnce);
      ownProcess.on('SIGCONT', continued);
      const ended = (): void => leave('ended');
      ownProcess.on('exit', ended);
      return () => {
        if (stops) ownProcess.on('SIGINT', stopAtOnce);
        for (const signal of interrupting) ownProcess.off(signal, interrupted);
        ownProcess.off('SIGCONT', continued);
        ownProcess.off('exit', ended);
      };
    },
    leaveInterrupts() {
      ownProcess.off('SIGINT', stopAtOnce);
      answered.delete('SIGINT');
    },
    atInterrupt(tell) {
      tellInterrupt = tell;
    },
    untilStopped(tellLast) {
      return new Promise((resolve) => {
        // A closed terminal, or a broken connection to it, is signalled by the shell or the system.
        ownProcess.on('SIGHUP', () => resolve());
        let isStopping = false;
        for (const signal of ['SIGINT', 'SIGTERM'] as const) {
          answered.add(signal);
          ownProcess.on(signal, () => {
            if (isStopping) {
              tellLast();
              ownProcess.exit(signal === 'SIGINT' ? interruptedExitCode : terminatedExitCode);
            }
            isStopping = true;
            resolve();
          });
        }
        // Last: while nobody listens, Node forgets a signal that came during what was loaded until now.
        ownProcess.off('SIGINT', stopAtOnce);
      });
    },
  };
}
