import type { Redis } from 'ioredis';

/** Answer of a job to the waiting request in its ingress process. */
export interface Replies {
  /** Waits for the reply with this correlation id; undefined if none comes in time. */
  wait(cid: string, timeoutMs: number): Promise<unknown | undefined>;
  close(): void;
}

const channelOf = (prefix: string, processId: string): string => `${prefix}:reply:${processId}`;

/**
 * Publishes one reply to the channel of the ingress process `to`: one message, read by that process only.
 *
 * position  of the write, where there are read replicas
 */
export async function publishReply(
  redis: Redis,
  prefix: string,
  { to, cid, reply, position }: { to: string; cid: string; reply: unknown; position?: string | undefined },
): Promise<void> {
  const message = position === undefined ? [cid, reply] : [cid, reply, position];
  await redis.publish(channelOf(prefix, to), JSON.stringify(message));
}

/**
 * Subscribes this process to its own channel. `subscriber` is a connection used for nothing else. `onPosition` is
 * called with the position of a write before its reply is given.
 */
export async function openReplies(
  subscriber: Redis,
  prefix: string,
  processId: string,
  onPosition?: (position: string) => void,
): Promise<Replies> {
  const waiting = new Map<string, { resolve: (reply: unknown) => void; timer: NodeJS.Timeout }>();
  subscriber.on('message', (_channel, text) => {
    const [cid, reply, position] = JSON.parse(text) as [string, unknown, string?];
    if (position !== undefined) onPosition?.(position);
    const waiter = waiting.get(cid);
    if (!waiter) return;
    waiting.delete(cid);
    clearTimeout(waiter.timer);
    waiter.resolve(reply);
  });
  await subscriber.subscribe(channelOf(prefix, processId));
  return {
    wait: (cid, timeoutMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => {
          waiting.delete(cid);
          resolve(undefined);
        }, timeoutMs);
        waiting.set(cid, { resolve, timer });
      }),
    close() {
      for (const waiter of waiting.values()) {
        clearTimeout(waiter.timer);
        waiter.resolve(undefined);
      }
      waiting.clear();
    },
  };
}
