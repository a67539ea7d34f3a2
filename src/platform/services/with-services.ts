import type { ServicesInput } from './discover.ts';
import { bringServices, defaultDataDir } from './discover.ts';
import { findRunning } from './run-file.ts';

export interface ServiceUrls {
  databaseUrl: string;
  redisUrl: string;
  /** The address of the `npm start` that is up on the same data. */
  baseUrl?: string;
}

/**
 * Runs a command on the servers of the data folder: those of a running `npm start`, else temporary ones. Given URLs
 * come first. Ctrl-C stops started servers.
 */
export async function withServices<T>(input: ServicesInput, work: (urls: ServiceUrls) => Promise<T>): Promise<T> {
  const running = await findRunning(input.dataDir ?? defaultDataDir());
  const services = await bringServices({
    ...input,
    // A service with given servers has none in the data folder.
    databaseUrl: input.databaseUrl || (running?.origin.postgres === 'given' ? running.databaseUrl : undefined),
    redisUrl: input.redisUrl || (running?.origin.redis === 'given' ? running.redisUrl : undefined),
  });

  const interrupt = (signal: NodeJS.Signals) => {
    void services.stop().finally(() => process.kill(process.pid, signal)); // the listener is gone by then
  };
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  try {
    const { databaseUrl, redisUrl } = services;
    return await work({ databaseUrl, redisUrl, baseUrl: running?.baseUrl });
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    await services.stop();
  }
}
