/** As `knownStatements`, of queries that not every call runs, beside the records that they are of. */

import type { Statement } from './known-statements.ts';

export const otherStatements: Readonly<Record<string, Readonly<Record<string, Statement>>>> = {};
