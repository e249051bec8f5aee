/**
 * Pages of docs/ and README, whose commands are performed as they stand.
 *
 *   ```console             commands behind `$ `, their further lines behind `> `, and what a terminal shows of them
 *   ```yaml file=NAME      a file that the reader saves, written where the shell then is
 *
 * A command that fails is followed by `$ echo $?`. In what is printed, `…` stands for one word that differs from run to run.
 */

export type Part =
  | { readonly kind: 'text'; readonly lines: readonly string[] }
  | { readonly kind: 'command'; readonly lines: readonly string[]; readonly printed: readonly string[] }
  | { readonly kind: 'file'; readonly name: string; readonly lines: readonly string[] };

export interface Performed {
  readonly exitCode: number;
  readonly printed: readonly string[];
}

const fence = /^```(\w*)(?: file=(\S+))?$/;
const commandLine = /^[$>] /;

/** The parts of a page in their order. All lines of all parts make the page again. */
export function parsePage(text: string): Part[] {
  const parts: Part[] = [];
  let inside: RegExpExecArray | undefined;
  for (const line of text.split('\n')) {
    const opened = inside === undefined ? fence.exec(line) : null;
    if (opened !== null) {
      parts.push({ kind: 'text', lines: [line] });
      inside = opened;
      if (opened[2] !== undefined) parts.push({ kind: 'file', name: opened[2], lines: [] });
      continue;
    }
    if (line === '```') inside = undefined;
    const last = parts.at(-1);
    if (inside?.[1] === 'console' && line.startsWith('$ ')) parts.push({ kind: 'command', lines: [line], printed: [] });
    else if (inside === undefined || last === undefined || (last.kind === 'text' && inside[1] !== 'console'))
      parts.push({ kind: 'text', lines: [line] });
    else if (last.kind === 'command') {
      const isMore = line.startsWith('> ') && last.printed.length === 0;
      parts.splice(
        -1,
        1,
        isMore ? { ...last, lines: [...last.lines, line] } : { ...last, printed: [...last.printed, line] },
      );
    } else if (last.kind === 'file') parts.splice(-1, 1, { ...last, lines: [...last.lines, line] });
    else throw new Error(`output before any command: ${line}`);
  }
  return parts;
}

/** A script for bash. Each part ends with a line of a mark, its number and its exit code; `$?` is that of the part before. */
export function scriptOf(parts: readonly Part[], mark: string): string {
  const steps = parts.flatMap((part, number) => {
    if (part.kind === 'text') return [];
    const work =
      part.kind === 'command'
        ? part.lines.map((line) => line.replace(commandLine, ''))
        : [`cat > '${part.name}' <<'END OF ${mark}'`, ...part.lines, `END OF ${mark}`];
    return ['(exit $last)', ...work, 'last=$?', `printf '${mark} %d %d\\n' ${number} $last`];
  });
  return ['last=0', ...steps, ''].join('\n');
}

/** What each part printed, by its number. A part that never ended is missing. */
export function performances(printed: string, mark: string): Map<number, Performed> {
  const found = new Map<number, Performed>();
  let from = 0;
  for (const match of printed.matchAll(new RegExp(`${mark} (\\d+) (\\d+)\\n`, 'g'))) {
    const text = printed.slice(from, match.index);
    from = match.index + match[0].length;
    const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
    found.set(Number(match[1]), { exitCode: Number(match[2]), printed: lines.map((line) => line.trimEnd()) });
  }
  return found;
}

/** The page as it would have to be: lines that agree stay as they are, all others are what was printed. */
export function pageOf(parts: readonly Part[], performed: ReadonlyMap<number, Performed>): string {
  const agreement = createAgreement();
  const lines = parts.flatMap((part, number) => {
    if (part.kind !== 'command') return part.lines;
    const did = performed.get(number);
    if (did === undefined) return [...part.lines, 'THIS DID NOT END'];
    const printed = did.printed.map((line, index) => {
      const expected = part.printed[index];
      return expected !== undefined && agreement.holds(expected, line) ? expected : agreement.inWordsOfPage(line);
    });
    const isTold = did.exitCode === 0 || nextCommand(parts, number) === '$ echo $?';
    return [...part.lines, ...printed, ...(isTold ? [] : [`THE PAGE DOES NOT SHOW EXIT CODE ${did.exitCode}`])];
  });
  return lines.join('\n');
}

function nextCommand(parts: readonly Part[], number: number): string | undefined {
  return parts.slice(number + 1).find(({ kind }) => kind === 'command')?.lines[0];
}

const madeId = /(?!01900000-)[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|DRAFT-[0-9a-f]{8}/g;
/** One that a column was too narrow for. */
const cutId = /(?!01900000-)[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f-]+…/g;
const nameless = (line: string) =>
  line.replaceAll(madeId, (id) => `ID of ${id.length}`).replaceAll(cutId, (id) => `ID of ${id.length}`);

interface Agreement {
  /** Does a line say what was printed? What its ids stand for is kept. */
  readonly holds: (expected: string, actual: string) => boolean;
  /** A printed line with the ids that the page has for those of the run. */
  readonly inWordsOfPage: (actual: string) => string;
}

/** Ids that a run makes are others each time: an id of the page stands for one id of the run, the same wherever it stands. */
function createAgreement(): Agreement {
  const made = new Map<string, string>();
  const named = new Map<string, string>();
  return {
    holds(expected, actual) {
      const [ofPage, ofRun] = [expected.match(madeId) ?? [], actual.match(madeId) ?? []];
      const isSame = ofPage.every((id, index) => {
        const other = ofRun[index] ?? '';
        return (made.get(id) ?? other) === other && (named.get(other) ?? id) === id;
      });
      if (!isSame || ofPage.length !== ofRun.length || !wordsPattern(nameless(expected)).test(nameless(actual)))
        return false;
      for (const [index, id] of ofPage.entries()) {
        made.set(id, ofRun[index] ?? '');
        named.set(ofRun[index] ?? '', id);
      }
      return true;
    },
    inWordsOfPage: (actual) => actual.replaceAll(madeId, (id) => named.get(id) ?? id),
  };
}

function wordsPattern(line: string): RegExp {
  const pieces = line.split('…').map((piece) => piece.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));
  return new RegExp(`^${pieces.join(String.raw`\S+`)}$`);
}
