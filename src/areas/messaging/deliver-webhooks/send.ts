import type { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Config } from '../../../platform/config.ts';
import type { Sql } from '../../../platform/db/connect.ts';
import type { Outgoing } from '../../../platform/http/outgoing.ts';
import type { WebhookEndpointId } from '../../../platform/ids.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { Producer } from '../../../platform/queue/producer.ts';
import { latencyClassOf } from '../webhook-endpoints/health-figures.ts';
import { disableWebhookEndpoint } from '../webhook-endpoints/writes.ts';
import type { Attempt, Outcome } from './attempt.ts';
import type { Kept } from './merged-statements.ts';
import { type NextAttempt, nextAttempt } from './next-attempt.ts';
import type { Held } from './slots.ts';
import type { DueDelivery, EndpointOfDelivery, OutcomeRow } from './stored-deliveries.ts';

export interface SendDeps {
  sql: Sql;
  producer: Producer;
  config: Config;
  log: Log;
  outgoing: Outgoing;
  attemptsAt: (endpoint: EndpointOfDelivery) => Promise<Attempt>;
  /** Writes how the attempts of a job went. */
  keep: (kept: Kept) => Promise<unknown>;
  /** Says that slots of the endpoint came free. */
  freed: (endpointId: WebhookEndpointId) => void;
}

type Planned = NextAttempt & { outcome: Outcome };

/**
 * Makes the attempts, stores their outcomes and plans the next ones.
 *
 * @returns how many were acknowledged, and how many failed where none was
 */
export async function send(
  deps: SendDeps,
  endpoint: EndpointOfDelivery,
  due: DueDelivery[],
  held: Held,
): Promise<{ acknowledged: number; failures: number }> {
  const outcomes = await inLanes(held.lanes, due, await deps.attemptsAt(endpoint));
  held.releaseLanes();
  deps.freed(endpoint.webhook_endpoint_id);
  const now = realNow();
  const planned = outcomes.map((outcome) => ({ outcome, ...plan(deps.config, outcome) }));
  const acknowledged = outcomes.filter((outcome) => outcome.acknowledged).length;
  await deps.keep({
    outcomes: {
      organization_id: endpoint.organization_id,
      webhook_endpoint_id: endpoint.webhook_endpoint_id,
      endpoint: endpoint.webhook_url,
      rows: planned.map((each) => toRow(each, now)),
    },
    health: {
      organization_id: endpoint.organization_id,
      webhook_endpoint_id: endpoint.webhook_endpoint_id,
      failures: outcomes.length - acknowledged,
      any_acknowledged: acknowledged > 0,
    },
  });
  if (outcomes.some((outcome) => outcome.gone)) await disable(deps, endpoint, now);
  else if (acknowledged < outcomes.length) await planRetries(deps.producer, endpoint, planned);
  return { acknowledged, failures: acknowledged > 0 ? 0 : outcomes.length };
}

function plan(config: Config, outcome: Outcome): NextAttempt {
  if (outcome.acknowledged || outcome.gone) return { attemptsLeft: null, delayMs: null };
  return nextAttempt({
    schedule: config.WEBHOOK_RETRY_SCHEDULE,
    attemptsLeft: outcome.delivery.attempts_left,
    retryAfterMs: outcome.retryAfterMs,
    random: Math.random(),
  });
}

const toRow = ({ outcome, attemptsLeft, delayMs }: Planned, now: Temporal.Instant): OutcomeRow => ({
  id: outcome.delivery.id,
  acknowledged: outcome.acknowledged,
  http_status: outcome.httpStatus,
  response: outcome.response,
  attempts_left: attemptsLeft,
  next_attempt_at: delayMs === null ? null : now.add({ milliseconds: delayMs }).toString(),
  latency_class: latencyClassOf(outcome.ms),
});

/** A retry travels alone. Its job is only a nudge: the sweeper makes up for a lost one. */
async function planRetries(producer: Producer, endpoint: EndpointOfDelivery, planned: Planned[]): Promise<void> {
  const jobs = planned.flatMap(({ outcome: { delivery }, delayMs }) =>
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
  );
  await producer.addMany('webhook.deliver', jobs);
}

async function disable(deps: SendDeps, endpoint: EndpointOfDelivery, at: Temporal.Instant): Promise<void> {
  const { organization_id, webhook_endpoint_id: id } = endpoint;
  await disableWebhookEndpoint(deps.sql, { organizationId: organization_id, id, reason: 'gone', at });
  deps.log.warn({ organization_id, webhook_endpoint_id: id, reason: 'gone' }, 'webhook endpoint disabled');
}

/** Runs `work` on every item, `lanes` of them at the same time, and gives the results in order. */
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
