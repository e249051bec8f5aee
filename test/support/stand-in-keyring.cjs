// Stands in for the program that asks the keyring of a system: keeps entries in the file STORE, or behaves as MODE says.
// It is no keyring; the real one was tried by hand (see test/cli/keyring.test.ts).
const { appendFileSync, existsSync, readFileSync, writeFileSync } = process.getBuiltinModule('node:fs');

const [mode, store, log] = process.argv.slice(2);
let text = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => (text += chunk));
process.stdin.on('end', () => {
  appendFileSync(log, `${JSON.stringify({ pid: process.pid, argv: process.argv, env: process.env })}\n`);
  if (mode === 'hangs') return setInterval(() => undefined, 1000);
  if (mode === 'breaks') process.exit(3);
  if (mode === 'babbles') return process.stdout.write('** (keyring:42): WARNING **: hello\n');
  if (mode === 'refuses') return process.stdout.write(JSON.stringify({ error: 'the collection is locked\nat x' }));
  const { action, account, key } = JSON.parse(text);
  const entries = existsSync(store) ? JSON.parse(readFileSync(store, 'utf8')) : {};
  if (action === 'read') return process.stdout.write(JSON.stringify({ value: entries[account] }));
  writeFileSync(store, JSON.stringify({ ...entries, [account]: action === 'write' ? key : undefined }));
  return process.stdout.write('{}');
});
