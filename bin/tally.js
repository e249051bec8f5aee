#!/usr/bin/env node
// The launcher: plain JavaScript, so that an older Node can still read it and say what is missing. It is not an ECMAScript
// module, for which Node would start a second loader: a fifth of the start-up time of a bare Node. And it is short, because it
// is the one file that is compiled again for every command.
// A checkout runs src/ as it stands, even with a dist/ from an earlier build beside it; an installed package has only dist/.

const oldestMajor = 26;
// Turn a file of the bundle into a function.
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
  if (existsSync(source)) {
    const folder = cacheFolder('compiled');
    if (folder !== undefined) process.getBuiltinModule('node:module').enableCompileCache(folder);
    const { main } = await import(process.getBuiltinModule('node:url').pathToFileURL(source).href);
    return await main(`${__dirname}/../src/cli/import/reading-thread.ts`);
  }
  const dist = `${__dirname}/../dist/`;
  const { load, first, noteCommand } = createLoader(dist, cacheFolder('bytecode'));
  if (first !== undefined) return await load(`./${first}`).main(`${dist}reading-thread.cjs`, noteCommand);
  process.stderr.write('tally is incomplete: dist/main.txt is missing. Install the package again.\n');
  process.exitCode = 1;
}

// Where this user's programs keep what they can make again. In the system's shared temporary directory another user of the
// machine could plant code. Without a home directory the command starts a little slower; that is all.
function cacheFolder(name) {
  const { env, platform } = process;
  if (env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  try {
    const { isAbsolute, join } = process.getBuiltinModule('node:path');
    const configured = env.XDG_CACHE_HOME || '';
    // The result of `homedir`, without loading the module for it.
    const home = () => (platform !== 'win32' && env.HOME) || process.getBuiltinModule('node:os').homedir();
    const folder = isAbsolute(configured) ? configured : join(home(), '.cache');
    return isAbsolute(folder) ? join(folder, 'tallybook', name) : undefined;
  } catch {
    return undefined;
  }
}

// Gives a `require` for the files of the bundle, and the name of its first file. It keeps the bytecode of what they ran for
// the next time. Node's own cache is filled before anything has run: whatever a file does is then compiled again in every
// process, a fifth of the time of a short command. A file's name ends in a digest of its content, so bytecode never meets a
// different text. V8 trusts bytecode, and one wrong bit made a command print nothing. So each is stored twice and compared,
// which costs less than a digest. The first run of each command keeps it again, because it may run what no other has run.
function createLoader(dist, cache) {
  const { closeSync, existsSync, lstatSync, openSync, readdirSync, readFileSync, readSync } =
    process.getBuiltinModule('node:fs');
  const { Script } = process.getBuiltinModule('node:vm');
  const uid = process.getuid ? process.getuid() : 'user';
  const folder = cache === undefined ? undefined : ownFolder(`${cache}/${process.version}-${process.arch}-${uid}`);
  const modules = new Map();
  const scripts = new Map();
  const held = new Map();
  let isAllKept = true;
  let command = '';
  // For everything that is read, in turn: memory that is new to a process costs more than reading into it.
  let memory = Buffer.allocUnsafeSlow(4_000_000);
  // What short commands run (tools/pack.ts): a table of offsets, and the texts.
  let [table, texts] = ['', ''];

  function load(id) {
    if (!id.startsWith('./')) return builtIn(id);
    const known = modules.get(id);
    if (known !== undefined) return known.exports;
    const loaded = { exports: {} };
    modules.set(id, loaded);
    try {
      run(id.slice(2))(loaded.exports, load, loaded);
    } catch (error) {
      // A half-loaded module is forgotten: a service that had no file descriptor left may have one later.
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
    // True for main-CZ8MWvop.cjs, not for library.cjs. The first regular expression of a process takes longer than all of this.
    const hasDigest = name.at(-13) === '-';
    const text = packed(name) ?? held.get(name)?.toString() ?? wrapped(filename);
    const cachedData = hasDigest && folder !== undefined ? readTwin(`${folder}/${name}`) : undefined;
    const script = new Script(text, { filename, cachedData });
    if (hasDigest) {
      scripts.set(name, script);
      isAllKept = isAllKept && cachedData !== undefined && script.cachedDataRejected === false;
    }
    return script.runInThisContext();
  }

  function packed(name) {
    const start = table.indexOf(`\n${name} `);
    if (start === -1) return undefined;
    const [begin, end] = table.slice(start + name.length + 2, table.indexOf('\n', start + 1)).split(' ');
    return Number(end) > texts.length ? undefined : texts.slice(Number(begin), Number(end));
  }

  // A service runs for weeks, and its package may be replaced or removed meanwhile.
  function holdAll() {
    for (const name of readdirSync(dist)) {
      if (name.endsWith('.cjs') && packed(name) === undefined)
        held.set(name, Buffer.concat([head, readFileSync(dist + name), tail]));
    }
  }

  // The text as a function, without another copy of it to add the beginning and the end.
  function wrapped(filename) {
    const length = head.length + readBehind(head.length, filename);
    head.copy(memory);
    return memory.toString('utf8', 0, length + tail.copy(memory, length));
  }

  // Bytecode is code, and V8 accepts it for any text of the same length. So none is taken from a folder that somebody else may
  // have written to, as below a home directory kept by sudo.
  function ownFolder(path) {
    try {
      const found = lstatSync(path, { throwIfNoEntry: false });
      const isOwn = found === undefined || uid === 'user' || (found.uid === uid && (found.mode & 0o022) === 0);
      return isOwn ? path : undefined;
    } catch {
      return undefined;
    }
  }

  // The result stays in memory only until the next read; V8 needs it no longer.
  function readTwin(path) {
    const length = readIfThere(path) ?? 0;
    const half = memory.subarray(0, length / 2);
    return half.length > 0 && half.equals(memory.subarray(half.length, length)) ? half : undefined;
  }

  function readIfThere(path) {
    try {
      return readBehind(0, path);
    } catch {
      return undefined;
    }
  }

  // Reads a file into memory after the first `start` bytes, and leaves room for the tail; gives its length.
  function readBehind(start, path) {
    const file = openSync(path, 'r');
    try {
      for (let end = start; ;) {
        const read = readSync(file, memory, end, memory.length - end);
        if (read === 0) return end - start;
        end += read;
        if (end + tail.length >= memory.length) memory = Buffer.concat([memory], 2 * memory.length);
      }
    } finally {
      closeSync(file);
    }
  }

  const length = readIfThere(`${dist}main.txt`);
  const first = length === undefined ? undefined : memory.toString('utf8', 0, length);
  const pack = memory.latin1Slice(0, readIfThere(`${dist}pack.txt`) ?? 0);
  const behindTable = pack.indexOf('\n\n');
  if (behindTable !== -1) [table, texts] = [pack.slice(0, behindTable + 1), pack.slice(behindTable + 2)];

  process.once('exit', () => {
    if (folder === undefined || process.uptime() > longestSeconds) return;
    // The name of the first file depends on all others.
    const mark = command === '' ? undefined : `${folder}/${first}.${command}`;
    if (isAllKept && (mark === undefined || existsSync(mark))) return;
    try {
      const { keepBytecode } = require('./keep-bytecode.js');
      keepBytecode(scripts, { cache, folder, dist, mark });
    } catch {
      // The package was removed or replaced meanwhile.
    }
  });
  function noteCommand(name) {
    command = name;
    if (name === 'serve') holdAll();
  }
  return { load, first, noteCommand };
}
