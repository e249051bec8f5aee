#!/usr/bin/env node
// The launcher: plain JavaScript without static imports, so that an older Node can still read it and say what is missing.
// A checkout runs src/ as it stands, even when a dist/ from an earlier build lies beside it; an installed package has dist/ only.

const oldestMajor = 26;

if (Number(process.versions.node.split('.')[0]) < oldestMajor) {
  process.stderr.write(
    `tally needs Node ${oldestMajor} or newer; this is ${process.version}. ` +
      'Install it from https://nodejs.org, or inside a checkout run: npm ci && npx tally\n',
  );
  process.exitCode = 2;
} else {
  void start();
}

async function start() {
  const { existsSync } = process.getBuiltinModule('node:fs');
  const source = new URL('../src/main.ts', import.meta.url);
  const built = new URL('../dist/main.js', import.meta.url);
  const entry = existsSync(source) ? source : built;
  if (!existsSync(entry)) {
    process.stderr.write('tally is incomplete: dist/main.js is missing. Install the package again.\n');
    process.exitCode = 1;
    return;
  }
  keepCompiledCode();
  const { main } = await import(entry.href);
  await main();
}

// The system's shared temporary directory, Node's own default, would let another user of the machine plant code.
function keepCompiledCode() {
  try {
    const { homedir } = process.getBuiltinModule('node:os');
    const { isAbsolute, join } = process.getBuiltinModule('node:path');
    const configured = process.env.XDG_CACHE_HOME || '';
    const base = isAbsolute(configured) ? configured : join(homedir(), '.cache');
    process.getBuiltinModule('node:module').enableCompileCache(join(base, 'tallybook', 'compiled'));
  } catch {
    // Without a home directory the command starts a little slower; that is all.
  }
}
