import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../../platform/db/connect.ts';
import { patienceOf } from '../../../platform/db/lock-patience.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { OrganizationId, WebhookDeliveryId, WebhookEndpointId } from '../../../platform/ids.ts';
import { LATENCY_CLASSES } from '../webhook-endpoints/health-figures.ts';
import { ENDPOINT_IS_DISABLED } from '../webhook-endpoints/writes.ts';

/** The endpoint as it is at this attempt. */
export interface EndpointOfDelivery {
  organization_id: OrganizationId;
  webhook_endpoint_id: WebhookEndpointId;
  webhook_url: string;
  signature_algo: 'jwt' | 'hmac';
  /** The one that signs: until the overlap of a rotation ends, the former one. */
  hmac_key: string;
  secret: string;
  former_secret: string | null;
  former_secret_expires_at: Temporal.Instant | null;
  endpoint_status: 'enabled' | 'disabled';
  consecutive_failures: number;
  circuit_open_until: Temporal.Instant | null;
}

export interface DueDelivery {
  id: WebhookDeliveryId;
  status: 'pending' | 'retrying';
  /** Failed attempts so far. */
  retries: number;
  /** Null: the whole schedule. */
  attempts_left: number | null;
  webhook_type: string;
  payload: string;
  /** Place of the event in the feed; null when it has none yet. */
  sequence: number | null;
  /** The replay that made the delivery. */
  replay_id: string | null;
}

// Clocks of two machines differ a little, so a retry that comes a moment early is still accepted.
const EARLY_MS = 1000;

/*
 * The deliveries are looked up one by one in their primary key, and the other conditions compared afterwards: on a
 * table without statistics the planner takes an index of thousands of rows for one row and reads all of them for each
 * job. Measured, 10 of 10 000 fresh rows: 17 ms with the conditions in one place, 0.4 ms so.
 */

/** Deliveries of one job. */
export interface Wanted {
  organization_id: OrganizationId;
  webhook_endpoint_id: WebhookEndpointId;
  ids: string[];
}

/** The deliveries that a job may send: never empty. */
export interface Due extends EndpointOfDelivery {
  deliveries: DueDelivery[];
}

/**
 * For each job those of its deliveries that wait for an attempt, in its order, and their endpoint; jobs without any are
 * left out. `place` is the job's place in `wanted`, from 1. The deliveries of a job travel as one value: a row for each
 * costs the reader twice as much.
 */
export const listDue = (sql: Sql, wanted: Wanted[], now: Temporal.Instant) => sql<(Due & { place: number })[]>`
  select job.place, job.organization_id, job.webhook_endpoint_id, endpoint.webhook_url, endpoint.signature_algo,
    case when o.former_hmac_key_expires_at > ${now} then o.former_hmac_key else o.hmac_key end as hmac_key,
    endpoint.secret, endpoint.former_secret, endpoint.former_secret_expires_at, endpoint.status as endpoint_status,
    endpoint.consecutive_failures, endpoint.circuit_open_until, due.deliveries
  from rows from (
    jsonb_to_recordset(${json(wanted)}::jsonb) as (organization_id uuid, webhook_endpoint_id uuid, ids uuid[])
  ) with ordinality as job (organization_id, webhook_endpoint_id, ids, place)
  join webhook_endpoints endpoint
    on endpoint.organization_id = job.organization_id and endpoint.id = job.webhook_endpoint_id
  join organizations o on o.id = job.organization_id
  cross join lateral (
    select json_agg(json_build_object('id', d.id, 'status', d.status, 'retries', d.retries,
      'attempts_left', d.attempts_left, 'webhook_type', event.webhook_type, 'payload', event.payload,
      'sequence', event.sequence, 'replay_id', d.replay_id) order by wanted.place) as deliveries
    from unnest(job.ids) with ordinality as wanted (id, place)
    cross join lateral (
      select id, organization_id, webhook_endpoint_id, event_id, replay_id, status, retries, attempts_left,
        next_attempt_at
      from webhook_deliveries where id = wanted.id offset 0) d
    cross join lateral (
      select webhook_type, payload, sequence from webhook_events where id = d.event_id offset 0) event
    where d.organization_id = job.organization_id and d.webhook_endpoint_id = job.webhook_endpoint_id
      and (d.status = 'pending'
        or d.status = 'retrying' and d.next_attempt_at <= ${now.add({ milliseconds: EARLY_MS })})
  ) due
  where due.deliveries is not null`;

/** How one attempt ended, as its row keeps it. */
export interface OutcomeRow {
  id: string;
  acknowledged: boolean;
  http_status: number | null;
  response: string;
  attempts_left: number | null;
  next_attempt_at: string | null;
  /** From 0. */
  latency_class: number;
}

/** How the attempts of one job ended. */
export interface OutcomesOfJob {
  organization_id: OrganizationId;
  webhook_endpoint_id: WebhookEndpointId;
  /** URL that was used. */
  endpoint: string;
  rows: OutcomeRow[];
}

/** What outcomes mean for their endpoint. */
export interface HealthRow {
  organization_id: OrganizationId;
  webhook_endpoint_id: WebhookEndpointId;
  /** Failures in a row to add when no delivery was acknowledged. */
  failures: number;
  any_acknowledged: boolean;
}

/**
 * Writes outcomes, the health of their endpoints and the sums of their hour, each of them once: one statement. A
 * delivery that another run has finished meanwhile stays as it is; an endpoint in good health whose events were
 * acknowledged is not touched.
 *
 * opensAt     failures in a row from which on the circuit is open
 * openUntil   how long it then stays so
 * patienceMs  how long a lock is waited for; without it as long as statements may run
 */
export const recordOutcomes = (
  sql: Sql,
  jobs: OutcomesOfJob[],
  health: HealthRow[],
  { opensAt, openUntil }: { opensAt: number; openUntil: Temporal.Instant },
  now: Temporal.Instant,
  patienceMs?: number,
) => sql`
  with patience as materialized (${patienceOf(sql, patienceMs)}), outcome as materialized (
    select job.organization_id, job.webhook_endpoint_id, job.endpoint, row.*
    from patience -- no row is locked before it is known how long to wait
    cross join jsonb_to_recordset(${json(jobs)}::jsonb) as job (organization_id uuid,
      webhook_endpoint_id uuid, endpoint text, rows jsonb)
    cross join lateral jsonb_to_recordset(job.rows) as row (id uuid, acknowledged boolean, http_status integer,
      response text, attempts_left integer, next_attempt_at timestamptz, latency_class integer)
  ), noted as (
    update webhook_deliveries d
    set status = case when outcome.acknowledged then 'succeeded' when outcome.next_attempt_at is null then 'failed'
        else 'retrying' end,
      retries = d.retries + case when outcome.acknowledged then 0 else 1 end,
      attempts_left = outcome.attempts_left, next_attempt_at = outcome.next_attempt_at,
      http_status = outcome.http_status, response = outcome.response, endpoint = outcome.endpoint,
      last_retried_at = case when d.retries > 0 then ${now} else d.last_retried_at end, updated_at = ${now}
    from outcome
    where d.id = any (array(select id from outcome)) and d.id = outcome.id
      and d.organization_id = outcome.organization_id and d.status not in ('succeeded', 'failed')
    returning d.id, d.status, outcome.organization_id, outcome.webhook_endpoint_id, outcome.latency_class
  ), ${countedInHours(sql, now)}, health as materialized (
    select row.* from patience
    cross join jsonb_to_recordset(${json(health)}::jsonb) as row (organization_id uuid, webhook_endpoint_id uuid,
      failures integer, any_acknowledged boolean)
  )
  update webhook_endpoints endpoint
  set consecutive_failures = case when health.any_acknowledged then 0
      else endpoint.consecutive_failures + health.failures end,
    failures_since = case when health.any_acknowledged then null else coalesce(endpoint.failures_since, ${now}) end,
    circuit_open_until = case
      when not health.any_acknowledged and endpoint.consecutive_failures + health.failures >= ${opensAt}
        then ${openUntil}::timestamptz end
  from health
  where endpoint.organization_id = health.organization_id and endpoint.id = health.webhook_endpoint_id
    and endpoint.id = any (array(
      select endpoint.id from health
      join webhook_endpoints endpoint
        on endpoint.organization_id = health.organization_id and endpoint.id = health.webhook_endpoint_id
      where not health.any_acknowledged or endpoint.consecutive_failures > 0 or endpoint.failures_since is not null
      order by endpoint.id
      for no key update of endpoint))`;

/** Processes that write outcomes of one endpoint at the same time mostly use different rows. */
const LANES = 8;

/** Part of a statement: adds what `noted` says to the hour of its endpoints. */
const countedInHours = (sql: Sql, now: Temporal.Instant) => sql`
  counted as (
    insert into webhook_hours as known (organization_id, webhook_endpoint_id, hour, lane, succeeded, failed, latency)
    select organization_id, webhook_endpoint_id, date_trunc('hour', ${now}::timestamptz, 'UTC'), lane, succeeded,
      failed, array(
        select (select count(*) from unnest(classes) one where one = class)::integer
        from generate_series(0, ${LATENCY_CLASSES - 1}::integer) class order by class)
    from (
      select organization_id, webhook_endpoint_id, abs(hashtext(min(id::text)) % ${LANES}::integer) as lane,
        count(*) filter (where status = 'succeeded') as succeeded, count(*) filter (where status = 'failed') as failed,
        array_agg(latency_class) as classes
      from noted group by organization_id, webhook_endpoint_id
    ) sums
    order by organization_id, webhook_endpoint_id
    on conflict (organization_id, webhook_endpoint_id, hour, lane) do update set
      succeeded = known.succeeded + excluded.succeeded, failed = known.failed + excluded.failed,
      latency = array(select one + other
        from unnest(known.latency, excluded.latency) with ordinality as sum (one, other, class) order by class)
  )`;

/** Ends deliveries to a disabled endpoint without an attempt. */
export const giveUp = ({ db: sql, organizationId }: Scope<Sql>, ids: WebhookDeliveryId[], now: Temporal.Instant) => sql`
  update webhook_deliveries
  set status = 'failed', next_attempt_at = null, response = coalesce(response, ${ENDPOINT_IS_DISABLED}),
    updated_at = ${now}
  where organization_id = ${organizationId} and id = any (${ids}) and status in ('pending', 'retrying')`;

/** Deliveries of a replay that wait for their first attempt, the first due first. */
export const listReplay = (
  sql: Sql,
  {
    organizationId,
    endpointId,
    replayId,
  }: { organizationId: OrganizationId; endpointId: WebhookEndpointId; replayId: string },
) => sql<{ id: WebhookDeliveryId; next_attempt_at: Temporal.Instant }[]>`
  select id, next_attempt_at from webhook_deliveries
  where organization_id = ${organizationId} and webhook_endpoint_id = ${endpointId} and replay_id = ${replayId}
    and status = 'pending'
  order by next_attempt_at, id`;

/**
 * Endpoints of which no attempt succeeded since `failingSince` or earlier, and at least one failed after so long a
 * time: a single failure of an endpoint that had no events since does not count.
 */
export const listDeadEndpoints = (sql: Sql, failingSince: Temporal.Instant, forHours: number) => sql<
  { id: WebhookEndpointId; organization_id: OrganizationId }[]
>`
  select endpoint.id, endpoint.organization_id from webhook_endpoints endpoint
  where endpoint.status = 'enabled' and endpoint.failures_since <= ${failingSince}
    and exists (
      select from webhook_deliveries d
      where d.organization_id = endpoint.organization_id and d.webhook_endpoint_id = endpoint.id
        and d.status in ('retrying', 'failed')
        and d.updated_at >= endpoint.failures_since + ${forHours} * interval '1 hour')
  order by endpoint.failures_since`;

/**
 * Endpoints with a delivery that was last touched before `cutoff`, those of organizations left out that chose how long
 * deliveries are kept (the job `retention` is theirs).
 */
export const listEndpointsWithOldDeliveries = (sql: Sql, cutoff: Temporal.Instant) => sql<
  { id: WebhookEndpointId; organization_id: OrganizationId }[]
>`
  select endpoint.id, endpoint.organization_id from webhook_endpoints endpoint
  where exists (
    select from webhook_deliveries d
    where d.organization_id = endpoint.organization_id and d.webhook_endpoint_id = endpoint.id
      and d.updated_at < ${cutoff})
    and not exists (
      select from retention_rules rule
      where rule.organization_id = endpoint.organization_id and rule.class = 'webhook_deliveries')`;

/** Removes at most `limit` of them; answers how many. */
export async function deleteOldDeliveries(
  { db: sql, organizationId }: Scope<Sql>,
  endpointId: WebhookEndpointId,
  { cutoff, limit }: { cutoff: Temporal.Instant; limit: number },
): Promise<number> {
  const { count } = await sql`
    delete from webhook_deliveries
    where organization_id = ${organizationId} and id in (
      select id from webhook_deliveries
      where organization_id = ${organizationId} and webhook_endpoint_id = ${endpointId} and updated_at < ${cutoff}
      limit ${limit})`;
  return count;
}
