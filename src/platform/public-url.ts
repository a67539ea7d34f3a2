import type { Config } from './config.ts';

/** Public address of the service, without a slash at its end: what links in answers begin with. */
export const publicUrl = (config: Config): string =>
  (config.PUBLIC_URL ?? `http://${config.HOST}:${config.PORT}`).replace(/\/+$/, '');
