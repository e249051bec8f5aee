/** What `tally help TOPIC` prints, besides the help of commands. */

import { errorFacts, terminatedExitCode } from '../../errors.ts';

/** Stable: scripts rely on these codes. */
export const exitCodeMeanings: readonly (readonly [exitCode: number, meaning: string])[] = [
  [0, 'done'],
  [errorFacts.internal.exitCode, 'unexpected failure of the service or of tally'],
  [errorFacts.usage.exitCode, 'the command line or the configuration is wrong'],
  [errorFacts.unauthorized.exitCode, 'not authenticated: no key, or one that is refused'],
  [errorFacts.notFound.exitCode, 'not found'],
  [errorFacts.rateLimited.exitCode, 'rate limited, after retries'],
  [errorFacts.forbidden.exitCode, 'forbidden: the key lacks a scope, which is named'],
  [
    errorFacts.conflict.exitCode,
    'conflict: the current state forbids it, or an existing idempotent entry differs from what was asked',
  ],
  [errorFacts.invalidInput.exitCode, 'rejected input'],
  [
    errorFacts.unavailable.exitCode,
    'no answer in time, the service or database is unavailable, or the outcome is unknown',
  ],
  [errorFacts.checkFailed.exitCode, 'bulk work failed in part, or a check found something'],
  [errorFacts.refused.exitCode, 'refused: confirmation needed or declined'],
  [errorFacts.notOffered.exitCode, 'not offered by this service'],
  [errorFacts.interrupted.exitCode, 'interrupted'],
  [terminatedExitCode, 'stopped by SIGTERM as a second signal, before it could end in good order'],
];

const exitCodes = `Exit codes:
${exitCodeMeanings.map(([exitCode, meaning]) => `  ${String(exitCode).padStart(3)}  ${meaning}\n`).join('')}`;

const environment = `Environment variables:
  TALLY_PROFILE                     profile to use, as --profile
  TALLY_DATABASE                    database to use, as --database
  TALLY_EVENTS                      database of usage events, as --events
  TALLY_ORG                         organization inside the database, as --org
  TALLY_BASE_URL                    address of a service, without a profile
  TALLY_API_KEY                     key, without a file; goes with a profile or with TALLY_BASE_URL
  TALLY_ENVIRONMENT                 production or sandbox, for TALLY_BASE_URL (when not given: sandbox for http, production for https)
  TALLY_CONFIG_DIR                  directory of profiles and keys
  TALLY_DATA_DIR                    directory of the journal, and of the database that is used when nothing else is named
  TALLY_POLICY                      policy file, instead of policy.yaml in the directory of profiles
  TALLY_CA_FILE                     certificate authorities to trust besides those of the system, as --ca-file
  TALLY_WEBHOOK_SECRET              secret of the endpoint, for tally webhooks listen
  HTTPS_PROXY, NO_PROXY             proxy for https addresses, and the addresses to reach without it
  PGUSER, PGPASSWORD, PGSSLMODE     user, password and TLS of a database server, when its URL has none
  CI                                when set, nothing is ever asked
  NO_COLOR, FORCE_COLOR, TERM=dumb  colours

A flag overrides a variable, a variable the profile, the profile the default:
tally profile show says where each value came from.

Directories, when no variable names them:
  profiles, keys, policy.yaml       ~/.config/tallybook, or below XDG_CONFIG_HOME
  journal, database                 ~/.local/share/tallybook, or below XDG_DATA_HOME
  macOS                             ~/Library/Preferences/tallybook, ~/Library/Application Support/tallybook
  Windows                           %APPDATA%\\tallybook\\Config, %LOCALAPPDATA%\\tallybook\\Data
`;

const input = `Input:
  Ids come after the verb, fields are flags.
  Lists        --scopes invoices:read,customers:read    repeatable; '["a,b"]' where a value has a comma
  Records      --contact name=Ada,email=ada@example.com,roles=primary+csm    once for each; + or | between the values of a list inside
  One record   --billing-address 'address1=1 Main St, Suite 5,city=Paris'
  Own names    --metadata order=PO-1 --metadata seats=5    5 is a number, "5" a text
  JSON         --contact '{"name":"Ada",…}', or @file.json, wherever a record is taken
  Whole body   --input body.json, or --input - for standard input; flags override its fields
  Null         --clear legal-name
`;

const output = `Output:
  -o table     for people: units, right-aligned money; what a terminal gets
  -o tsv       one row per line, no header, values as the service sends them; what a pipe gets
  -o csv       with a header; texts that a spreadsheet would run as a formula begin with an apostrophe; --raw leaves it out
  -o json      the answer exactly as the service gives it
  -o jsonl     one row per line
  -o yaml      the answer as YAML
  -o name      the ids alone
  --json a,b   JSON of these fields of each row
  --jq EXPR    the JSON through jq, which need not be installed: --jq '.data[].id'. Texts are printed as they are, the rest
               as compact JSON, one per line. Numbers keep their digits unless the expression calculates with them.
  --columns    other columns for table, csv and tsv
  --all        every page of a list
Standard output has the answer, standard error everything else. When a command fails, standard output is empty; a check prints
what it found, and ends with exit code 10.
`;

const policy = `Policy file:
  policy.yaml in the directory of profiles (tally help environment), or the file that TALLY_POLICY names. It applies to
  promotional grants, from credits grant, --from, --resume and api alike, and is checked on this machine before anything
  is sent.

  environments: [production, sandbox]   # where the rules apply; everywhere when left out
  grants:
    per-grant: 500.00                   # USD, one grant
    per-customer-and-month: 2000.00     # USD, all contracts of a customer in a month of UTC
    per-operator-and-day: 5000.00       # USD, everything that you grant on a day of UTC
    free-credits-per-grant: 1000        # free credits: --credit-rate-cents 0
    reason: required                    # --reason
    ticket: 'SUP-[0-9]+'                # must be in --reason or --external-id

Sums are taken from the journal of this machine: tally journal list. A refused grant ends with exit code 11 and names the
rule; credits grant --override-policy REASON overrides it, and the reason is journaled.
`;

const secrets = `Secrets:
  A key is never a flag: the shell's history would keep it, and every user of the machine could see it. It is asked for, or
  read from --key-stdin or --key-file, or from TALLY_API_KEY, which needs no profile.

  tally profile add NAME shows the key to the service, and stores it when it is accepted: in credentials.json in the
  directory of profiles, which only you can read, or with --keyring in the keyring of this system. When the keyring does
  not answer, the key goes to the file, and one line says so. --no-check stores a key without checking it.

  TALLY_API_KEY overrides a stored key. tally profile show says which is in use and where it is kept; tally profile check
  what it may do, until when, and whether the clocks of this machine and the service agree. tally profile remove deletes it.

  A key goes only to the address that it was stored for. It is removed from all that is printed, journaled or reported.
  tally refuses to run while NODE_OPTIONS asks for a debugger, a heap snapshot or a log of TLS keys, or NODE_DEBUG for what
  goes over connections; --allow-inspect permits it. A core dump would hold a key: ulimit -c 0 keeps the system from
  writing one.
`;

export const helpTopics = { 'exit-codes': exitCodes, environment, input, output, policy, secrets } as const;

/** Whether WORD in `tally help WORD` is a topic and not a command. */
export function isTopic(word: string): word is keyof typeof helpTopics {
  return Object.hasOwn(helpTopics, word);
}
