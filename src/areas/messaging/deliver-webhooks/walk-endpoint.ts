import type { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Sql } from '../../../platform/db/connect.ts';
import type { Producer } from '../../../platform/queue/producer.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import type { JobPayload } from '../../../queues.ts';
import { ENDPOINT_IS_DISABLED } from '../webhook-endpoints/writes.ts';
import { claimProbe, isOpen } from './circuit.ts';
import {
  countUnderWay,
  type EndpointId,
  failWaiting,
  listWaitingEndpoints,
  type OverdueDelivery,
  readHealth,
  takeOverdue,
} from './waiting-endpoints.ts';

/** An attempt that is overdue by this much has lost its job (webhooks.md#delivery). */
export const OVERDUE_MS = 120_000;
/** Deliveries of a recovered endpoint that are overdue by this much waited behind its circuit. */
export const HEALED_OVERDUE_MS = 10_000;
export const FIRST_ATTEMPTS_PER_JOB = 10;
/** How many deliveries of one endpoint a walk has in Redis at the same time: 100 jobs, some 200 KB. */
const WINDOW = 1000;
/** Backlog that a walk sends in one turn for an endpoint whose new events arrive faster than it accepts them. */
const LEAST_OF_A_TURN = 50;
/** Delay before a walk that left something continues. */
const TURN_MS = 1000;
const FAIL_BATCH = 1000;

type WalkDeps = { sql: Sql; producer: Pick<Producer, 'addMany'> };
type Walk = JobPayload<'webhook.walk'>;

/** One walk an endpoint: while its job is stored, another one is ignored. */
export const walkJob = (endpoint: EndpointId, delayMs = 0, overdueMs = OVERDUE_MS) => ({
  payload: {
    organization_id: endpoint.organization_id,
    webhook_endpoint_id: endpoint.webhook_endpoint_id,
    overdue_ms: overdueMs,
  },
  options: { id: `walk-${endpoint.webhook_endpoint_id}`, delayMs, forgetFailed: true },
});

/** Starts a walk for every endpoint with an attempt due since `now - overdueMs`. */
export async function walkWaitingEndpoints(deps: WalkDeps, now: Temporal.Instant, overdueMs: number): Promise<void> {
  const endpoints = await listWaitingEndpoints(deps.sql, now.subtract({ milliseconds: overdueMs }), now);
  await deps.producer.addMany(
    'webhook.walk',
    endpoints.map((endpoint) => walkJob(endpoint, 0, overdueMs)),
  );
}

/**
 * Handler of `webhook.walk`: gives jobs to the deliveries of one endpoint that wait for an attempt and have none,
 * oldest first, a window of them at a time. The rows are the truth: for a backlog of any length Redis holds only this
 * job and its window. For an endpoint with an open circuit a walk tries one delivery, at most once a minute, and
 * continues when that one succeeded. Rules: webhooks.md#delivery, webhooks.md#sending, rule 6.
 */
export function walkHandlers(deps: WalkDeps): Pick<Handlers, 'webhook.walk'> {
  return {
    async 'webhook.walk'(walk, info) {
      const now = realNow();
      const health = await readHealth(deps.sql, walk);
      if (!health) return;
      if (health.status === 'disabled') return failAll(deps.sql, walk, now);
      if (isOpen(health)) return probe(deps, walk, now);
      if (await walkOn(deps, walk, now)) await info.comeBack(TURN_MS);
    },
  };
}

async function failAll(sql: Sql, endpoint: EndpointId, now: Temporal.Instant): Promise<void> {
  while (
    (await failWaiting(sql, endpoint, { response: ENDPOINT_IS_DISABLED, now, limit: FAIL_BATCH })).count === FAIL_BATCH
  );
}

async function probe(deps: WalkDeps, walk: Walk, now: Temporal.Instant): Promise<void> {
  if (!(await claimProbe(deps.sql, walk, now))) return;
  const [oldest] = await takeOverdue(deps.sql, walk, { overdueSince: now, now, limit: 1 });
  if (!oldest) return;
  await deps.producer.addMany('webhook.deliver', [
    {
      payload: { ...endpointOf(walk), delivery_ids: [oldest.id], probe: true },
      options: { id: `probe-${oldest.id}-${now.epochMilliseconds}`, forgetFailed: true },
    },
  ]);
}

/** @returns whether something was left for the next turn */
async function walkOn(deps: WalkDeps, walk: Walk, now: Temporal.Instant): Promise<boolean> {
  const since = now.subtract({ milliseconds: walk.overdue_ms });
  const underWay = await countUnderWay(deps.sql, walk, { since, now, most: WINDOW });
  const room = Math.max(WINDOW - underWay, LEAST_OF_A_TURN);
  const overdue = await takeOverdue(deps.sql, walk, { overdueSince: since, now, limit: room });
  await deps.producer.addMany(
    'webhook.deliver',
    groups(overdue).map((group) => ({
      payload: { ...endpointOf(walk), delivery_ids: group.map(({ id }) => id) },
      options: { id: `sweep-${group[0]!.id}-${group[0]!.retries}`, forgetFailed: true },
    })),
  );
  return overdue.length === room;
}

const endpointOf = ({ organization_id, webhook_endpoint_id }: Walk): EndpointId => ({
  organization_id,
  webhook_endpoint_id,
});

/** Up to 10 first attempts together, each retry alone. */
function groups(deliveries: OverdueDelivery[]): OverdueDelivery[][] {
  const retries = deliveries.filter(({ status }) => status === 'retrying').map((delivery) => [delivery]);
  const first = deliveries.filter(({ status }) => status === 'pending');
  for (let start = 0; start < first.length; start += FIRST_ATTEMPTS_PER_JOB)
    retries.push(first.slice(start, start + FIRST_ATTEMPTS_PER_JOB));
  return retries;
}
