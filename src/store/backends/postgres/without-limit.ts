/** How long work on a whole book may take. */

/** Lifts the time limits of a transaction and of its statements, the server's and ours; transaction_timeout came with 17. */
export const withoutLimit = `SELECT set_config("name", '0', true) FROM pg_settings
  WHERE "name" IN ('statement_timeout', 'transaction_timeout')`;
