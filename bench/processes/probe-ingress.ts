import { z } from 'zod';
import type { Coalescer } from '../../src/ingress/events-lane/coalescer.ts';
import { createHttpServer, stopListening } from '../../src/ingress/http-server.ts';
import { openDoor } from '../../src/ingress/open-door.ts';
import { listen } from '../../src/ingress/start-ingress.ts';
import { operations } from '../../src/operations.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { createLog } from '../../src/platform/log/log.ts';
import type { Operation } from '../../src/platform/operation.ts';
import { stopOnSignal } from '../../src/platform/process/stop-on-signal.ts';
import { optionalText, text } from '../../src/platform/schema/fields.ts';
import { PROBE_OF_READS } from './probe-of-reads.ts';

/**
 * The whole ingress, whose events are stored nowhere: `POST /events` goes its way in production through key, limiter,
 * body and the checks of an event, up to where it would be put into a job, and is answered as if it had been stored.
 * Beside it a read that asks for nothing. BENCH_LIMITER=off leaves the limiter of events out.
 */
const storesNothing: Coalescer = {
  send: async (batch) => batch.events.map(() => 0),
  isFull: () => false,
  stop: async () => {},
};

const unlimited: Partial<Operation> =
  process.env.BENCH_LIMITER === 'off' ? { uncountedWhile: () => Promise.resolve(true) } : {};

const Event = z.object({
  transaction_id: text(),
  external_subscription_id: optionalText(),
  code: text(),
  timestamp: z.union([z.number(), z.string()]).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
});

/** A read that is sent like an event, so that both have the same bytes, and answers it. */
const probe: Operation = {
  name: 'benchProbe',
  method: 'post',
  path: PROBE_OF_READS,
  permission: 'event',
  summary: 'Answers the event',
  tag: 'bench',
  category: 'events',
  root: 'event',
  body: Event,
  answer: z.object({ event: Event }),
  kind: 'read',
  run: async (_ctx, { body }) => ({ event: { svc_id: '0197a6f0-0000-7000-8000-000000000000', ...body } }),
};

const offered = operations.map((each) => (each.name === 'createEvent' ? { ...each, ...unlimited } : each));
const config = loadConfig();
const log = createLog({ level: config.LOG_LEVEL, process: 'probe' });
const door = await openDoor(config, { operations: [...offered, probe], log, coalescer: storesNothing });
const server = createHttpServer(door.app, door.listener);
await listen(server, config);
process.send?.('ready');
stopOnSignal(log, async () => {
  await stopListening(server);
  await door.close();
});
