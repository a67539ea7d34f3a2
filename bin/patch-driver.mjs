// Mends postgres.js 3.4.9 in node_modules: a connection that the server cuts inside a transaction crashes the process
// (`nextWrite` on a null socket), and what was left unsent, unanswered or still running is then mixed into the
// connection's next session (porsager/postgres issues 1154 and 1208). Plain JavaScript, since it runs after `npm
// install` and before the build, from the folder that ships. Safe to run twice; another text than expected fails, so
// that a new version of the driver is looked at before it is used.
import { readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MARK = '/* mended */';

/** Edits by file: [text that must stand there once, text in its place]. */
const EDITS = {
  'connection.js': [
    // A query that comes when the session is gone is refused instead of being kept for the next one. True: the pool
    // must not move a closed connection to those in use.
    [
      `    if (q.cancelled)
      return

    try {
      q.state = backend`,
      `    if (q.cancelled)
      return

    if (socket === null || socket.destroyed)
      return (queryError(q, Errors.connection('CONNECTION_CLOSED', options, socket)), true)

    try {
      q.state = backend`,
    ],
    // What a late answer of ours would have written to a session that is gone.
    [
      `  function nextWrite(fn) {
    const x`,
      `  function nextWrite(fn) {
    if (socket === null) {
      chunk = nextWriteTimer = null
      return true
    }
    const x`,
    ],
    // Nothing of a closed session is left for the next one: unsent bytes, their timer, a half read answer.
    [
      `    socket.removeAllListeners()
    socket = null

    if (initial)
      return reconnect()

    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))`,
      `    socket.removeAllListeners()
    socket = null
    nextWriteTimer = chunk = errorResponse = results = final = null
    result = new Result()
    rows = 0

    if (initial) {
      query = null
      return reconnect()
    }

    ;(query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))
    query = null`,
    ],
    // A server that became read-only (a primary that was demoted) is left: see onreadonly in index.js.
    [
      `{ onopen = noop, onend = noop, onclose = noop } = {}`,
      `{ onopen = noop, onend = noop, onclose = noop, onreadonly = noop } = {}`,
    ],
    [
      `      errorResponse = Errors.postgres(parseError(x))
    } else {`,
      `      errorResponse = Errors.postgres(parseError(x))
      errorResponse.code === '25006' && onreadonly()
    } else {`,
    ],
    // Behind a pooler in transaction mode one statement at a time: it gives the server back with the last answer that
    // is owed, and owes none for a statement that is only parsed so far, behind another one: its answer never comes.
    [
      `        && sent.length < max_pipeline
        && (!q`,
      `        && sent.length < max_pipeline
        && (options.prepare || q.options.onexecute)
        && (!q`,
    ],
    // A session that is cut while the driver asks for its types rejects the waiting query; this one has no waiter.
    [
      `      order by b.oid
    \`], [], execute)`,
      `      order by b.oid
    \`], [], execute).catch(() => [])`,
    ],
  ],
  'index.js': [
    // All sessions of the pool end after their present work, as when their life is over: the next ones find the new
    // server.
    [
      `Connection(options, queues, { onopen, onend, onclose }))`,
      `Connection(options, queues, { onopen, onend, onclose, onreadonly }))`,
    ],
    [
      `  function onend(c) {
    move(c, ended)
  }`,
      `  function onend(c) {
    move(c, ended)
  }

  function onreadonly() {
    connections.forEach(c => [open, busy, full, reserved].includes(c.queue) && c.end())
  }`,
    ],
    // A transaction whose session is gone refuses its further statements, also when the connection has a new session.
    [
      `        new Promise((_, reject) => connection.onclose = reject)`,
      `        new Promise((_, reject) => connection.onclose = error => {
          lost = error
          while (queries.length)
            queries.shift().reject(error)
          reject(error)
        })`,
    ],
    [
      `      , connection
      , prepare = null

    try {
      await sql.unsafe('begin '`,
      `      , connection
      , prepare = null
      , lost = null

    try {
      await sql.unsafe('begin '`,
    ],
    [
      `        q.catch(e => uncaughtError || (uncaughtError = e))
        c.queue === full`,
      `        q.catch(e => uncaughtError || (uncaughtError = e))
        if (lost)
          return q.reject(lost)
        c.queue === full`,
    ],
    // The same for a reserved connection; releasing one whose session is gone changes nothing.
    [
      `    c.reserved = () => queue.length
      ? c.execute(queue.shift())
      : move(c, reserved)
    c.reserved.release = true

    const sql = Sql(handler)
    sql.release = () => {
      c.reserved = null`,
      `    const own = c.reserved = () => queue.length
      ? c.execute(queue.shift())
      : move(c, reserved)
    c.reserved.release = true
    c.onclose = error => {
      while (queue.length)
        queue.shift().reject(error)
    }

    const sql = Sql(handler)
    sql.release = () => {
      if (c.reserved !== own)
        return
      c.reserved = null`,
    ],
    [
      `    function handler(q) {
      c.queue === full
        ? queue.push(q)`,
      `    function handler(q) {
      if (c.reserved !== own)
        return q.reject(Errors.connection('CONNECTION_CLOSED', options))
      c.queue === full
        ? queue.push(q)`,
    ],
  ],
};

const driverFolder = () => dirname(fileURLToPath(import.meta.resolve('postgres')));

/** Whether the driver that this installation loads has every edit: a process that starts asks before it connects. */
export const isMended = () =>
  Object.entries(EDITS).every(([name, edits]) => {
    const text = readFileSync(join(driverFolder(), name), 'utf8');
    return edits.every(([, after]) => text.includes(after));
  });

function mend(folder) {
  for (const [name, edits] of Object.entries(EDITS)) {
    const file = join(folder, name);
    const source = readFileSync(file, 'utf8');
    const mended = edits.reduce((text, [before, after]) => {
      // Mended by an earlier version of this list.
      if (text.includes(after)) return text;
      if (text.split(before).length !== 2) throw new Error(`${file} is not the one of postgres 3.4.9:\n${before}`);
      return text.replace(before, () => after);
    }, source);
    if (mended === source) continue;
    // Put in place at once: another process may be starting from these files.
    const text = mended.startsWith(MARK) ? mended : `${MARK}\n${mended}`;
    writeFileSync(`${file}.${process.pid}.mended`, text);
    renameSync(`${file}.${process.pid}.mended`, file);
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  mend(process.argv[2] ?? driverFolder());
