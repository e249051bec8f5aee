/** Values as YAML that every reader takes for the same values, whatever stands in their texts. */

import { textOfNumber } from '../../exact-json.ts';
import type { RawNumber } from '../../exact-json.ts';
import { hasUnsafe, safeYaml } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';

/**
 * The YAML text, ending in a line end. Readers of YAML 1.1 take `no` for a boolean, `12:30` for a number and U+2028 for the
 * end of a line, behind which a name could go on as fields of its own: such texts are quoted, and such characters escaped.
 */
export async function yamlText(value: unknown): Promise<SafeText> {
  const { Document, visit } = await import('yaml');
  const exactNumbers = {
    tag: 'tag:yaml.org,2002:float',
    default: true,
    identify: (found: unknown) => JSON.isRawJSON(found),
    test: /^(?!)/,
    resolve: (text: string) => text,
    stringify: (node: { readonly value: unknown }) => textOfNumber(node.value as RawNumber),
  };
  const document = new Document(value, {
    customTags: [exactNumbers],
    compat: 'yaml-1.1',
    aliasDuplicateObjects: false,
  });
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'string' && (node.value === '=' || hasUnsafe(node.value))) node.type = 'QUOTE_DOUBLE';
    },
  });
  return safeYaml(document.toString({ lineWidth: 0 }));
}
