import type { Redis } from 'ioredis';
import { realNow, realNowMs } from '../../../platform/clock/real-clock.ts';
import type { WebhookDeliveryId } from '../../../platform/ids.ts';
import { webhookSigningKey } from '../../../platform/keys/deployment-keys.ts';
import { type Positions, positionsOf } from '../../../platform/positions/positions.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import type { JobPayload } from '../../../queues.ts';
import { TEST_TYPE } from '../webhooks/writes.ts';
import { attempts } from './attempt.ts';
import { CIRCUIT_MS, isOpen } from './circuit.ts';
import { mergedOutcomes, mergedReads, type ReadDue } from './merged-statements.ts';
import { type SendDeps, send } from './send.ts';
import { type Held, type Holder, openSlots, type Slots } from './slots.ts';
import { giveUp } from './stored-deliveries.ts';
import { type Line, openLine } from './waiting-line.ts';
import { HEALED_OVERDUE_MS, OVERDUE_MS, walkJob } from './walk-endpoint.ts';

type Job = JobPayload<'webhook.deliver'>;
type Deps = SendDeps & { readDue: ReadDue; positions: Positions | undefined };

/**
 * Handler of `webhook.deliver`: sends due deliveries of one endpoint. The rows hold the state and are written once, at
 * the end: a worker that dies before that leaves them due, and they are sent again under the same unique key. Jobs that
 * find no slot come back without using up an attempt; those that find an open circuit, or too many in line before them,
 * leave their deliveries to the walk of the endpoint. Rule: webhooks.md, webhooks.md#sending.
 */
export function deliveryHandlers(
  deps: Omit<SendDeps, 'attemptsAt' | 'freed' | 'keep'> & { redis: Redis },
): Pick<Handlers, 'webhook.deliver'> {
  const { config } = deps;
  const slots = openSlots(deps.redis, {
    prefix: config.REDIS_PREFIX,
    attemptMs: config.WEBHOOK_TIMEOUT_SECONDS * 1000,
  });
  const line = openLine();
  const { sql, outgoing } = deps;
  const attemptsAt = attempts({ config, outgoing, sql, signingKey: webhookSigningKey({ db: sql, config }) });
  const sending: Deps = {
    ...deps,
    attemptsAt,
    freed: line.freed,
    keep: mergedOutcomes(deps.sql),
    readDue: mergedReads(deps.sql),
    positions: positionsOf(deps),
  };
  return {
    async 'webhook.deliver'(job, info) {
      const holder = { id: info.id, organizationId: job.organization_id, endpointId: job.webhook_endpoint_id };
      if (line.enter(holder.endpointId)) {
        try {
          if (await deliver(sending, await takeSlots(slots, line, holder, job.delivery_ids), job, line)) return;
        } finally {
          line.leave(holder.endpointId);
        }
      }
      const awayMs = line.awayMs(holder.endpointId);
      if (awayMs !== null) return info.comeBack(awayMs);
      await sending.producer.addMany('webhook.walk', [walkJob(job, OVERDUE_MS)]);
    },
  };
}

/** Slots for the job, as soon as there are some; undefined when that takes too long. */
async function takeSlots(
  slots: Slots,
  line: Line,
  holder: Holder,
  deliveryIds: WebhookDeliveryId[],
): Promise<Held | undefined> {
  const sinceMs = realNowMs();
  let held = line.isFree(holder.endpointId) ? await slots.take(holder, deliveryIds) : undefined;
  while (!held) {
    if (!(await line.wait(holder.endpointId, sinceMs))) return undefined;
    held = await slots.take(holder, deliveryIds);
  }
  return held;
}

/** @returns whether the job is done; else it should come back for what it left */
async function deliver(deps: Deps, held: Held | undefined, job: Job, line: Line): Promise<boolean> {
  if (!held) return false;
  try {
    await deliverHeld(deps, held, job);
    return held.ids.length === job.delivery_ids.length;
  } finally {
    held.release();
    line.freed(job.webhook_endpoint_id);
  }
}

async function deliverHeld(deps: Deps, held: Held, job: Job): Promise<void> {
  const now = realNow();
  const { organization_id, webhook_endpoint_id } = job;
  const endpoint = await deps.readDue({ organization_id, webhook_endpoint_id, ids: held.ids });
  if (!endpoint) return;
  // Whoever hears of a record finds it, also where a replica answers.
  await deps.positions?.keep([organization_id]);
  const due = endpoint.deliveries;
  // A person waits for the result of a test event.
  const isTest = due.every((delivery) => delivery.webhook_type === TEST_TYPE);
  if (endpoint.endpoint_status === 'disabled' && !isTest) {
    await giveUp(
      { db: deps.sql, organizationId: job.organization_id },
      due.map((delivery) => delivery.id),
      now,
    );
    return;
  }
  if (isTest || !isOpen(endpoint)) {
    const { failures } = await send(deps, endpoint, due, held);
    if (isOpen({ consecutive_failures: endpoint.consecutive_failures + failures })) await waitForProbe(deps, job);
    return;
  }
  if (!job.probe) return;
  const { acknowledged } = await send(deps, endpoint, due, held);
  if (acknowledged > 0) await deps.producer.addMany('webhook.walk', [walkJob(job, 0, HEALED_OVERDUE_MS)]);
  else await waitForProbe(deps, job);
}

/**
 * While the circuit is open, rows wait, and Redis holds one job: the walk that probes the endpoint when its time is
 * over.
 */
const waitForProbe = (deps: Deps, job: Job) => deps.producer.addMany('webhook.walk', [walkJob(job, CIRCUIT_MS)]);
