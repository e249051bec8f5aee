/** Declares operations. */

import * as z from 'zod';

import type { Operation } from './operation.ts';

/** Whatever is given is refused (semantics 2). */
const noParams = z.strictObject({});
const noQuery = z.strictObject({});

type Declaration = Omit<Operation, 'params' | 'query'> & Partial<Pick<Operation, 'params' | 'query'>>;

type Defined<D> = D & {
  readonly params: D extends { readonly params: infer Params } ? Params : typeof noParams;
  readonly query: D extends { readonly query: infer Query } ? Query : typeof noQuery;
};

/** An operation, which takes no parameters in its path and no query where it declares none; the compiler keeps its literal types. */
export function defineOperation<const D extends Declaration>(declaration: D): Defined<D> {
  return { params: noParams, query: noQuery, ...declaration } as Defined<D>;
}
