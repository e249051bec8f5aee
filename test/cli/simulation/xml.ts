/** A reader of XML that takes only what is well-formed, as far as reports use it: elements and attributes. */

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

/** Every element in the order in which they begin. Throws for what no parser of XML would take. */
export function attributesOf(xml: string): XmlElement[] {
  const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';
  if (!xml.startsWith(declaration)) throw new Error('no XML declaration');
  if (/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD]/u.test(xml)) throw new Error('a character that XML cannot hold');
  const open: string[] = [];
  const found: XmlElement[] = [];
  let rest = xml.slice(declaration.length).trim();
  while (rest !== '') {
    const match = /^<(\/?)([a-z]+)((?: [a-z]+="[^"<&]*(?:&(?:amp|lt|gt|quot);[^"<&]*)*")*)(\/?)>\s*/.exec(rest);
    if (match === null) throw new Error(`not well-formed: ${rest.slice(0, 80)}`);
    const [whole, isEnd, name = '', attributes = '', isEmpty] = match;
    if (isEnd === '/') {
      if (open.pop() !== name) throw new Error(`${name} ends where it was not open`);
    } else {
      if (open.length === 0 && found.length > 0) throw new Error('a second root');
      found.push({ name, attributes: membersOf(attributes) });
      if (isEmpty === '') open.push(name);
    }
    rest = rest.slice(whole.length);
  }
  if (open.length > 0) throw new Error(`${open.join(', ')} never ends`);
  return found;
}

function membersOf(text: string): Record<string, string> {
  const members = [...text.matchAll(/ ([a-z]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value] as const);
  if (new Set(members.map(([name]) => name)).size < members.length) throw new Error('an attribute twice');
  const plain = (value: string) => value.replaceAll(/&(\w+);/g, (_all, name: string) => entities[name] ?? '');
  return Object.fromEntries(members.map(([name, value]) => [name, plain(value)]));
}
