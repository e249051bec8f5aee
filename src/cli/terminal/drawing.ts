/** What draws itself on a terminal again and again, and is stopped there by Ctrl-Z or ended by a signal. */

import { Writable } from 'node:stream';
import type { Readable } from 'node:stream';

/** What becomes of a drawing when a signal interrupts the process. */
export interface Interruption {
  /** Called before the process ends or stops, which a shell tells on the next line: the terminal is left as it was found. */
  readonly leave: (how: 'ended' | 'stopped') => void;
  /** Called each time the process goes on after it was stopped, on a line of its own. */
  readonly goOn: () => void;
}

export interface Drawing {
  readonly output: Writable;
  /** Signals are no business of the drawing any more. */
  readonly close: () => void;
}

/** Standard input, which a terminal gives key by key. */
export type Keys = Readable & { readonly isTTY?: boolean; readonly setRawMode?: (isRaw: boolean) => unknown };

interface Surroundings {
  readonly stdin: Keys;
  readonly whenInterrupted: (interruption: Interruption) => () => void;
  /** Stops the process, as Ctrl-Z does where keys are not read one by one. */
  readonly stop: () => void;
}

const showCursor = '\u001b[?25h';
const hideCursor = '\u001b[?25l';
/** A bar is cut at the width of the terminal. What cuts it would cut whatever is written there. */
const wrapLines = '\u001b[?7h';
const cutLines = '\u001b[?7l';
const lineEnd = { ended: '\n', stopped: '' };
const wipeBelow = '\u001b[J';
const wipeLine = '\r\u001b[K';
/**
 * The bar ends where it began, which after a stop, and after what was told meanwhile, is another line. Kept while lines wrap:
 * some terminals keep that too, and have it again when the bar ends.
 */
const keepPlace = '\u001b7';

/** For a progress bar, which hides the cursor, has lines cut, and draws itself by its own clock. */
export function drawBar(output: Writable, { whenInterrupted }: Surroundings): Drawing {
  const close = whenInterrupted({
    leave: (how) => void output.write(`${showCursor}${wrapLines}${lineEnd[how]}`),
    goOn: () => void output.write(`${keepPlace}${hideCursor}${cutLines}`),
  });
  return { output, close };
}

/** Whole lines in the place of a bar that is being drawn, which goes on below them. */
export function aboveBar(lines: string): string {
  return `${wipeLine}${wrapLines}${lines}${keepPlace}${cutLines}`;
}

/**
 * For a question, which draws itself when a key is pressed: after a stop it is drawn again as it was. Ctrl-Z is taken from
 * readline, which after it takes the input for paused, and never lets go of it.
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
      // At once: what follows must not wait here while others write to the same terminal.
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
      // What stands below, choices for one, would be written over line by line.
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

/** How a drawing begins that takes the place of the one before: down to its last line, and each line wiped, upwards. */
const wipingOut = /^(?:\u001b\[\d*[ABGK])+/;
/** The cursor within the drawing. */
const moveAlone = /^\u001b\[\d+G$/;
