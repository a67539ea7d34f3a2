import { z } from 'zod';
import { startIngress } from '../../src/ingress/start-ingress.ts';
import { operations } from '../../src/operations.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { createLog } from '../../src/platform/log/log.ts';
import type { Operation } from '../../src/platform/operation.ts';
import { stopOnSignal } from '../../src/platform/process/stop-on-signal.ts';
import { optionalText, text } from '../../src/platform/schema/fields.ts';

/**
 * The whole ingress, with `POST /events` replaced by a probe that answers what it was sent: key, limiter, body and zod
 * as in production, no storage. BENCH_LIMITER=off leaves the limiter out.
 */
const Event = z.object({
  transaction_id: text(),
  external_subscription_id: optionalText(),
  code: text(),
  timestamp: z.union([z.number(), z.string()]).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
});

const probe: Operation = {
  name: 'benchProbe',
  method: 'post',
  path: '/events',
  permission: 'event',
  summary: 'Answers the event',
  tag: 'bench',
  category: 'events',
  root: 'event',
  body: Event,
  answer: z.object({ event: Event }),
  kind: 'read',
  run: async (_ctx, { body }) => ({ event: { svc_id: '0197a6f0-0000-7000-8000-000000000000', ...body } }),
  ...(process.env.BENCH_LIMITER === 'off' ? { uncountedWhile: () => Promise.resolve(true) } : {}),
};

const others = operations.filter((operation) => operation.path !== probe.path || operation.method !== probe.method);
const config = loadConfig();
const log = createLog({ level: config.LOG_LEVEL, process: 'probe' });
const ingress = await startIngress(config, [probe, ...others], log);
process.send?.('ready');
stopOnSignal(log, () => ingress.close());
