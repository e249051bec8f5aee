import { PassThrough, Writable } from 'node:stream';

import { expect, test } from 'vitest';

import { drawBar, drawQuestion } from '../../../src/cli/terminal/drawing.ts';
import type { Interruption } from '../../../src/cli/terminal/drawing.ts';

const [show, hide, keep, wipeBelow] = ['\u001b[?25h', '\u001b[?25l', '\u001b7', '\u001b[J'];
const [wrap, cut] = ['\u001b[?7h', '\u001b[?7l'];

/** A terminal that keeps what it was told to show since it was last looked at. */
function createStage() {
  const stdin = Object.assign(new PassThrough(), { modes: [] as boolean[], setRawMode });
  let written = '';
  const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
    written += String(chunk);
    done();
  };
  const screen = Object.assign(new Writable({ write }), { columns: 40 });
  const interruptions = new Set<Interruption>();
  let stops = 0;
  function setRawMode(isRaw: boolean): void {
    stdin.modes.push(isRaw);
  }
  return {
    stdin,
    screen,
    interruptions,
    shown: () => {
      const shown = written;
      written = '';
      return shown;
    },
    stops: () => stops,
    surroundings: {
      stdin,
      stop: () => void (stops += 1),
      whenInterrupted(interruption: Interruption) {
        interruptions.add(interruption);
        return () => void interruptions.delete(interruption);
      },
    },
  };
}

test('a bar gives back the cursor and the wrapping of lines while it is stopped, and begins anew where it goes on', () => {
  const { screen, surroundings, interruptions, shown } = createStage();
  const { output, close } = drawBar(screen, surroundings);
  const [interruption] = interruptions;
  expect(output).toBe(screen);
  interruption?.leave('stopped');
  expect(shown()).toBe(`${show}${wrap}`);
  interruption?.goOn();
  expect(shown()).toBe(`${keep}${hide}${cut}`);
  interruption?.leave('ended');
  expect(shown()).toBe(`${show}${wrap}\n`);
  close();
  expect(interruptions.size).toBe(0);
});

test.each([
  ['its latest drawing', ['? name', '\u001b[2K\u001b[G? name Ac'], '? name Ac'],
  ['where its cursor is', ['? name Ac', '\u001b[8G'], '? name Ac\u001b[8G'],
  [
    'all of its lines',
    ['?', '\u001b[1B\u001b[2K\u001b[1A\u001b[2K\u001b[G? one\n  two\u001b[1A'],
    '? one\n  two\u001b[1A',
  ],
  ['its colours', ['\u001b[2K\u001b[G\u001b[32m?\u001b[39m name'], '\u001b[32m?\u001b[39m name'],
])('a question that goes on draws %s', (_what, drawings, again) => {
  const { screen, surroundings, interruptions, shown, stdin } = createStage();
  const { output } = drawQuestion(screen, surroundings);
  for (const drawing of drawings) output.write(drawing);
  expect(shown()).toBe(drawings.join(''));
  const [interruption] = interruptions;
  interruption?.leave('stopped');
  expect([shown(), stdin.modes]).toEqual([`${wipeBelow}${show}`, [false]]);
  interruption?.goOn();
  expect([shown(), stdin.modes.at(-1)]).toEqual([`${wipeBelow}${again}`, true]);
  interruption?.leave('ended');
  expect([shown(), stdin.modes.at(-1)]).toEqual([`${wipeBelow}${show}\n`, false]);
});

test('a question is as wide as its terminal, whenever that changes', () => {
  const { screen, surroundings } = createStage();
  const { output } = drawQuestion(screen, surroundings);
  screen.columns = 72;
  expect(output).toMatchObject({ columns: 72 });
});

test('Ctrl-Z at a question stops the process, and readline does not hear of it', () => {
  const { screen, surroundings, stdin, stops, interruptions } = createStage();
  const heard: unknown[] = [];
  stdin.on('keypress', (_text, { name }: { name: string }) => void heard.push(name));
  const { close } = drawQuestion(screen, surroundings);
  stdin.emit('keypress', 'z', { name: 'z' });
  expect([stops(), heard]).toEqual([0, ['z']]);
  stdin.emit('keypress', '\u001a', { name: 'z', ctrl: true });
  expect([stops(), heard]).toEqual([1, ['z', 'stop']]);
  close();
  stdin.emit('keypress', '\u001a', { name: 'z', ctrl: true });
  expect([stops(), interruptions.size]).toEqual([1, 0]);
});
