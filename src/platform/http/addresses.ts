import dns from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The request would go to a place that this service must not reach; nothing was sent. */
export class RefusedAddress extends Error {
  readonly reason: string;
  /** Whether it is refused for its network alone, which a setting may allow. */
  readonly isPrivate: boolean;

  constructor(reason: string, { isPrivate = false }: { isPrivate?: boolean } = {}) {
    super(`refused: ${reason}`);
    this.name = 'RefusedAddress';
    this.reason = reason;
    this.isPrivate = isPrivate;
  }
}

/** The target of a request, checked as far as the URL alone allows. */
export interface Target {
  origin: string;
  /** Path and query. */
  path: string;
  /** Without a trailing dot. */
  hostname: string;
  /** The whole URL in normalized form, without line breaks, tabs and a trailing dot of its host. */
  href: string;
}

/** Resolves a name to all its addresses; the signature of `dns.lookup` with `all`. */
export type Resolve = (
  hostname: string,
  options: dns.LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void,
) => void;

// Longer addresses do not fit an index entry of Postgres, and no receiver needs them.
const URL_MAX_BYTES = 2048;
const RESOLVE_WITHIN_MS = 1500;

/** Domains that no public name server knows: RFC 6761, RFC 6762, RFC 8375, and ICANN's resolution on `internal`. */
const PRIVATE_DOMAINS = ['localhost', 'local', 'internal', 'home.arpa'];

/**
 * Whether an address belongs to the public internet: mapped and translated forms count as the address they contain
 * (webhooks.md#delivery).
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  // In IPv6 only 2000::/3 is allocated; the rest is unassigned or private.
  return address.kind() === 'ipv4' || (address.toByteArray()[0]! & 0xe0) === 0x20;
}

/**
 * Whether a name is one of this machine or of a private network by itself; a single label counts, because the resolver
 * completes it.
 */
const isPrivateName = (host: string): boolean =>
  !host.includes('.') || PRIVATE_DOMAINS.some((domain) => host.endsWith(`.${domain}`));

/**
 * Reads an outgoing URL: http or https with a host, no credentials, port 80, 443 or from 1024, no address or name of a
 * private network (unless `allowPrivate`). The parser turns `2130706433`, `0x7f.1` and the like into dotted form, and
 * drops line breaks and tabs wherever they stand.
 *
 * @throws RefusedAddress
 */
export function targetOf(text: string, { allowPrivate }: { allowPrivate: boolean }): Target {
  if (Buffer.byteLength(text) > URL_MAX_BYTES) throw new RefusedAddress('the URL is too long');
  if (!/^https?:\/\/[^/?#\\]/i.test(text) || !URL.canParse(text)) throw new RefusedAddress('not an http or https URL');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw new RefusedAddress('credentials in the URL');
  const port = url.port === '' ? null : Number(url.port);
  if (port !== null && port !== 80 && port !== 443 && port < 1024) throw new RefusedAddress(`port ${port}`);
  // `localhost.` is the same name as `localhost`.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.replace(/\.+$/, '');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (host.endsWith('.')) throw new RefusedAddress('not an http or https URL');
  const isPublic = ipaddr.isValid(host) ? isPublicAddress(host) : !isPrivateName(host);
  if (!allowPrivate && !isPublic) throw new RefusedAddress(`${host} is not public`, { isPrivate: true });
  if (Buffer.byteLength(url.href) > URL_MAX_BYTES) throw new RefusedAddress('the URL is too long');
  return { origin: url.origin, path: url.pathname + url.search, hostname: host, href: url.href };
}

/**
 * Whether a name has a private address at present. A name that does not resolve soon has none; every connection is
 * checked again when it is opened.
 */
export async function resolvesToPrivate(hostname: string, resolve: Resolve = dns.lookup): Promise<boolean> {
  if (ipaddr.isValid(hostname)) return !isPublicAddress(hostname);
  let timer: NodeJS.Timeout | undefined;
  const addresses = await new Promise<dns.LookupAddress[]>((done) => {
    timer = setTimeout(() => done([]), RESOLVE_WITHIN_MS);
    resolve(hostname, { all: true }, (error, found) => done(error ? [] : found));
  });
  clearTimeout(timer);
  return addresses.some(({ address }) => !isPublicAddress(address));
}

/**
 * `lookup` of a socket that refuses a name when any of its addresses is private. The socket connects to the addresses
 * given here, so a second answer of the name server cannot change them. Not called for addresses in the URL: see
 * `targetOf`.
 */
export function guardedLookup(resolve: Resolve = dns.lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? new Error(`${hostname} has no address`), '', 0);
      const hidden = addresses.find(({ address }) => !isPublicAddress(address));
      if (hidden) return callback(new RefusedAddress(`${hostname} has the address ${hidden.address}`), '', 0);
      if (options.all) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}
