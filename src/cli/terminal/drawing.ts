/** Drawings that repaint themselves on a terminal, and how Ctrl-Z stops them or a signal ends them. */

import { Writable } from 'node:stream';
import type { Readable } from 'node:stream';

/** What happens to a drawing when a signal interrupts the process. */
export interface Interruption {
  /** Called before the process ends or stops, to restore the terminal. The shell reports the stop on the next line. */
  readonly leave: (how: 'ended' | 'stopped') => void;
  /** Called each time the process continues after a stop, on a new line. */
  readonly goOn: () => void;
  /** Called at Ctrl-C in place of ending the process, for a question to which the terminal does not pass that key. */
  readonly interrupt?: () => void;
}

export interface Drawing {
  readonly output: Writable;
  /** Ends the handling of signals for the drawing. */
  readonly close: () => void;
}

/** Standard input, which a terminal delivers key by key. */
export type Keys = Readable & { readonly isTTY?: boolean; readonly setRawMode?: (isRaw: boolean) => unknown };

interface Surroundings {
  readonly stdin: Keys;
  readonly whenInterrupted: (interruption: Interruption) => () => void;
  /** Stops the process as Ctrl-Z does where keys are not read one by one. */
  readonly stop: () => void;
}

const showCursor = '\u001b[?25h';
const hideCursor = '\u001b[?25l';
/** A bar is cut at the width of the terminal; the same mode would cut anything else written there. */
const wrapLines = '\u001b[?7h';
const cutLines = '\u001b[?7l';
const lineEnd = { ended: '\n', stopped: '' };
const wipeBelow = '\u001b[J';
const wipeLine = '\r\u001b[K';
/**
 * The bar ends at the saved position, which moves after a stop and after other lines are printed. It is saved while lines
 * wrap: some terminals save that mode too, and restore it when the bar ends.
 */
const keepPlace = '\u001b7';

/** For a progress bar, which hides the cursor, has lines cut, and repaints itself on a timer. */
export function drawBar(output: Writable, { whenInterrupted }: Surroundings): Drawing {
  const close = whenInterrupted({
    leave: (how) => void output.write(`${showCursor}${wrapLines}${lineEnd[how]}`),
    goOn: () => void output.write(`${keepPlace}${hideCursor}${cutLines}`),
  });
  return { output, close };
}

/** Whole lines printed in place of a bar, which continues below them. */
export function aboveBar(lines: string): string {
  return `${wipeLine}${wrapLines}${lines}${keepPlace}${cutLines}`;
}

/**
 * For a question, which repaints itself when a key is pressed; after a stop it is repainted as it was. Ctrl-Z is kept from
 * readline, which would treat the input as paused after it and never release it.
 */
export function drawQuestion(
  stream: Writable & { readonly columns?: number },
  { stdin, whenInterrupted, stop }: Surroundings,
): Drawing {
  let drawn = '';
  const output = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      const text = String(chunk);
      drawn = moveAlone.test(text) ? drawn + text : text.replace(wipingOut, '');
      stream.write(chunk);
      // At once: later output must not wait here while others write to the same terminal.
      done();
    },
  });
  Object.defineProperty(output, 'columns', { get: () => stream.columns });
  const stopAtKey = (_text: unknown, key: { ctrl?: boolean; name?: string }): void => {
    if (key.ctrl !== true || key.name !== 'z') return;
    key.name = 'stop';
    stop();
  };
  stdin.prependListener('keypress', stopAtKey);
  const close = whenInterrupted({
    leave: (how) => {
      stdin.setRawMode?.(false);
      // Lines below, such as choices, would be overwritten one by one.
      stream.write(`${wipeBelow}${showCursor}${lineEnd[how]}`);
    },
    goOn: () => {
      stdin.setRawMode?.(false);
      stdin.setRawMode?.(true);
      stream.write(`${wipeBelow}${drawn}`);
    },
  });
  return {
    output,
    close: () => {
      stdin.off('keypress', stopAtKey);
      close();
    },
  };
}

/** How a drawing begins that replaces the previous one: down to its last line, then upwards, wiping each line. */
const wipingOut = /^(?:\u001b\[\d*[ABGK])+/;
/** A move of the cursor within the drawing. */
const moveAlone = /^\u001b\[\d+G$/;
