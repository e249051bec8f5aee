// Keeps the bytecode of what a command ran; a part of the launcher that most commands do not need.

const fs = process.getBuiltinModule('node:fs');
const { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } = fs;
const { dirname } = process.getBuiltinModule('node:path');

const oldCacheDays = 7;

exports.keepBytecode = (scripts, { cache, folder, dist, mark }) => {
  keep(folder, scripts, mark);
  sweep(cache, { folder, dist });
};

// Written to disk before it gets its name: V8 trusts bytecode, so a file with that name must be whole.
function keep(folder, scripts, mark) {
  try {
    makeFolder(folder);
    if ([...scripts].some(([name, script]) => script.cachedDataRejected !== false && existsSync(`${folder}/${name}`)))
      forgetCommands(folder);
    for (const [name, script] of scripts) {
      const unfinished = `${folder}/${name}.${process.pid}`;
      const bytes = script.createCachedData();
      writeFileSync(unfinished, Buffer.concat([bytes, bytes]), { flag: 'wx', mode: 0o600, flush: true });
      renameSync(unfinished, `${folder}/${name}`);
    }
    if (mark !== undefined) writeFileSync(mark, '', { mode: 0o600 });
  } catch {
    // A cache that is full or cannot be written costs time and nothing else.
  }
}

// Rebuilds what was damaged, or made under other V8 flags, without the parts that other commands ran: each then keeps it again.
function forgetCommands(folder) {
  for (const name of readdirSync(folder))
    if (/\.cjs\.[a-z-]+$/.test(name)) rmSync(`${folder}/${name}`, { force: true });
}

// One by one, as in src/make-directory.ts: Node's `recursive` never returns where nothing can be made, as in /proc.
function makeFolder(folder) {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process was quicker.
    if (!existsSync(folder)) throw error;
  }
}

// Removes what absent versions of tally or Node have left. A version in use keeps its own files for a week at least.
function sweep(cache, { folder, dist }) {
  const oldest = Date.now() - oldCacheDays * 86_400_000;
  try {
    const others = readdirSync(cache).map((name) => `${cache}/${name}`);
    const parts = readdirSync(folder).filter((name) => !existsSync(dist + name));
    const left = [...others.filter((path) => path !== folder), ...parts.map((name) => `${folder}/${name}`)];
    for (const path of left) if (statSync(path).mtimeMs < oldest) rmSync(path, { recursive: true, force: true });
  } catch {
    // Another process is sweeping too, or nobody may.
  }
}
