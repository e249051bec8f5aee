/**
 * Replaces the text between `<!-- NAME: begin -->` and `<!-- NAME: end -->`; the markers stay. Throws if the text has no such
 * pair, because the block would silently never be written.
 */
export function replaceBlock(text: string, name: string, content: string): string {
  const begin = `<!-- ${name}: begin -->`;
  const end = `<!-- ${name}: end -->`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from === -1 || to < from) throw new Error(`README.md needs the lines ${begin} and ${end}, in this order`);
  return `${text.slice(0, from + begin.length)}\n\n${content.trim()}\n\n${text.slice(to)}`;
}
