/** A server of Redis, or a Sentinel. */
export interface Node {
  host: string;
  port: number;
}

interface Login {
  username?: string;
  password?: string;
}

/** What REDIS_URL names. Rule: redis-cluster.md#addresses. */
export type RedisAddress =
  | { kind: 'single' }
  | { kind: 'cluster'; nodes: Node[]; login: Login; isEncrypted: boolean }
  | {
      kind: 'sentinel';
      /** Name under which the Sentinels know the master. */
      name: string;
      sentinels: Node[];
      login: Login;
      sentinelLogin: Login;
      db: number;
      isEncrypted: boolean;
    };

export class AddressFault extends Error {}

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;
const HIGHEST_PORT = 65_535;
const SENTINEL_FIELDS = ['sentinel_username', 'sentinel_password'];

/**
 * Reads `redis[s]://…`, `redis[s]+cluster://[user:password@]a,b:7001,c` and
 * `redis[s]+sentinel://[user:password@]name@a,b,c[/db][?sentinel_username=…&sentinel_password=…]`. Users and passwords
 * are percent-encoded, as in any address. The client library reads the first form by itself.
 *
 * @throws AddressFault with a message that begins with "takes" and shows nothing of what was given
 */
export function readRedisAddress(url: string): RedisAddress {
  const several = /^redis(s?)\+(cluster|sentinel):\/\/(?:(.*)@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(url);
  if (several === null) {
    if (/^rediss?:\/\/./.test(url)) return { kind: 'single' };
    throw new AddressFault('takes redis://, rediss://, redis+cluster:// or redis+sentinel:// and hosts');
  }
  const [, secure, kind, before, hosts, path = '', query = ''] = several;
  const isEncrypted = secure === 's';
  if (kind === 'cluster') {
    if (path !== '' && path !== '0') throw new AddressFault('takes no database for a cluster, which has only one');
    if (query !== '') throw new AddressFault('takes nothing behind the hosts of a cluster');
    return { kind, nodes: nodesOf(hosts!, REDIS_PORT), login: before ? loginOf(before) : {}, isEncrypted };
  }
  const [, account, name] = /^(?:(.*)@)?([^@]*)$/s.exec(before ?? '')!;
  if (!name) throw new AddressFault('takes the name of the master and @ before the hosts of its Sentinels');
  if (!/^\d*$/.test(path)) throw new AddressFault('takes a whole number as database');
  const fields = new URLSearchParams(query);
  for (const field of fields.keys()) {
    if (!SENTINEL_FIELDS.includes(field))
      throw new AddressFault(`takes only ${SENTINEL_FIELDS.join(' and ')} behind ?`);
  }
  return {
    kind: 'sentinel',
    name: decoded(name),
    sentinels: nodesOf(hosts!, SENTINEL_PORT),
    login: account ? loginOf(account) : {},
    sentinelLogin: {
      ...(fields.has('sentinel_username') ? { username: fields.get('sentinel_username')! } : {}),
      ...(fields.has('sentinel_password') ? { password: fields.get('sentinel_password')! } : {}),
    },
    db: Number(path),
    isEncrypted,
  };
}

/** `user:password`, `:password` or `user`. */
function loginOf(text: string): Login {
  const colon = text.indexOf(':');
  const username = decoded(colon < 0 ? text : text.slice(0, colon));
  const password = colon < 0 ? '' : decoded(text.slice(colon + 1));
  return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AddressFault('takes users, passwords and names percent-encoded');
  }
}

/** `a,b:7001,[::1]:7002` */
function nodesOf(hosts: string, usualPort: number): Node[] {
  return hosts.split(',').map((text) => {
    const [, address, name, given] =
      /^(?:\[([\da-f:.]+)\]|([a-z\d]([a-z\d._-]*[a-z\d])?\.?))(?::(\d+))?$/i
        .exec(text)
        ?.filter((_part, index) => index !== 3) ?? [];
    const host = address ?? name;
    const port = given === undefined ? usualPort : Number(given);
    if (host === undefined || port < 1 || port > HIGHEST_PORT)
      throw new AddressFault('takes hosts with commas between them, each "host" or "host:port"');
    return { host, port };
  });
}
