/** From the URL of a ClickHouse database to the options of its client. */

import { type ClickHouseClientConfigOptions, type ClickHouseSettings, SettingsMap } from '@clickhouse/client';

import { serverUrlOf, withoutPassword } from '../../../database-url.ts';
import { BillingError } from '../../../errors.ts';
import { limits } from '../../../limits.ts';

const ports = { plain: 8123, tls: 8443 } as const;

/** Reaching a limit of the user is an error, never an answer from only a part of the events or of the cluster. */
const nothingLeftOut: ClickHouseSettings = {
  additional_result_filter: '',
  additional_table_filters: SettingsMap.from({}),
  skip_unavailable_shards: 0,
  fallback_to_stale_replicas_for_distributed_queries: 0,
  limit: '0',
  offset: '0',
  read_overflow_mode: 'throw',
  read_overflow_mode_leaf: 'throw',
  timeout_overflow_mode: 'throw',
  timeout_overflow_mode_leaf: 'throw',
  group_by_overflow_mode: 'throw',
  sort_overflow_mode: 'throw',
  set_overflow_mode: 'throw',
  distinct_overflow_mode: 'throw',
  transfer_overflow_mode: 'throw',
  result_overflow_mode: 'throw',
};

/** The total of no rows is 0, even if a user's settings ask for the standard's NULL; and no answer comes from a cache. */
const plainAnswers: ClickHouseSettings = {
  aggregate_functions_null_for_empty: 0,
  empty_result_for_aggregation_by_empty_set: 0,
  use_query_cache: 0,
  data_type_default_nullable: 0,
};

/** The settings that our statements are written for; no URL changes them. */
const ownSettings: ClickHouseSettings = {
  ...nothingLeftOut,
  ...plainAnswers,
  output_format_json_quote_64bit_integers: 0,
  // A row is taken whole or not at all: a table may lack a column, and a user's settings may allow errors.
  input_format_skip_unknown_fields: 0,
  input_format_allow_errors_num: '0',
  input_format_allow_errors_ratio: 0,
  input_format_null_as_default: 0,
  // An insert is written before it is answered.
  async_insert: 0,
  // A question that fails half-way is refused, instead of answered by half.
  wait_end_of_query: 1,
  // A row and its copies have the same timestamp, and so the same partition.
  do_not_merge_across_partitions_select_final: 1,
  // The events of one move may be of any months.
  max_partitions_per_insert_block: '0',
  // A question names every version whose replacement is staged.
  max_query_size: String(64 * 1024 * 1024),
};

/**
 * Host, port, user, password and database of `clickhouse://…`. `secure=true` means TLS; every other parameter is a setting of
 * the server, such as `insert_quorum=2`. Throws a usage error, which never shows the password.
 */
export function clickhouseConnectionOf(url: string): ClickHouseClientConfigOptions {
  const parsed = parse(url);
  const { hostname, port, username, password, pathname, searchParams } = parsed;
  const secure = searchParams.get('secure') ?? 'false';
  // Any other word, taken for no, would send the password and the events in clear.
  if (!['true', 'false'].includes(secure)) throw notSecure(secure);
  const isSecure = secure === 'true';
  searchParams.delete('secure');
  const authority = `${hostname}:${port === '' ? (isSecure ? ports.tls : ports.plain) : port}`;
  return {
    url: `${isSecure ? 'https' : 'http'}://${authority}`,
    username: username === '' ? 'default' : decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: pathname.length > 1 ? decodeURIComponent(pathname.slice(1)) : 'default',
    application: 'tallybook',
    request_timeout: limits.eventQueryMilliseconds,
    use_multipart_params_auto: true,
    clickhouse_settings: { ...Object.fromEntries(searchParams), ...ownSettings },
  };
}

function notSecure(word: string): BillingError {
  return new BillingError('usage', `secure=${word} is neither true nor false`, {
    hint: 'give secure=true for TLS, or secure=false',
  });
}

function parse(url: string): URL {
  // URL reads port and host reliably only for the web's own schemes.
  const parsed = /^clickhouse:\/\//i.test(url) ? serverUrlOf(url.replace(/^clickhouse:/i, 'http:')) : undefined;
  if (parsed !== undefined && parsed.hostname !== '') {
    try {
      for (const part of [parsed.username, parsed.password, parsed.pathname]) decodeURIComponent(part);
      return parsed;
    } catch {
      // Refused below.
    }
  }
  throw new BillingError('usage', `${withoutPassword(url)} is not the URL of a database for events`, {
    hint: 'write clickhouse://USER:PASSWORD@HOST:8123/DATABASE, with %40 for an @ and %2F for a / in a password',
  });
}
