#!/usr/bin/env node
// The launcher: plain JavaScript, so that an older Node can still read it and say what is missing. Not an ECMAScript module,
// for which Node would start a second loader: that is a fifth of the time in which a bare Node starts.
// A checkout runs src/ as it stands, even when a dist/ from an earlier build lies beside it; an installed package has dist/ only.

const oldestMajor = 26;
const oldCacheDays = 7;
// What makes a function of a file of the bundle.
const head = Buffer.from('(function (exports, require, module) {');
const tail = Buffer.from('\n})');
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
    await main(`${__dirname}/../src/cli/import/reading-thread.ts`);
  } else if (existsSync(`${dist}main.cjs`)) {
    const load = createLoader(dist, cacheFolder('bytecode'));
    await load('./main.cjs').main(`${dist}reading-thread.cjs`);
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
    const home = isAbsolute(configured) ? configured : join(homedir(), '.cache');
    return isAbsolute(home) ? join(home, 'tallybook', name) : undefined;
  } catch {
    return undefined;
  }
}

// Gives a `require` for the files of the bundle, and keeps the bytecode of what they ran for the next time. Node's own cache
// is filled before anything has run: whatever a file does is then compiled again in every process, a fifth of the time of a
// short command. A file's name holds a digest of its content, so that bytecode never meets another text than its own. V8 trusts
// bytecode, and one wrong bit made a command say nothing: each is kept twice and compared, which costs less than a digest.
function createLoader(dist, cache) {
  const { closeSync, fstatSync, openSync, readSync } = process.getBuiltinModule('node:fs');
  const { Script } = process.getBuiltinModule('node:vm');
  const uid = process.getuid ? process.getuid() : 'user';
  const folder = cache === undefined ? undefined : `${cache}/${process.version}-${process.arch}-${uid}`;
  const modules = new Map();
  const scripts = new Map();
  let isAllKept = true;
  // For all that is read, one after the other: memory that a process was not given yet costs more than reading into it.
  let memory = Buffer.allocUnsafeSlow(4_000_000);

  function load(id) {
    if (!id.startsWith('./')) return builtIn(id);
    const known = modules.get(id);
    if (known !== undefined) return known.exports;
    const loaded = { exports: {} };
    modules.set(id, loaded);
    try {
      run(id.slice(2))(loaded.exports, load, loaded);
    } catch (error) {
      // Half of it is none: where a service had no file descriptor left, it has one later.
      modules.delete(id);
      throw error;
    }
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
    const text = readText(filename);
    const cachedData = hasDigest && folder !== undefined ? readTwin(`${folder}/${name}`) : undefined;
    const script = new Script(text, { filename, cachedData });
    if (hasDigest) {
      scripts.set(name, script);
      isAllKept = isAllKept && cachedData !== undefined && script.cachedDataRejected === false;
    }
    return script.runInThisContext();
  }

  // The text as a function, without a copy of it that only adds the beginning and the end.
  function readText(path) {
    const length = head.length + readBehind(head.length, path);
    head.copy(memory);
    return memory.toString('utf8', 0, length + tail.copy(memory, length));
  }

  // Stands in memory until the next is read; V8 needs it no longer than that.
  function readTwin(path) {
    try {
      const length = readBehind(0, path);
      const half = memory.subarray(0, length / 2);
      return half.length > 0 && half.equals(memory.subarray(half.length, length)) ? half : undefined;
    } catch {
      return undefined;
    }
  }

  // Reads a file into memory behind what has `start` bytes there, with room for the tail; gives its length.
  function readBehind(start, path) {
    const file = openSync(path, 'r');
    try {
      const { size } = fstatSync(file);
      if (start + size + tail.length > memory.length) memory = Buffer.allocUnsafeSlow(2 * (start + size + tail.length));
      let length = 0;
      for (let read = 1; read > 0 && length < size; length += read) {
        read = readSync(file, memory, start + length, size - length);
      }
      return length;
    } finally {
      closeSync(file);
    }
  }

  process.once('exit', () => {
    if (!isAllKept && folder !== undefined && process.uptime() < longestSeconds) {
      keep(folder, scripts);
      sweep(cache, { folder, dist });
    }
  });
  return load;
}

// Written to the disk before it has its name: V8 trusts bytecode, so a file that is there must be whole.
function keep(folder, scripts) {
  const { renameSync, writeFileSync } = process.getBuiltinModule('node:fs');
  try {
    makeFolder(folder);
    for (const [name, script] of scripts) {
      const unfinished = `${folder}/${name}.${process.pid}`;
      const bytes = script.createCachedData();
      writeFileSync(unfinished, Buffer.concat([bytes, bytes]), { flag: 'wx', mode: 0o600, flush: true });
      renameSync(unfinished, `${folder}/${name}`);
    }
  } catch {
    // A cache that cannot be written, or is full, costs time and nothing else.
  }
}

// One by one, as in src/make-directory.ts: Node's `recursive` never comes back where nothing can be made, as in /proc.
function makeFolder(folder) {
  const { existsSync, mkdirSync } = process.getBuiltinModule('node:fs');
  const { dirname } = process.getBuiltinModule('node:path');
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process was quicker.
    if (!existsSync(folder)) throw error;
  }
}

// What versions of tally or Node left that are no longer here. Another one in use keeps its own for a week at least.
function sweep(cache, { folder, dist }) {
  const { existsSync, readdirSync, rmSync, statSync } = process.getBuiltinModule('node:fs');
  const oldest = Date.now() - oldCacheDays * 86_400_000;
  try {
    const others = readdirSync(cache).map((name) => `${cache}/${name}`);
    const parts = readdirSync(folder).filter((name) => !existsSync(dist + name));
    const left = [...others.filter((path) => path !== folder), ...parts.map((name) => `${folder}/${name}`)];
    for (const path of left) if (statSync(path).mtimeMs < oldest) rmSync(path, { recursive: true, force: true });
  } catch {
    // Another process sweeps too, or nobody may.
  }
}
