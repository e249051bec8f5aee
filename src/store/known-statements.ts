/**
 * Texts of queries for SQLite, by name and shape of the values: written by the build (tools/build.ts). A checkout has none, and
 * builds its own.
 */

import type { Statement } from './prepared.ts';

/** By the name of the query, then by the shape of its values. */
export const knownStatements: Readonly<Record<string, Readonly<Record<string, Statement>>>> = {};
