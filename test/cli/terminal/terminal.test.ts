import { PassThrough, Writable } from 'node:stream';

import { describe, expect, test } from 'vitest';

import { createProgress } from '../../../src/cli/session/progress.ts';
import { openSession } from '../../../src/cli/session/open-session.ts';
import { streamEnd } from '../../../src/cli/terminal/output-end.ts';
import { safe, safeJson, say } from '../../../src/cli/terminal/safe-text.ts';
import type { Dependencies, Session } from '../../../src/cli/session/session.ts';
import { createTerminal, takesColor, takesUnicode } from '../../../src/cli/terminal/terminal.ts';
import { testTerminal } from '../../support/test-terminal.ts';
import type { Answer } from '../../../src/operations/index.ts';
import { createShell } from '../shell.ts';

describe('colour', () => {
  test.each<[boolean, Record<string, string>, boolean]>([
    [true, {}, true],
    [false, {}, false],
    [true, { TERM: 'dumb' }, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [false, { FORCE_COLOR: '1' }, true],
    [true, { FORCE_COLOR: '0' }, false],
    [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  ])('on a terminal %s with %j is %s', (isTerminal, env, expected) => {
    expect(takesColor(isTerminal, env)).toBe(expected);
  });

  test.each<[Record<string, string>, readonly boolean[]]>([
    [{}, [false, true]],
    [{ TERM: 'dumb' }, [false, false]],
    [{ NO_COLOR: '1' }, [false, false]],
    [{ FORCE_COLOR: '1' }, [true, true]],
    [{ FORCE_COLOR: '0' }, [false, false]],
  ])('with %j is %j on a pipe and on a terminal that are open at once', (env, expected) => {
    const stdout = Object.assign(new PassThrough(), { isTTY: false });
    const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 70 });
    const terminal = createTerminal({
      stdin: new PassThrough(),
      stdout: streamEnd(stdout),
      stderr: streamEnd(stderr),
      env,
      platform: 'linux',
      whenInterrupted: () => () => undefined,
      stop: () => undefined,
    });
    expect(terminal.stdout).toMatchObject({ isTerminal: false, hasColor: expected[0], columns: undefined });
    expect(terminal.stderr).toMatchObject({ isTerminal: true, hasColor: expected[1], columns: 70 });
  });

  test('a terminal that nobody sized is as wide as most, and loses no column', () => {
    const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 0 });
    const terminal = createTerminal({
      stdin: new PassThrough(),
      stdout: streamEnd(stream),
      stderr: streamEnd(stream),
      env: {},
      platform: 'linux',
      whenInterrupted: () => () => undefined,
      stop: () => undefined,
    });
    expect(terminal.stdout).toMatchObject({ isTerminal: true, columns: 80 });
  });

  test('leaves both streams with --no-color, and nothing else does', async () => {
    const colored = { isTerminal: true, hasColor: true };
    const seen: boolean[][] = [];
    const body = { data: [{ id: 'c1', name: 'Ada' }], hasMore: false, total: 1 } as unknown as Answer['body'];
    const shell = createShell({ reply: () => ({ body }) });
    for (const flags of [{}, { color: false }]) {
      const { terminal } = openSession({ terminal: testTerminal(colored), env: {} } as unknown as Dependencies, flags);
      seen.push([terminal.stdout, terminal.stderr].map(({ hasColor }) => hasColor));
    }
    expect(seen).toEqual([
      [true, true],
      [false, false],
    ]);
    expect((await shell.run(['customers', 'list'], colored)).stdout).toContain('\u001b[');
    expect((await shell.run(['customers', 'list', '--no-color'], colored)).stdout).not.toContain('\u001b');
  });
});

describe('more than ASCII', () => {
  test.each<[boolean, Record<string, string>, string, boolean]>([
    [true, { LANG: 'en_US.UTF-8' }, 'linux', true],
    [true, { LANG: 'C.utf8' }, 'linux', true],
    [false, { LANG: 'en_US.UTF-8' }, 'linux', false],
    [true, { LANG: 'en_US.UTF-8', TERM: 'dumb' }, 'linux', false],
    [true, { LANG: 'de_DE.ISO-8859-1' }, 'linux', false],
    [true, { LANG: 'en_US.UTF-8', LC_ALL: 'C' }, 'linux', false],
    [true, { LANG: 'C', LC_CTYPE: 'de_DE.UTF-8' }, 'linux', true],
    [true, { LANG: 'en_US.UTF-8', LC_ALL: '' }, 'linux', true],
    [true, {}, 'linux', false],
    [true, {}, 'win32', true],
  ])('on a terminal %s with %j on %s is %s', (isTerminal, env, platform, expected) => {
    expect(takesUnicode(isTerminal, env, platform)).toBe(expected);
  });
});

describe('streams', () => {
  const open = (stdin = new PassThrough()) => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const terminal = createTerminal({
      stdin,
      stdout: streamEnd(stdout),
      stderr: streamEnd(stderr),
      env: {},
      platform: 'linux',
      whenInterrupted: () => () => undefined,
      stop: () => undefined,
    });
    return { terminal, stdout, stderr, stdin };
  };

  test('a reader that went away is no failure', () => {
    const { stdout, terminal } = open();
    stdout.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    expect(() => terminal.out(say`more\n`)).not.toThrow();
  });

  test('a full disk is a failure', () => {
    const { stdout } = open();
    expect(() => stdout.emit('error', Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }))).toThrow(
      'the disk is full',
    );
  });

  test('a concealed text, with or without its line end, reaches neither standard output nor standard error', () => {
    const { stdout, stderr, terminal } = open();
    terminal.conceal('a very secret text\n');
    terminal.out(say`show a very secret text\n`);
    terminal.err(say`say a very secret text aloud\n`);
    expect(String(stdout.read())).toBe('show …\n');
    expect(String(stderr.read())).toBe('say … aloud\n');
    expect(terminal.withoutSecrets('a very secret text')).toBe('…');
  });

  test.each([
    [Buffer.from('{"a":"é"}'), '{"a":"é"}'],
    [Buffer.alloc(0), ''],
  ])('standard input is read whole: %s', async (bytes, text) => {
    const { stdin, terminal } = open();
    stdin.end(bytes);
    expect(await terminal.readInput()).toBe(text);
  });

  test('a terminal whose input was read to its end answers no question any more', async () => {
    const { stdin, terminal } = open(Object.assign(new PassThrough(), { isTTY: true }));
    expect(terminal.stdin.isTerminal).toBe(true);
    stdin.end('typed rows');
    await terminal.readInput();
    expect(terminal.stdin.isTerminal).toBe(false);
  });

  test('standard input that is not UTF-8 is refused, with what mends it', async () => {
    const { stdin, terminal } = open();
    stdin.end(Buffer.from([0x7b, 0xff, 0x7d]));
    await expect(terminal.readInput()).rejects.toMatchObject({
      kind: 'badRequest',
      hint: expect.stringContaining('iconv -f WINDOWS-1252 -t UTF-8 FILE | tally …'),
    });
  });
});

test('what is told while a bar is drawn takes the lines that it needs, and the bar ends below', async () => {
  let written = '';
  const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
    written += String(chunk);
    done();
  };
  const screen = Object.assign(new Writable({ write }), { isTTY: true, columns: 80 });
  const terminal = createTerminal({
    stdin: new PassThrough(),
    stdout: streamEnd(new PassThrough()),
    stderr: streamEnd(screen),
    env: {},
    platform: 'linux',
    whenInterrupted: () => () => undefined,
    stop: () => undefined,
  });
  const progress = await createProgress({ terminal, flags: {}, dependencies: { env: {} } } as unknown as Session, 4);
  terminal.err(say`begun\n`);
  expect(written).toBe('begun\n');
  progress.update({ done: 1, rows: 1 });
  expect(written).toContain('\u001b[?7l');
  const drawn = written.length;
  terminal.err(say`stopping\n`);
  expect(written.slice(drawn)).toBe('\r\u001b[K\u001b[?7hstopping\n\u001b7\u001b[?7l');
  progress.update({ done: 2, rows: 2 });
  progress.stop();
  // Back to the place that was kept below the note, and from there to the next line.
  expect(written.slice(drawn)).toMatch(/stopping\n\u001b7[^\n]* 50% \| 2 rows[^\n]*\u001b8\n$/);
  const ended = written.length;
  terminal.err(say`done\n`);
  expect(written.slice(ended)).toBe('done\n');
});

describe('safe text', () => {
  test.each([
    ['a\u001b[2Jb', String.raw`a\u{1b}[2Jb`],
    ['a\r\nb', String.raw`a\u{d}\u{a}b`],
    ['\u202Egnp', String.raw`\u{202e}gnp`],
    ['\ud800x', String.raw`\u{d800}x`],
    ['東京 é 👩‍💻'.normalize(), '東京 é 👩‍💻'.normalize()],
    ['می\u200cخواهم क्\u200dष', 'می\u200cخواهم क्\u200dष'],
  ])('%j is shown as %s', (text, expected) => {
    expect(safe(text)).toBe(expected);
  });

  test.each([
    ['C0', 0x00, 0x1f],
    ['DEL and C1', 0x7f, 0x9f],
    ['the Arabic letter mark', 0x061c, 0x061c],
    ['no width', 0x200b, 0x200b],
    ['marks of direction', 0x200e, 0x200f],
    ['ends of lines, and embeddings', 0x2028, 0x202e],
    ['joiners, operators and isolates', 0x2060, 0x2069],
    ['the byte order mark', 0xfeff, 0xfeff],
    ['annotations', 0xfff9, 0xfffb],
    ['tags', 0xe0000, 0xe007f],
    ['surrogates', 0xd800, 0xdfff],
  ])('%s are made visible from the first to the last, and no neighbour is', (_name, first, last) => {
    for (const code of [first, Math.floor((first + last) / 2), last]) {
      expect(safe(String.fromCodePoint(code))).toBe(`\\u{${code.toString(16)}}`);
    }
    const beside = [first - 1, last + 1].filter((code) => code >= 0).map((code) => String.fromCodePoint(code));
    for (const neighbour of beside) expect(safe(neighbour)).toBe(neighbour);
  });

  test('a sentence keeps our line end and makes foreign ones visible', () => {
    expect(say`no customer ${'a\nb'}\n`).toBe('no customer a\\u{a}b\n');
  });

  test('JSON made safe stands for the same value', () => {
    const value = { name: '\u009b31m \u202e \u{e0041} é', n: [1] };
    const json = safeJson(JSON.stringify(value));
    expect(json).toMatch(/^[ -~é]*$/);
    expect(JSON.parse(json)).toEqual(value);
  });
});
