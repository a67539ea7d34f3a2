import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { Express, RequestHandler } from 'express';
import type { Config } from '../platform/config.ts';
import type { Producer } from '../platform/queue/producer.ts';
import { queues } from '../queues.ts';
import { operatorOnly } from './operator-only.ts';

export const BOARD_PATH = '/queues';

/** The board's page styles its elements inline; everything else comes from this service. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Links to style sheets on other sites, which the library's page uses for its fonts. */
const FOREIGN_STYLES = /<link\b[^>]*\bhref="https?:[^>]*>/g;

/**
 * Parts of a payload that may be shown: names of operations and jobs, times and ids; everything else is client data.
 */
const SHOWN = /^(v|operation|job|at|cid|from|sandbox)$|_ids?$/;

/** The queue board, read-only: waiting, running and failed jobs of every queue. Loads nothing from elsewhere. */
export function mountQueueBoard(app: Express, deps: { producer: Producer; config: Config }): void {
  if (!deps.config.QUEUE_BOARD) return;
  const adapter = new ExpressAdapter();
  adapter.setBasePath(BOARD_PATH);
  createBullBoard({
    queues: deps.producer.storedQueues().map(({ of, queue }) => {
      const adapted = new BullMQAdapter(queue, { readOnlyMode: true, description: queues[of].purpose });
      adapted.setFormatter('data', (payload) => idsOf(payload as Record<string, unknown>));
      return adapted;
    }),
    serverAdapter: adapter,
  });
  const board = adapter.getRouter() as Express;
  dropForeignStyles(board);
  app.use(BOARD_PATH, operatorOnly(deps.config), withPolicy, board as RequestHandler);
}

type Engine = (path: string, options: object, done: (error: unknown, html?: string) => void) => void;

function dropForeignStyles(board: Express): void {
  const engine = (board as unknown as { engines: Record<string, Engine> }).engines['.ejs']!;
  board.engine('ejs', (path, options, done) =>
    engine(path, options, (error, html) => done(error, html?.replace(FOREIGN_STYLES, ''))),
  );
}

const withPolicy: RequestHandler = (_request, response, next) => {
  response.setHeader('Content-Security-Policy', POLICY);
  next();
};

/** The ids of a payload. */
const idsOf = (payload: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => SHOWN.test(name)));
