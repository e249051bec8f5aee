/** As `knownStatements`, for queries that not every call runs. */

import type { Statement } from './known-statements.ts';

export const otherStatements: Readonly<Record<string, Readonly<Record<string, Statement>>>> = {};
