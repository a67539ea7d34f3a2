import type { Redis } from 'ioredis';
import type { Temporal } from 'temporal-polyfill';
import { realNow } from '../../platform/clock/real-clock.ts';
import type { Config } from '../../platform/config.ts';
import type { Sql } from '../../platform/db/connect.ts';
import type { Outgoing } from '../../platform/http/outgoing.ts';
import { webhookSigningKey } from '../../platform/keys/deployment-keys.ts';
import type { Log } from '../../platform/log/log.ts';
import type { Producer } from '../../platform/queue/producer.ts';
import type { Handlers } from '../../platform/queue/worker.ts';
import type { JobPayload } from '../../queues.ts';
import { disableWebhookEndpoint } from '../../resources/webhook-endpoints/writes.ts';
import { TEST_TYPE } from '../../resources/webhooks/commands.ts';
import { type Attempt, attempts, type Outcome } from './attempt.ts';
import { nextAttempt } from './next-attempt.ts';
import { type Held, openSlots } from './slots.ts';
import { claimProbe, type DueDelivery, type EndpointOfDelivery, giveUp, listDue, recordOutcomes } from './sql.ts';

/** So many failures in a row open the circuit: one probe a minute, the others wait (performance-design 7, rule 6). */
const CIRCUIT_OPENS_AT = 20;
const CIRCUIT_MS = 60_000;
/** Spread of the jobs that wait for a circuit, so that they do not all wake at once. */
const CIRCUIT_SPREAD_MS = 5000;
/** Wait of a job that found no slot, in the middle and to either side. */
const NO_SLOT_MS = 250;
const NO_SLOT_SPREAD_MS = 100;

export interface DeliverDeps {
  sql: Sql;
  redis: Redis;
  producer: Producer;
  config: Config;
  log: Log;
  outgoing: Outgoing;
}

type Job = JobPayload<'webhook.deliver'>;

/**
 * Handler of `webhook.deliver`: sends due deliveries of one endpoint. The rows hold the state and are written once, at the
 * end: a worker that dies before that leaves them due, and they are sent again under the same unique key. Jobs that find
 * no slot, or an open circuit, come back without using up an attempt. Rule: platform G, performance-design 7.
 */
export function deliveryHandlers(deps: DeliverDeps): Pick<Handlers, 'webhook.deliver'> {
  const { config } = deps;
  const slots = openSlots(deps.redis, {
    prefix: config.REDIS_PREFIX,
    slotsOfProcess: config.CONCURRENCY_WEBHOOKS,
    attemptMs: config.WEBHOOK_TIMEOUT_SECONDS * 1000,
  });
  const attemptsAt = attempts({ config, outgoing: deps.outgoing, signingKey: webhookSigningKey(deps.sql) });
  return {
    async 'webhook.deliver'(job, info) {
      const holder = { id: info.id, organizationId: job.organization_id, endpointId: job.webhook_endpoint_id };
      const held = await slots.take(holder, job.delivery_ids);
      if (!held) return info.comeBack(noSlotDelayMs());
      let waitMs: number | null;
      try {
        waitMs = await deliver(deps, attemptsAt, job, held);
      } finally {
        await held.release();
      }
      if (waitMs !== null) return info.comeBack(waitMs);
    },
  };
}

const noSlotDelayMs = (): number => Math.round(NO_SLOT_MS + NO_SLOT_SPREAD_MS * (2 * Math.random() - 1));

/** @returns when the job should come back for what it left, or null */
async function deliver(
  deps: DeliverDeps,
  attemptsAt: (endpoint: EndpointOfDelivery) => Promise<Attempt>,
  job: Job,
  held: Held,
): Promise<number | null> {
  const now = realNow();
  const left = held.ids.length < job.delivery_ids.length ? noSlotDelayMs() : null;
  const chosen = { organizationId: job.organization_id, endpointId: job.webhook_endpoint_id, ids: held.ids };
  let due: (DueDelivery & EndpointOfDelivery)[] = await listDue(deps.sql, chosen, now);
  const endpoint = due[0];
  if (!endpoint) return left;
  if (endpoint.endpoint_status === 'disabled') {
    const dropped = due.filter((delivery) => delivery.webhook_type !== TEST_TYPE).map((delivery) => delivery.id);
    await giveUp(deps.sql, job.organization_id, dropped, 'the endpoint is disabled', now);
    due = due.filter((delivery) => delivery.webhook_type === TEST_TYPE);
    if (due.length === 0) return left;
  }
  if (endpoint.consecutive_failures < CIRCUIT_OPENS_AT) {
    await send(deps, await attemptsAt(endpoint), endpoint, due, held.lanes);
    return left;
  }
  const waitMs = await circuitWaitMs(deps, endpoint, now);
  if (waitMs !== null) return waitMs;
  const healed = await send(deps, await attemptsAt(endpoint), endpoint, due.slice(0, 1), 1);
  if (due.length === 1) return left;
  return healed ? noSlotDelayMs() : CIRCUIT_MS + CIRCUIT_SPREAD_MS * Math.random();
}

/** Null: this job may probe. Else how long the circuit stays closed to it. */
async function circuitWaitMs(deps: DeliverDeps, endpoint: EndpointOfDelivery, now: Temporal.Instant) {
  const openMs = (endpoint.circuit_open_until?.epochMilliseconds ?? 0) - now.epochMilliseconds;
  const spreadMs = CIRCUIT_SPREAD_MS * Math.random();
  if (openMs > 0) return openMs + spreadMs;
  const until = now.add({ milliseconds: CIRCUIT_MS });
  return (await claimProbe(deps.sql, endpoint, now, until)) ? null : CIRCUIT_MS + spreadMs;
}

/** Makes the attempts, writes how they went, and plans the next ones. @returns whether any was acknowledged */
async function send(
  deps: DeliverDeps,
  attempt: Attempt,
  endpoint: EndpointOfDelivery,
  due: DueDelivery[],
  lanes: number,
): Promise<boolean> {
  const outcomes = await inLanes(lanes, due, attempt);
  const now = realNow();
  const planned = outcomes.map((outcome) => ({ outcome, ...plan(deps.config, outcome) }));
  const acknowledged = outcomes.filter((outcome) => outcome.acknowledged).length;
  await recordOutcomes(
    deps.sql,
    endpoint,
    planned.map(({ outcome, attemptsLeft, delayMs }) => ({
      id: outcome.delivery.id,
      acknowledged: outcome.acknowledged,
      http_status: outcome.httpStatus,
      response: outcome.response,
      attempts_left: attemptsLeft,
      next_attempt_at: delayMs === null ? null : now.add({ milliseconds: delayMs }).toString(),
    })),
    {
      failures: outcomes.length - acknowledged,
      anyAcknowledged: acknowledged > 0,
      opensAt: CIRCUIT_OPENS_AT,
      openUntil: now.add({ milliseconds: CIRCUIT_MS }),
    },
    now,
  );
  if (outcomes.some((outcome) => outcome.gone)) await disable(deps, endpoint, now);
  else if (acknowledged < outcomes.length) await planRetries(deps, endpoint, planned);
  return acknowledged > 0;
}

function plan(config: Config, outcome: Outcome): { attemptsLeft: number | null; delayMs: number | null } {
  if (outcome.acknowledged || outcome.gone) return { attemptsLeft: null, delayMs: null };
  return nextAttempt({
    schedule: config.WEBHOOK_RETRY_SCHEDULE,
    attemptsLeft: outcome.delivery.attempts_left,
    retryAfterMs: outcome.retryAfterMs,
    random: Math.random(),
  });
}

/** A retry travels alone. Its job is only a nudge: the sweeper makes up for a lost one. */
async function planRetries(
  deps: DeliverDeps,
  endpoint: EndpointOfDelivery,
  planned: { outcome: Outcome; delayMs: number | null }[],
): Promise<void> {
  await deps.producer.addMany(
    'webhook.deliver',
    planned.flatMap(({ outcome: { delivery }, delayMs }) =>
      delayMs === null
        ? []
        : {
            payload: {
              organization_id: endpoint.organization_id,
              webhook_endpoint_id: endpoint.webhook_endpoint_id,
              delivery_ids: [delivery.id],
            },
            options: { id: `retry-${delivery.id}-${delivery.retries + 1}`, delayMs, forgetFailed: true },
          },
    ),
  );
}

async function disable(deps: DeliverDeps, endpoint: EndpointOfDelivery, now: Temporal.Instant): Promise<void> {
  const { organization_id, webhook_endpoint_id } = endpoint;
  await disableWebhookEndpoint(deps.sql, {
    organizationId: organization_id,
    id: webhook_endpoint_id,
    reason: 'gone',
    at: now,
  });
  deps.log.warn({ organization_id, webhook_endpoint_id, reason: 'gone' }, 'webhook endpoint disabled');
}

/** Runs `work` on every item, `lanes` at once, and gives the results in order. */
async function inLanes<Item, Result>(
  lanes: number,
  items: Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = new Array(items.length);
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < items.length; index = next++) results[index] = await work(items[index]!);
  };
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane));
  return results;
}
