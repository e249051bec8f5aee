/**
 * Texts of queries for SQLite, by name and shape of the values: written by the build (tools/build.ts). A checkout has none, and
 * builds its own.
 */

import type { Statement } from './prepared.ts';

export const knownStatements: Readonly<Record<string, Readonly<Record<string, Statement>>>> = {};
