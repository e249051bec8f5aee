/** The query of a URL, for the server and for callers that need none. */

import { BadRequestError } from './errors.ts';

/** The query of a request URL, each parameter once. Throws BadRequestError. */
export function parseQuery(url: string): Record<string, string> {
  const start = url.indexOf('?');
  if (start === -1) return {};
  const seen = new Map<string, string>();
  for (const part of url.slice(start + 1).split('&')) {
    if (part === '') continue;
    const separator = part.includes('=') ? part.indexOf('=') : part.length;
    const name = decoded(part.slice(0, separator));
    if (seen.has(name)) throw new BadRequestError(`${name}: is given twice`);
    seen.set(name, decoded(part.slice(separator + 1)));
  }
  // Not by assignment, which would lose a parameter named __proto__ instead of having it refused.
  return Object.fromEntries(seen);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    throw new BadRequestError('the query is not valid percent-encoded UTF-8', { cause: error });
  }
}
