import type { Services } from '../../platform/services/discover.ts';
import type { Children } from './supervise-children.ts';

const LOOK_EVERY_MS = 2_000;

/**
 * Starts Postgres or Redis again when it has ended; the other processes wait for it by themselves. If it had to take
 * another port, they are started again too.
 *
 * @returns a function that ends the watch
 */
export function superviseServers({ services, children, say, onMove }: WatchInput): () => Promise<void> {
  let look: Promise<void> = Promise.resolve();
  let told = '';
  const timer = setInterval(() => {
    look = look.then(revive);
  }, LOOK_EVERY_MS);

  const revive = async () => {
    const before = services.databaseUrl + services.redisUrl;
    try {
      const names = await services.revive();
      if (names.length > 0) say(`${names.join(' and ')} had ended and was started again`);
      told = '';
    } catch (error) {
      const { message } = error as Error;
      if (message !== told) say(`a server is gone and does not start: ${message}`);
      told = message;
    }
    if (services.databaseUrl + services.redisUrl === before) return;
    await onMove();
    children.restart();
  };

  return async () => {
    clearInterval(timer);
    await look;
  };
}

interface WatchInput {
  services: Services;
  children: Children;
  say: (line: string) => void;
  /** Called when a server listens on another port. */
  onMove: () => Promise<void>;
}
