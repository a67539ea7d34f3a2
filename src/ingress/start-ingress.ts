import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import type { Config } from '../platform/config.ts';
import type { Log } from '../platform/log/log.ts';
import type { Operation } from '../platform/operation.ts';
import type { Producer } from '../platform/queue/producer.ts';
import { createHttpServer, stopListening } from './http-server.ts';
import { openDoor } from './open-door.ts';

export interface Ingress {
  /** Base URL without path: `http://127.0.0.1:3000`. */
  url: string;
  app: Express;
  producer: Producer;
  close(): Promise<void>;
}

/** Opens the resources of an ingress process and listens. */
export async function startIngress(
  config: Config,
  operations: readonly Operation[],
  log?: Log,
  limiterTimeoutMs?: number,
): Promise<Ingress> {
  const door = await openDoor(config, { operations, log, limiterTimeoutMs });
  const server = createHttpServer(door.app, door.listener);
  await listen(server, config);
  return {
    url: addressOf(server, config),
    app: door.app,
    producer: door.producer,
    async close() {
      await stopListening(server);
      await door.close();
    },
  };
}

/** Base URL of a server that listens. */
export const addressOf = (server: Server, config: Config): string =>
  `http://${config.HOST}:${(server.address() as AddressInfo).port}`;

export const listen = (server: Server, config: Config): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(config.PORT, config.HOST, () => {
      server.off('error', reject);
      resolve();
    });
  });
