#!/usr/bin/env node
// The launcher: plain JavaScript, so that an older Node can still read it and say what is missing. Not an ECMAScript module,
// for which Node would start a second loader: that is a fifth of the time in which a bare Node starts.
// A checkout runs src/ as it stands, even when a dist/ from an earlier build lies beside it; an installed package has dist/ only.

const oldestMajor = 26;
// In a longer run V8 may have dropped the bytecode of what is needed at the start.
const longestSeconds = 5;

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
  const source = `${__dirname}/../src/main.ts`;
  const dist = `${__dirname}/../dist/`;
  if (existsSync(source)) {
    const folder = cacheFolder('compiled');
    if (folder !== undefined) process.getBuiltinModule('node:module').enableCompileCache(folder);
    const { main } = await import(process.getBuiltinModule('node:url').pathToFileURL(source).href);
    await main();
  } else if (existsSync(`${dist}main.cjs`)) {
    const load = createLoader(dist, cacheFolder('bytecode'));
    await load('./main.cjs').main();
  } else {
    process.stderr.write('tally is incomplete: dist/main.cjs is missing. Install the package again.\n');
    process.exitCode = 1;
  }
}

// Where this user's programs keep what they can make again. The system's shared temporary directory would let another user of
// the machine plant code. Without a home directory the command starts a little slower; that is all.
function cacheFolder(name) {
  if (process.env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  try {
    const { homedir } = process.getBuiltinModule('node:os');
    const { isAbsolute, join } = process.getBuiltinModule('node:path');
    const configured = process.env.XDG_CACHE_HOME || '';
    return join(isAbsolute(configured) ? configured : join(homedir(), '.cache'), 'tallybook', name);
  } catch {
    return undefined;
  }
}

// Gives a `require` for the files of the bundle, and keeps the bytecode of what they ran for the next time. Node's own cache
// is filled before anything has run: whatever a file does is then compiled again in every process, a fifth of the time of a
// short command. A file's name holds a digest of its content, so that bytecode never meets another text than its own.
function createLoader(dist, cache) {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const { Script } = process.getBuiltinModule('node:vm');
  const uid = process.getuid ? process.getuid() : 'user';
  const folder = cache === undefined ? undefined : `${cache}/${process.version}-${process.arch}-${uid}`;
  const modules = new Map();
  const scripts = new Map();
  let isAllKept = true;

  function load(id) {
    if (!id.startsWith('./')) return builtIn(id);
    const known = modules.get(id);
    if (known !== undefined) return known.exports;
    const loaded = { exports: {} };
    modules.set(id, loaded);
    run(id.slice(2))(loaded.exports, load, loaded);
    return loaded.exports;
  }

  function builtIn(id) {
    const found = process.getBuiltinModule(id);
    if (found === undefined) throw new Error(`the bundle needs ${id}, which this Node does not have`);
    return found;
  }

  function run(name) {
    const filename = dist + name;
    const hasDigest = /-[\w-]{8}\.cjs$/.test(name);
    const cachedData = hasDigest && folder !== undefined ? read(`${folder}/${name}`) : undefined;
    const text = `(function (exports, require, module) {${readFileSync(filename, 'utf8')}\n})`;
    const script = new Script(text, { filename, cachedData });
    if (hasDigest) {
      scripts.set(name, script);
      isAllKept = isAllKept && cachedData !== undefined && script.cachedDataRejected === false;
    }
    return script.runInThisContext();
  }

  function read(path) {
    try {
      return readFileSync(path);
    } catch {
      return undefined;
    }
  }

  process.once('exit', () => {
    if (!isAllKept && folder !== undefined && process.uptime() < longestSeconds) keep(folder, scripts);
  });
  return load;
}

// Written to the disk before it has its name: V8 trusts bytecode, so a file that is there must be whole.
function keep(folder, scripts) {
  const { mkdirSync, renameSync, writeFileSync } = process.getBuiltinModule('node:fs');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const [name, script] of scripts) {
      const unfinished = `${folder}/${name}.${process.pid}`;
      writeFileSync(unfinished, script.createCachedData(), { flag: 'wx', mode: 0o600, flush: true });
      renameSync(unfinished, `${folder}/${name}`);
    }
  } catch {
    // A cache that cannot be written, or is full, costs time and nothing else.
  }
}
