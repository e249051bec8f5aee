// Loaded into a program before it runs, by NODE_OPTIONS: its clock stands where a file says, and its ids are counted in
// another, so that one process after the other prints what one world in memory does (test/support/world.ts).

const { readFileSync, writeFileSync } = process.getBuiltinModule('node:fs');
const crypto = process.getBuiltinModule('node:crypto');
const os = process.getBuiltinModule('node:os');

const { TALLY_TEST_CLOCK: clock, TALLY_TEST_IDS: ids } = process.env;

Temporal.Now.instant = () => Temporal.Instant.from(readFileSync(clock, 'utf8'));
Date.now = () => Temporal.Now.instant().epochMilliseconds;
os.userInfo = () => ({ username: 'ada' });
crypto.randomUUIDv7 = () => {
  const count = Number(readFileSync(ids, 'utf8')) + 1;
  writeFileSync(ids, String(count));
  return `01900000-0000-7000-8000-${count.toString(16).padStart(12, '0')}`;
};
