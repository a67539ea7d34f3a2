import type { Config } from './config.ts';

/** Public address of the service without a trailing slash, with which links in answers begin. */
export const publicUrl = (config: Config): string =>
  (config.PUBLIC_URL ?? localUrl(config.HOST, config.PORT)).replace(/\/+$/, '');

/** Address of the service on its own machine. */
export function localUrl(host: string, port: number): string {
  // A client cannot call "every address".
  const callable = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
  return `http://${callable.includes(':') ? `[${callable}]` : callable}:${port}`;
}
