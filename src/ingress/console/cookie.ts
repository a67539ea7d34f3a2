import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../../platform/config.ts';

type Settings = Pick<Config, 'PUBLIC_URL'>;

const isSecure = ({ PUBLIC_URL }: Settings): boolean => PUBLIC_URL?.startsWith('https://') === true;

/** With https a browser lets only this host, and only over https, set a cookie of this name. */
export const cookieName = (config: Settings): string => (isSecure(config) ? '__Host-meterstone' : 'meterstone');

/** Longer ones are none of ours, and are not looked up. */
const LONGEST_TOKEN = 64;

/**
 * The token of a request's cookie. Undefined without one, and if there are several of the name, one of which somebody
 * else may have set.
 */
export function tokenIn({ cookie }: IncomingHttpHeaders, config: Settings): string | undefined {
  if (cookie === undefined) return undefined;
  const start = `${cookieName(config)}=`;
  const found = cookie
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(start))
    .map((part) => part.slice(start.length));
  const [token, another] = found;
  return another === undefined && token !== undefined && token !== '' && token.length <= LONGEST_TOKEN
    ? token
    : undefined;
}

/** The header that sets the cookie, or removes it with an empty token. Rule: console.md#sessions. */
export const cookieHeader = (token: string, maxAgeSeconds: number, config: Settings): string =>
  [
    `${cookieName(config)}=${token}`,
    'Path=/',
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure(config) ? ['Secure'] : []),
  ].join('; ');
