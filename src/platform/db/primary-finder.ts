import { connect, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import postgres from 'postgres';
import { within } from './within.ts';

/** A server that answers nothing is passed over after this time, so that a frozen host costs one look. */
const ANSWERS_WITHIN_MS = 2000;
/** Once one may be written to, the others have this long to say that they are newer. */
const OTHERS_WITHIN_MS = 200;
const LOOK_EVERY_MS = 250;
/** A statement waits so long for a primary; then it fails, and its job comes back. */
const GIVES_UP_AFTER_MS = 5000;
/** Connections that are opened together ask once. */
const FRESH_MS = 1000;
const POSTGRES_PORT = 5432;

/** What a server says of itself. */
interface Said {
  url: string;
  isPrimary: boolean;
  isWritable: boolean;
  /** Of its log of changes, eight hexadecimal digits: it grows with each promotion. */
  timeline: string;
}

const QUESTION = `
  select not pg_is_in_recovery() as "isPrimary", current_setting('transaction_read_only') = 'off' as "isWritable",
    case when pg_is_in_recovery() then '' else left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`;

/** No server of an address is a primary that answers; looks like a refused connection to those who try again. */
export class NoPrimary extends Error {
  readonly code = 'ECONNREFUSED';
}

/**
 * Finds the primary among several servers whenever a connection is opened: the one that may be written to, of two the
 * one with the newest timeline, so that a former primary that comes back by itself gets no new connection while its
 * successor answers. A primary that was set read-only is used while no other is there, since it can be read.
 *
 * Rule: several-hosts.md#fail-over.
 */
export function openPrimaryFinder(servers: readonly string[]) {
  let found: { url: string; atMs: number } | undefined;
  let looking: Promise<string> | undefined;
  let isClosed = false;

  async function look(): Promise<string> {
    const startedAt = performance.now();
    for (;;) {
      const faults: string[] = [];
      const url = best(await askAll(servers, faults));
      if (url !== undefined) {
        found = { url, atMs: performance.now() };
        return url;
      }
      if (isClosed || performance.now() - startedAt > GIVES_UP_AFTER_MS)
        throw new NoPrimary(`none of ${servers.length} servers is a primary that answers: ${faults.join(', ')}`);
      await pause(LOOK_EVERY_MS);
    }
  }

  function primary(): Promise<string> {
    if (found && performance.now() - found.atMs < FRESH_MS) return Promise.resolve(found.url);
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  return {
    /** A socket of the primary for the driver, which takes no refusal: without a primary it fails once it is used. */
    async connect(): Promise<Socket> {
      try {
        return await dial(await primary());
      } catch (error) {
        found = undefined;
        const socket = new Socket();
        setImmediate(() => socket.destroy(error as Error));
        return socket;
      }
    },
    /** Ends the search of connections that are being opened. */
    close(): void {
      isClosed = true;
    },
  };
}

/** What the servers say; waits for all, but not for those that are silent while another one may be written to. */
async function askAll(servers: readonly string[], faults: string[]): Promise<Said[]> {
  const said: Said[] = [];
  let enough: () => void = () => {};
  const isFound = new Promise<void>((resolve) => {
    enough = resolve;
  });
  const asked = servers.map(async (url) => {
    try {
      const answer = await ask(url);
      said.push(answer);
      if (answer.isPrimary && answer.isWritable) enough();
      else faults.push(answer.isPrimary ? 'read-only' : 'a standby');
    } catch (error) {
      faults.push((error as Error).message || String((error as { code?: unknown }).code));
    }
  });
  await Promise.race([Promise.all(asked), isFound.then(() => pause(OTHERS_WITHIN_MS, undefined, { ref: false }))]);
  return [...said];
}

async function ask(url: string): Promise<Said> {
  const sql = postgres(url, {
    max: 1,
    connect_timeout: ANSWERS_WITHIN_MS / 1000,
    fetch_types: false,
    prepare: false,
    onnotice: () => {},
    connection: { application_name: 'meterstone primary' },
  });
  try {
    const [row] = await within(sql.unsafe<Omit<Said, 'url'>[]>(QUESTION), ANSWERS_WITHIN_MS);
    return { url, ...row! };
  } finally {
    void sql.end({ timeout: 0 });
  }
}

function best(said: readonly Said[]): string | undefined {
  const rank = ({ isWritable, timeline }: Said) => `${isWritable ? 1 : 0} ${timeline}`;
  const primaries = said.filter(({ isPrimary }) => isPrimary).sort((a, b) => (rank(a) < rank(b) ? 1 : -1));
  return primaries[0]?.url;
}

async function dial(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const host = decodeURIComponent(hostname.replace(/^\[|\]$/g, ''));
  const socket = connect({ host, port: Number(port || POSTGRES_PORT) });
  try {
    await within(
      new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve);
        socket.once('error', reject);
      }),
      ANSWERS_WITHIN_MS,
    );
  } catch (error) {
    socket.on('error', () => {}); // it is given up
    socket.destroy();
    throw error;
  }
  socket.removeAllListeners();
  // The name that a certificate has to show.
  return Object.assign(socket, { host });
}
