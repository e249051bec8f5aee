/**
 * Where each security rule is held: for every id the tests that fail when it is broken, by file and by words of their
 * names. A test that is renamed or removed is missed here.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { root } from '../support/sources.ts';

interface Rule {
  readonly says: string;
  /** Words out of tests, by file below `test/`. */
  readonly heldBy: Readonly<Record<string, readonly string[]>>;
}

const rules: Readonly<Record<string, Rule>> = {
  'SEC-1': {
    says: 'a key comes from the environment, then the keyring where asked for, then a file of its owner alone',
    heldBy: {
      'cli/target/profiles.test.ts': [
        'are their owner’s alone under umask',
        'a symbolic link is refused',
        'a file of another user is refused',
        'is refused, with the command that mends it',
      ],
      'cli/target/keyring.test.ts': [
        'stands in no file, is used for requests',
        'comes after the one in the environment',
        'leaves the key in a file, and says so in one line',
      ],
    },
  },
  'SEC-2': {
    says: 'a key is no argument of any command',
    heldBy: {
      'cli/secrets.test.ts': ['is refused without being repeated', 'has no flag in any command'],
      'cli/process.test.ts': ['is not in the list of processes'],
      'cli/commands/webhooks-listen.test.ts': ['is no flag'],
    },
  },
  'SEC-3': {
    says: 'a key stands in nothing that is said or written',
    heldBy: {
      'security/canary.test.ts': ['no command says or writes it, whatever happens', 'that ends by %s does not say it'],
      'cli/secrets.test.ts': [
        'takes a known secret out of the base64 of any text around it',
        'is not said before it is known what for',
        'takes every key out of any text',
      ],
      'client/target.test.ts': ['one with a password is refused without repeating it'],
    },
  },
  'SEC-4': {
    says: 'a key goes to the address that it was stored for, and production asks first',
    heldBy: {
      'cli/target/profiles.test.ts': [
        'whose address was changed by hand does not send its key there',
        'cannot be called',
        'called constructor is one like any other',
        'of production asks before it writes',
      ],
      'cli/profile/named.test.ts': ['that was changed by hand does not send its key'],
      'cli/profile/check.test.ts': ['that is production is no sandbox', 'and its key goes nowhere else'],
      'cli/session/prompts.test.ts': ['shows target, effect and environment before it asks'],
    },
  },
  'SEC-5': {
    says: 'a damaged settings file is named and left as it is',
    heldBy: { 'cli/target/profiles.test.ts': ['is named and left as it is', 'find their profile afterwards'] },
  },
  'SEC-6': {
    says: 'a program that is started gets no key, and no shell',
    heldBy: {
      'cli/target/keyring.test.ts': ['the program that asks gets no key in its arguments'],
      'security/meter-sql.test.ts': ['a process without environment, of a scope alone'],
    },
  },
  'SEC-7': {
    says: 'no debugger, heap snapshot or crash report tells a key',
    heldBy: {
      'cli/command-line/revealing.test.ts': ['is refused before anything is done'],
      'package/executable.test.ts': ['does not start for a debugger'],
      'security/canary.test.ts': [
        'that runs out of memory leaves no report with it',
        'does not open a debugger at a signal',
        'that is told to show what it knows does nothing',
      ],
    },
  },
  'SEC-10': {
    says: 'requests go out over TLS, or to this machine by its number',
    heldBy: {
      'client/target.test.ts': [
        'http://127.0.0.1.evil.example',
        'http://[::ffff:127.0.0.1]',
        'must call this machine 127.0.0.1',
      ],
      'client/authorities.test.ts': ['TLS 1.1 is not spoken', 'whatever the environment says of certificates'],
    },
  },
  'SEC-11': { says: 'redirects are not followed', heldBy: { 'client/transport.test.ts': ['is never followed'] } },
  'SEC-12': {
    says: 'answers are bounded in bytes, headers, depth and time',
    heldBy: {
      'client/transport.test.ts': ['a handshake that never ends is given up'],
      'client/invalid-answers.test.ts': [
        'a body of more than 32 MiB is not read to its end',
        'has headers of 20 KiB',
        'are waited for no longer than the call may take',
        'compressed JSON that nobody asked for',
        'a million levels',
      ],
    },
  },
  'SEC-13': {
    says: 'an id is one segment of a path',
    heldBy: { 'client/target.test.ts': ['whatever the id, the path has the same segments', 'cannot be an id'] },
  },
  'SEC-14': {
    says: 'a proxy carries https alone, sees no key, and is told with --debug',
    heldBy: {
      'client/authorities.test.ts': [
        'sees neither key nor path',
        'http never goes through one',
        '--debug says once which proxy leads to the service',
      ],
    },
  },
  'SEC-20': {
    says: 'no text of others acts on the terminal',
    heldBy: {
      'security/hostile-answers.test.ts': ['whatever a service answers to any command'],
      'cli/output/output.test.ts': ['a text of others', 'a name cannot make a second row'],
      'cli/terminal/terminal.test.ts': ['safe text'],
      'cli/commands/webhooks-listen.test.ts': ['lets no event act on the terminal'],
      'cli/catalog/catalog-commands.test.ts': ['shows what others wrote without letting it touch the terminal'],
      'cli/failure.test.ts': ['second \\u001b[2J third'],
      'client/invalid-answers.test.ts': ['none of which a terminal would act on'],
    },
  },
  'SEC-21': {
    says: 'JSON is one document on standard output',
    heldBy: {
      'cli/output/output.test.ts': ['-o json is the answer as it came'],
      'cli/terminal/terminal.test.ts': ['JSON made safe stands for the same value'],
    },
  },
  'SEC-22': {
    says: 'no cell is a formula',
    heldBy: {
      'cli/output/output.test.ts': ['is no formula in a spreadsheet', 'numbers stay numbers', 'asked for raw'],
    },
  },
  'SEC-23': {
    says: 'files are written where named, anew, private, and not through links',
    heldBy: {
      'security/written-files.test.ts': [
        'does not go through a link',
        'leaves a file of somebody else’s work as it is',
        'under umask 0',
      ],
    },
  },
  'SEC-24': {
    says: 'completions run nothing',
    heldBy: {
      'cli/help/completions.test.ts': ['no candidate is run'],
      'cli/help/completions-in-shells.test.ts': ['a hostile candidate is one word and runs nothing'],
    },
  },
  'SEC-25': {
    says: 'a name cannot fake a question',
    heldBy: { 'cli/session/prompts.test.ts': ['a hostile value cannot fake a second line of the question'] },
  },
  'SEC-30': {
    says: 'a service on this machine answers to its names alone, and to no web page',
    heldBy: {
      'server/authenticate.test.ts': ['a page of %s gets nothing', 'a service on all addresses answers to any name'],
    },
  },
  'SEC-31': {
    says: 'keys are kept as digests and refused at once when revoked',
    heldBy: {
      'engine/keys.test.ts': ['is shown once and kept as its digest', 'is refused as soon as it is revoked'],
      'server/authenticate.test.ts': ['is looked at for every request of a connection'],
    },
  },
  'SEC-32': {
    says: 'one Authorization header of one form',
    heldBy: { 'server/authenticate.test.ts': ['the Authorization header', 'of 100 KiB is not even read'] },
  },
  'SEC-33': {
    says: 'every operation asks for its scope',
    heldBy: {
      'operations.test.ts': ['is refused to a key that has every scope but its own', 'whoever calls the engine'],
      'server/authenticate.test.ts': ['opens the operations of that scope and no other'],
    },
  },
  'SEC-34': {
    says: 'another organization cannot be told from one that never was',
    heldBy: {
      'bad-input-requests.test.ts': ["another tenant's id is answered like one that nobody has"],
      'engine/keys.test.ts': ["answers another organization's key like one that never was"],
      'security/tenancy.test.ts': ['names the organization once for each of its tables'],
      'security/tenant-ids.test.ts': ['are as unknown as those of nobody to'],
    },
  },
  'SEC-35': {
    says: 'requests and refused keys are counted by address',
    heldBy: {
      'server/limits.test.ts': ['a header cannot make one address into many', 'are refused unread after ten a minute'],
      'server/rate-limit.test.ts': ['the one that was not seen for the longest is forgotten'],
    },
  },
  'SEC-36': {
    says: 'bodies are bounded and unambiguous',
    heldBy: {
      'server/failures.test.ts': [
        '200,000 levels deep',
        'a name given twice by an escape',
        'a body sent in chunks is counted as it comes',
      ],
      'server/limits.test.ts': ['a hundred send their headers one byte at a time'],
    },
  },
  'SEC-37': {
    says: 'no input touches a prototype',
    heldBy: {
      'exact-json.test.ts': ['with a name that would touch prototypes'],
      'cli/command-line/flags.test.ts': ['that would touch prototypes is refused'],
    },
  },
  'SEC-38': {
    says: 'bytes that are not clearly one request are refused',
    heldBy: { 'security/http-bytes.test.ts': ['bytes on the socket'] },
  },
  'SEC-39': {
    says: 'no text keeps a pattern busy',
    heldBy: { 'operations/long-texts.test.ts': ['a text of 1 MiB is judged at once'] },
  },
  'SEC-40': {
    says: 'a failure inside says nothing of itself on the wire',
    heldBy: { 'server/failures.test.ts': ['what stays inside is in the log'] },
  },
  'SEC-41': {
    says: 'logs hold nothing that a caller chose',
    heldBy: {
      'server/routes.test.ts': ['never what the caller chose'],
      'cli/process.test.ts': ['no character to its log that a terminal would act on'],
    },
  },
  'SEC-42': {
    says: 'the database is its owner’s alone',
    heldBy: { 'store/sqlite-file.test.ts': ['-wal'], 'cli/process.test.ts': ['that others may read is used'] },
  },
  'SEC-50': {
    says: 'a query reads its own rows, or is refused, or is killed',
    heldBy: { 'security/meter-sql.test.ts': ['SEC-50'] },
  },
  'SEC-60': {
    says: 'webhooks reach nothing private',
    heldBy: {
      'server/webhook-address.test.ts': ['%s is private', 'webhooks go out'],
      'server/webhook-sender-safety.test.ts': [
        'a name is looked up once for a connection',
        'nothing is sent to a certificate that nobody vouches for',
      ],
      'server/webhook-sender.test.ts': ['which is not followed'],
    },
  },
  'SEC-61': {
    says: 'webhooks are signed, and what answers is bounded',
    heldBy: {
      'server/webhook-sender.test.ts': [
        'is posted as it was kept, signed by the convention',
        'is not waited for beyond 4 KiB',
      ],
      'server/webhook-sender-safety.test.ts': [
        'both secrets sign until the old one ends',
        'the old secret ends by the clock of the machine',
      ],
      'server/webhook-verifier.test.ts': ['believes what was sent', 'believes nothing else'],
      'cli/commands/webhooks-listen.test.ts': ['hands on nothing that was not verified'],
    },
  },
  'SEC-62': {
    says: 'a webhook secret is shown once',
    heldBy: {
      'engine/webhooks.test.ts': ['show their secret once'],
      'cli/commands/webhooks-listen.test.ts': ['never shows its secret'],
    },
  },
  'SEC-70': {
    says: 'cents are whole numbers as they were written',
    heldBy: { 'operations/fields.test.ts': ['cents are whole numbers written as digits alone'] },
  },
  'SEC-71': {
    says: 'decimals have one form',
    heldBy: { 'operations/fields.test.ts': ['prices are decimal texts without sign or exponent'] },
  },
  'SEC-73': {
    says: 'texts are well-formed and in one form',
    heldBy: { 'operations/fields.test.ts': ['texts are well-formed, in NFC, and counted in code points'] },
  },
  'SEC-74': {
    says: 'dates are dates',
    heldBy: { 'operations/fields.test.ts': ['date-times carry an offset and come out in UTC'] },
  },
};

const places = Object.entries(rules).flatMap(([id, { says, heldBy }]) =>
  Object.entries(heldBy).map(([file, words]) => ({ id, says, file, words })),
);

test.each(places)('$id, $says: $file', ({ file, words }) => {
  const text = readFileSync(join(root, 'test', file), 'utf8');
  expect(words.filter((each) => !text.includes(each))).toEqual([]);
});
