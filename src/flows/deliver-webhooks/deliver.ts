import type { Redis } from 'ioredis';
import { realNow, realNowMs } from '../../platform/clock/real-clock.ts';
import { webhookSigningKey } from '../../platform/keys/deployment-keys.ts';
import type { Handlers } from '../../platform/queue/worker.ts';
import type { JobPayload } from '../../queues.ts';
import { TEST_TYPE } from '../../resources/webhooks/writes.ts';
import { attempts } from './attempt.ts';
import { circuitWaitMs, isOpen } from './circuit.ts';
import { type Line, openLine } from './line.ts';
import { type SendDeps, send } from './send.ts';
import { type Held, openSlots, SHARE_OF_ORGANIZATION, type Slots } from './slots.ts';
import { giveUp } from './sql.ts';
import { mergedOutcomes, mergedReads, type ReadDue } from './statements.ts';

type Job = JobPayload<'webhook.deliver'>;
type Deps = SendDeps & { readDue: ReadDue };

/**
 * Handler of `webhook.deliver`: sends due deliveries of one endpoint. The rows hold the state and are written once, at the
 * end: a worker that dies before that leaves them due, and they are sent again under the same unique key. Jobs that find
 * no slot, or an open circuit, come back without using up an attempt. Rule: platform G, performance-design 7.
 */
export function deliveryHandlers(
  deps: Omit<SendDeps, 'attemptsAt' | 'freed' | 'keep'> & { redis: Redis },
): Pick<Handlers, 'webhook.deliver'> {
  const { config } = deps;
  const slots = openSlots(deps.redis, {
    prefix: config.REDIS_PREFIX,
    slotsOfProcess: config.CONCURRENCY_WEBHOOKS,
    attemptMs: config.WEBHOOK_TIMEOUT_SECONDS * 1000,
  });
  const line = openLine(Math.max(1, Math.floor(config.CONCURRENCY_WEBHOOKS * SHARE_OF_ORGANIZATION)));
  const attemptsAt = attempts({ config, outgoing: deps.outgoing, signingKey: webhookSigningKey(deps.sql) });
  const sending: Deps = {
    ...deps,
    attemptsAt,
    freed: line.freed,
    keep: mergedOutcomes(deps.sql),
    readDue: mergedReads(deps.sql),
  };
  return {
    async 'webhook.deliver'(job, info) {
      const holder = { id: info.id, organizationId: job.organization_id, endpointId: job.webhook_endpoint_id };
      if (!line.enter(holder.organizationId, holder.endpointId)) return info.comeBack(line.awayMs(holder.endpointId));
      let awayMs: number | null;
      try {
        awayMs = await deliver(sending, await takeSlots(slots, line, holder, job.delivery_ids), job, line);
      } finally {
        line.leave(holder.organizationId, holder.endpointId);
      }
      if (awayMs !== null) return info.comeBack(awayMs);
    },
  };
}

/** Slots for the job, as soon as there are some; undefined when that takes too long. */
async function takeSlots(
  slots: Slots,
  line: Line,
  holder: { id: string; organizationId: string; endpointId: string },
  deliveryIds: string[],
): Promise<Held | undefined> {
  const sinceMs = realNowMs();
  let held = line.isFree(holder.endpointId) ? await slots.take(holder, deliveryIds) : undefined;
  while (!held) {
    if (!(await line.wait(holder.endpointId, sinceMs))) return undefined;
    held = await slots.take(holder, deliveryIds);
  }
  return held;
}

/** @returns after how long the job should come back for what it left, or null */
async function deliver(deps: Deps, held: Held | undefined, job: Job, line: Line): Promise<number | null> {
  if (!held) return line.awayMs(job.webhook_endpoint_id);
  try {
    const waitMs = await deliverHeld(deps, held, job);
    if (waitMs !== null) return waitMs;
    return held.ids.length < job.delivery_ids.length ? line.awayMs(job.webhook_endpoint_id) : null;
  } finally {
    held.release();
    line.freed(job.organization_id);
  }
}

async function deliverHeld(deps: Deps, held: Held, job: Job): Promise<number | null> {
  const now = realNow();
  const { organization_id, webhook_endpoint_id } = job;
  const endpoint = await deps.readDue({ organization_id, webhook_endpoint_id, ids: held.ids });
  if (!endpoint) return null;
  const due = endpoint.deliveries;
  // Somebody wants to know now whether the endpoint works.
  const isTest = due.every((delivery) => delivery.webhook_type === TEST_TYPE);
  if (endpoint.endpoint_status === 'disabled' && !isTest) {
    await giveUp(
      deps.sql,
      job.organization_id,
      due.map((delivery) => delivery.id),
      now,
    );
    return null;
  }
  if (isTest || !isOpen(endpoint)) {
    await send(deps, endpoint, due, held);
    return null;
  }
  const waitMs = await circuitWaitMs(deps.sql, endpoint, now);
  if (waitMs !== null) return waitMs;
  const healed = await send(deps, endpoint, due.slice(0, 1), held);
  if (due.length === 1) return null;
  return healed ? 0 : circuitWaitMs(deps.sql, endpoint, realNow());
}
