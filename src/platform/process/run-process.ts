import { type Config, ConfigError, doubtfulSettings, loadConfig } from '../config.ts';
import { createLog, type Log } from '../log/log.ts';
import { whyLinksLeadNowhere } from '../public-url.ts';
import { awaitStores, StartRefused } from './await-stores.ts';
import { stopOnSignal } from './stop-on-signal.ts';

/** pm2 writes a process's output to a file by itself, a little later. */
const LAST_WORDS_MS = 300;

/**
 * Runs a process of the service: settings, stores, then its work until a signal ends it. A failed start prints one
 * sentence on stderr and exits with code 1. So does a defect that nothing caught, also in a promise: it is logged, and
 * whoever watches the process starts it again.
 */
export async function runProcess(
  name: string,
  start: (config: Config, log: Log) => Promise<{ close(): Promise<void> }>,
): Promise<void> {
  try {
    const config = loadConfig();
    const log = createLog({ level: config.LOG_LEVEL, process: name });
    process.on('uncaughtExceptionMonitor', (err, origin) => log.fatal({ err, origin }, 'a defect ends the process'));
    for (const line of doubtfulSettings()) log.warn(line);
    demandAddress(config, log);
    await awaitStores(config, log);
    const started = await start(config, log);
    process.send?.('ready');
    stopOnSignal(log, () => started.close());
  } catch (error) {
    const sentence = sentenceOf(error);
    if (sentence === undefined) throw error;
    console.error(`${name}: ${sentence}`);
    process.exitCode = 1;
    setTimeout(() => process.exit(), LAST_WORDS_MS);
  }
}

/** @throws StartRefused in production, where links would lead to the machine of who reads them */
function demandAddress(config: Config, log: Log, environment = process.env.NODE_ENV): void {
  const why = whyLinksLeadNowhere(config);
  if (why !== undefined && environment === 'production') throw new StartRefused(why);
  if (why !== undefined) log.warn(why);
}

/** The message for an operator; undefined for a defect, whose stack is printed. */
function sentenceOf(error: unknown): string | undefined {
  if (error instanceof ConfigError || error instanceof StartRefused) return error.message;
  const { syscall, code, message } = error as NodeJS.ErrnoException;
  return syscall === 'listen'
    ? `HOST and PORT: cannot listen: ${code === 'EADDRINUSE' ? 'the port is taken' : message}`
    : undefined;
}
