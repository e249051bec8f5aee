/** Values as YAML that every reader reads as the same values, whatever their texts contain. */

import { isExactNumber, textOfNumber } from '../../exact-json.ts';
import type { RawNumber } from '../../exact-json.ts';
import { hasUnsafe, safeYaml } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';

/**
 * The YAML text, ending in a line end. Readers of YAML 1.1 take `no` for a boolean, `12:30` for a number, and U+2028 for the
 * end of a line, after which a name could continue as fields of its own. Such texts are quoted, and such characters escaped.
 * These readers take `1e3` for a text, so a number with an exponent gets a point and the exponent a sign: `1.0e+3`.
 */
export async function yamlText(value: unknown): Promise<SafeText> {
  return (await yamlWriter())(value);
}

/** What makes these texts, once the library is loaded. */
export async function yamlWriter(): Promise<(value: unknown) => SafeText> {
  const { Document, visit } = await import('yaml');
  const exactNumbers = {
    tag: 'tag:yaml.org,2002:float',
    default: true,
    identify: (found: unknown) => JSON.isRawJSON(found),
    test: /^(?!)/,
    resolve: (text: string) => text,
    stringify: (node: { readonly value: unknown }) => textOfNumber(node.value as RawNumber),
  };
  return (value) => {
    const document = new Document(value, {
      customTags: [exactNumbers],
      compat: 'yaml-1.1',
      aliasDuplicateObjects: false,
    });
    visit(document, {
      Scalar: (_key, node) => {
        if (typeof node.value === 'string' && isQuoted(node.value)) node.type = 'QUOTE_DOUBLE';
        if (isExactNumber(node.value)) node.value = JSON.rawJSON(withWholeExponent(textOfNumber(node.value)));
      },
    });
    return safeYaml(document.toString({ lineWidth: 0 }));
  };
}

/** As lines of their own, spaces before the first letter would be lost: they look like what sets the lines in. */
function isQuoted(text: string): boolean {
  return text === '=' || hasUnsafe(text) || /^(?=\s).*\n/s.test(text);
}

function withWholeExponent(number: string): string {
  const [, mantissa = '', mark = '', sign = '', digits = ''] = /^(.+)([eE])([+-]?)(.+)$/.exec(number) ?? [];
  if (mark === '') return number;
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}${mark}${sign === '' ? '+' : sign}${digits}`;
}
