/** Of the only user of a ClickHouse server for tests. */
export const credentials = { user: 'tally', password: 'p@ss/word' } as const;
