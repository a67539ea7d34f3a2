import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { Express, RequestHandler } from 'express';
import type { Config } from '../platform/config.ts';
import type { Producer } from '../platform/queue/producer.ts';
import { type QueueName, queues } from '../queues.ts';
import { operatorOnly } from './operator-only.ts';

export const BOARD_PATH = '/queues';

/** The queue board, read-only: waiting, running and failed jobs of every queue. */
export function mountQueueBoard(app: Express, deps: { producer: Producer; config: Config }): void {
  if (!deps.config.QUEUE_BOARD) return;
  const adapter = new ExpressAdapter();
  adapter.setBasePath(BOARD_PATH);
  createBullBoard({
    queues: (Object.keys(queues) as QueueName[]).map(
      (name) => new BullMQAdapter(deps.producer.queue(name), { readOnlyMode: true, description: queues[name].purpose }),
    ),
    serverAdapter: adapter,
  });
  app.use(BOARD_PATH, operatorOnly(deps.config), adapter.getRouter() as RequestHandler);
}
