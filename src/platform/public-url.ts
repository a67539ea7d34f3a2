import type { Config } from './config.ts';

/** Public address of the service without a trailing slash, with which links in answers begin. */
export const publicUrl = (config: Config): string =>
  (config.PUBLIC_URL ?? localUrl(config.HOST, config.PORT)).replace(/\/+$/, '');

/** Addresses that mean every one of a machine: nobody can be told one of them. */
const EVERY_ADDRESS = ['0.0.0.0', '::', '::0', '0:0:0:0:0:0:0:0'];

/**
 * Why links in mails and answers would lead to their reader's own machine: the ingress listens on every address, and
 * PUBLIC_URL says none of them.
 *
 * @returns undefined if they have an address
 * Rule: several-hosts.md#addresses.
 */
export const whyLinksLeadNowhere = ({ HOST, PUBLIC_URL }: Pick<Config, 'HOST' | 'PUBLIC_URL'>): string | undefined =>
  PUBLIC_URL === undefined && EVERY_ADDRESS.includes(HOST)
    ? `PUBLIC_URL is missing: HOST=${HOST} is every address of this machine, and links in mails and answers need one, ` +
      'for example PUBLIC_URL=https://billing.example.com'
    : undefined;

/** Address of the service on its own machine. */
export function localUrl(host: string, port: number): string {
  // A client cannot call "every address".
  const callable = EVERY_ADDRESS.includes(host) ? '127.0.0.1' : host;
  return `http://${callable.includes(':') ? `[${callable}]` : callable}:${port}`;
}
