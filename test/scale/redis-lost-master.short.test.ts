import { rm } from 'node:fs/promises';
import type { Redis } from 'ioredis';
import { afterEach, describe, expect, test } from 'vitest';
import { createLog } from '../../src/platform/log/log.ts';
import { allStoredNames } from '../../src/platform/queue/queue-names.ts';
import { type Handlers, serveQueue } from '../../src/platform/queue/worker.ts';
import { connectPatiently } from '../../src/platform/redis/connect.ts';
import { type QueueName, queues } from '../../src/queues.ts';
import { newFolder } from '../support/new-folder.ts';
import { until } from '../support/until.ts';
import { lacks } from './support/programs.ts';
import { startCluster, startServer } from './support/redis-cluster.ts';
import { startWatched } from './support/redis-sentinel.ts';

const PREFIX = 'lost';
const log = createLog({ level: 'silent', process: 'test' });
/** Whatever comes is done: the pings are enough. */
const done = new Proxy({}, { get: () => async () => {} }) as Handlers;

type Blow = 'SIGKILL' | 'SIGSTOP';
interface Shape {
  url: string;
  /** Strikes a master that holds queues. What nobody replaces comes back after a while. */
  strike(blow: Blow): Promise<void>;
  stop(): Promise<void>;
}

/** A master that is frozen still takes connections, so that each client first waits for an answer in vain. */
const WITHIN_MS: Record<Blow, number> = { SIGKILL: 15_000, SIGSTOP: 25_000 };
const AWAY_MS = 8000;
const away = () => new Promise((resolve) => setTimeout(resolve, AWAY_MS));

const shapes: Record<string, () => Promise<Shape>> = {
  async 'a cluster'() {
    const { url, masters, stop } = await startCluster({ replicas: true });
    return { url, stop, strike: async (blow) => masters[0]!.kill(blow) };
  },
  async 'a master behind Sentinels'() {
    const { url, master, stop } = await startWatched();
    return { url, stop, strike: async (blow) => master.kill(blow) };
  },
  async 'one server'() {
    const folder = await newFolder('single', 64 * 1024 ** 2);
    let server = await startServer(folder, []);
    return {
      url: `redis://127.0.0.1:${server.port}`,
      async strike(blow) {
        server.kill(blow);
        await away();
        if (blow === 'SIGSTOP') return server.kill('SIGCONT');
        await server.stop();
        server = await startServer(folder, [], { port: server.port });
      },
      async stop() {
        await server.stop();
        await rm(folder, { recursive: true, force: true });
      },
    };
  },
};

describe.skipIf(lacks('redis-server'))('every queue moves again soon, and ends when told', () => {
  const opened: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });

  const standing = async (redis: Redis, sinceMs: number) => {
    const marks = await redis.hgetall(`${PREFIX}:progress`);
    return allStoredNames({}).filter((name) => Number(marks[name] ?? 0) < sinceMs);
  };
  const untilAllMove = (redis: Redis, sinceMs: number) =>
    until(async () => {
      const names = await standing(redis, sinceMs);
      if (names.length > 0) throw new Error(`standing: ${names.join(', ')}`);
      return true;
    }, 60_000);

  test.each(Object.keys(shapes).flatMap((shape) => [[shape, 'SIGKILL'] as const, [shape, 'SIGSTOP'] as const]))(
    'of %s that %s strikes (SC10)',
    async (name, blow) => {
      const shape = await shapes[name]!();
      opened.push(shape.stop);
      const redis = connectPatiently(shape.url, 'test');
      opened.push(async () => redis.disconnect());
      const served = (Object.keys(queues) as QueueName[]).map((queue) =>
        serveQueue(queue, done, { redis, prefix: PREFIX, concurrency: 5, log }),
      );
      await untilAllMove(redis, 1);
      const struckAtMs = Date.now();
      await shape.strike(blow);
      // It takes a second until each client has noticed, so what moved in it says nothing.
      await untilAllMove(redis, struckAtMs + 1000);
      const movesAfterMs = Date.now() - struckAtMs;
      console.info(`${name}, ${blow}: every queue moved after ${movesAfterMs} ms`);
      expect(movesAfterMs).toBeLessThan(WITHIN_MS[blow]);
      await Promise.all(served.map((queue) => queue.close()));
    },
    150_000,
  );
});
