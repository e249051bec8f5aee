/** How long work may take that reads or changes a whole book. */

/** Lifts the limits of time of a transaction and of every statement of it, the server's and our own; the first one came with 17. */
export const withoutLimit = `SELECT set_config("name", '0', true) FROM pg_settings
  WHERE "name" IN ('statement_timeout', 'transaction_timeout')`;
