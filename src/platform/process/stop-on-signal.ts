import type { Log } from '../log/log.ts';

// Longer than the write timeout plus one job, shorter than what process managers grant (docs/operations.md).
const STOP_WITHIN_MS = 14_000;

/**
 * Runs `stop` once on SIGINT or SIGTERM (and on pm2's "shutdown" message), then ends the process; a stop that hangs is
 * ended.
 */
export function stopOnSignal(log: Log, stop: () => Promise<void>): void {
  let stopping = false;
  const begin = (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    stop().then(
      () => process.exit(0),
      (error) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', () => begin('SIGINT'));
  process.on('SIGTERM', () => begin('SIGTERM'));
  process.on('message', (message) => {
    if (message === 'shutdown') begin('shutdown');
  });
}
