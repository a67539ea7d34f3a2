import type { Temporal } from 'temporal-polyfill';
import type { JobName } from '../../queues.ts';
import type { Activity, Actor, Context, OwedStep, RowNudge, SecurityEvent, WebhookEvent } from '../context.ts';
import type { Db } from '../db/connect.ts';
import { json } from '../db/values.ts';
import type { CustomerId, OrganizationId, WebhookEndpointId } from '../ids.ts';
import { newId } from '../ids.ts';
import { writeSecurityLogs } from './security-log.ts';
import { activityLine, webhookLine, writeTimeline } from './timeline.ts';

/**
 * Types that only endpoints naming them receive, because clients of the contract do not know them
 * (other-routes.md#common-ground).
 */
export const NAMED_ONLY_WEBHOOK_TYPES = [
  'audit.failed',
  'event_correction.settled',
  'simulation.finished',
  'catalog.applied',
  'customer.erased',
  'customer.payment_methods_imported',
  'wallet_hold.expired',
  'e_document.created',
  'e_document.failed',
  'provider_drift.found',
  'budget.threshold_reached',
  'budget.blocked',
  'budget.unblocked',
  'budget.overrun',
  'e_document.status_updated',
  'price_book.model_unknown',
  'ai_usage.healed',
  'price_book.imported',
  'mail.failed',
];

/** Other names by which an endpoint may ask for a type (webhooks.md#event-types). */
export const SECOND_WEBHOOK_NAMES = { 'credit_note.refund_failure': 'credit_note.provider_refund_failure' };

/** The records of a transaction, collected while it runs. */
export interface Records {
  activities: Activity[];
  webhooks: WebhookEvent[];
  security: SecurityEvent[];
  keysChanged: boolean;
  owed: (OwedStep | RowNudge)[];
}

export interface RecordsMeta {
  organizationId: OrganizationId;
  /** Only sandboxes may have a test clock, whose timeline then shows the records. */
  sandbox?: boolean;
  actor: Actor;
  /** Business time of the command. */
  now: Temporal.Instant;
  /** Real time. */
  realNow: Temporal.Instant;
}

/** A written step with the fields that its job needs. */
export interface StepToNudge {
  id: string;
  dueNow: boolean;
  /** Customer of the record in its payload, by whom the feed is filtered. */
  customerId: CustomerId | null;
}

/** Jobs to nudge after commit. */
export interface Nudges {
  deliveries: { id: string; webhook_endpoint_id: WebhookEndpointId }[];
  steps: StepToNudge[];
  /** Jobs of owed work with rows of their own. */
  jobs?: { name: JobName; payload: object; inBackground: boolean }[];
  /** Whether every ingress must drop what it caches with the organization's keys. */
  keysChanged?: boolean;
  /**
   * Scopes of access checks whose cache is invalid, as the SQL function `tell_access` of migration 0016 returns them.
   */
  accessChanges?: string[];
}

export const emptyRecords = (): Records => ({
  activities: [],
  webhooks: [],
  security: [],
  keysChanged: false,
  owed: [],
});

/** Collects the records of a context. */
export const recorder =
  (records: Records): Context['record'] =>
  ({ activity, webhook, security, keysChanged }) => {
    if (activity) records.activities.push(activity);
    if (webhook) records.webhooks.push(webhook);
    if (security) records.security.push(security);
    if (keysChanged) records.keysChanged = true;
  };

/**
 * Writes audit lines, outgoing events with a delivery for each endpoint that listens, and owed work: one statement in
 * the caller's transaction, and one more for the timeline of a test clock. It must come last, see writeTimeline.
 */
export async function writeRecords(db: Db, meta: RecordsMeta, records: Records): Promise<Nudges> {
  const steps = records.owed.flatMap((owed) => ('step' in owed ? [{ id: newId(), ...owed }] : []));
  const jobs = records.owed.flatMap((owed) =>
    'nudge' in owed
      ? [
          {
            name: owed.nudge,
            payload: { organization_id: meta.organizationId, ...owed.payload },
            inBackground: owed.inBackground ?? false,
          },
        ]
      : [],
  );
  const { keysChanged } = records;
  await writeSecurityLogs(db, meta, records.security);
  if (records.activities.length + records.webhooks.length + steps.length === 0)
    return { deliveries: [], steps: [], jobs, keysChanged, accessChanges: await readAccessChanges(db) };
  const activityRows = records.activities.map((activity) => ({
    id: newId(),
    activity_type: activity.type,
    activity_object: meta.actor.isPortal ? { ...activity.object, portal: true } : activity.object,
    activity_object_changes: activity.changes ?? {},
    resource_id: activity.resourceId,
    resource_type: activity.resourceType,
    external_customer_id: activity.externalCustomerId ?? null,
    external_subscription_id: activity.externalSubscriptionId ?? null,
  }));
  const events = records.webhooks.map((event) => ({ id: newId(), ...event }));
  const eventRows = events.map((event) => ({
    id: event.id,
    webhook_type: event.type,
    object_type: event.objectType,
    object_id: event.objectId,
    customer_id: event.customerId ?? null,
    payload: JSON.stringify({
      webhook_type: event.type,
      object_type: event.objectType,
      organization_id: meta.organizationId,
      [event.objectType]: event.object,
    }),
  }));
  const stepRows = steps.map((step) => ({
    id: step.id,
    job: step.step,
    payload: step.payload,
    due_at: step.dueAt?.toString() ?? null,
  }));
  const written = db<WrittenRow[]>`
    with activity as (
      insert into activity_logs (id, organization_id, activity_type, activity_source, activity_object,
        activity_object_changes, api_key_id, resource_id, resource_type, external_customer_id,
        external_subscription_id, logged_at, created_at)
      select id, ${meta.organizationId}::uuid, activity_type, ${meta.actor.source}, activity_object,
        activity_object_changes, ${meta.actor.apiKeyId}::uuid, resource_id, resource_type, external_customer_id,
        external_subscription_id, ${meta.now}, ${meta.realNow}
      from jsonb_to_recordset(${json(activityRows)}::jsonb) as row (id uuid, activity_type text, activity_object jsonb,
        activity_object_changes jsonb, resource_id uuid, resource_type text, external_customer_id text,
        external_subscription_id text)
    ), step as (
      insert into after_steps (id, organization_id, job, payload, due_at, created_at, enqueued_at)
      select id, ${meta.organizationId}::uuid, job, payload, due_at, ${meta.realNow}, ${meta.realNow}
      from jsonb_to_recordset(${json(stepRows)}::jsonb) as row (id uuid, job text, payload jsonb, due_at timestamptz)
      returning id, customer_of_work(organization_id, payload) as customer_id
    ), event as (
      insert into webhook_events (id, organization_id, webhook_type, object_type, object_id, customer_id, occurred_at,
        payload, created_at)
      select id, ${meta.organizationId}::uuid, webhook_type, object_type, object_id, customer_id, ${meta.now}, payload,
        ${meta.realNow}
      from jsonb_to_recordset(${json(eventRows)}::jsonb) as row (id uuid, webhook_type text, object_type text,
        object_id uuid,
        customer_id uuid, payload text)
      returning id, webhook_type
    ), delivery as (
      insert into webhook_deliveries (id, organization_id, webhook_endpoint_id, event_id, endpoint, next_attempt_at,
        created_at, updated_at)
      select gen_random_uuid(), ${meta.organizationId}::uuid, endpoint.id, event.id, endpoint.webhook_url,
        ${meta.realNow}, ${meta.realNow}, ${meta.realNow}
      from event
      join webhook_endpoints endpoint
        on endpoint.organization_id = ${meta.organizationId} and endpoint.status = 'enabled'
        and case when endpoint.event_types is null then event.webhook_type <> all (${NAMED_ONLY_WEBHOOK_TYPES})
                 else event.webhook_type = any (endpoint.event_types)
                   or ${json(SECOND_WEBHOOK_NAMES)}::jsonb ->> event.webhook_type = any (endpoint.event_types) end
      returning id, webhook_endpoint_id
    )
    select 'delivery' as what, id, webhook_endpoint_id, null::uuid as customer_id, null as access from delivery
    union all
    select 'step', id, null, customer_id, null from step
    union all
    select 'access', null, null, null, current_setting('meterstone.access',
      true)`.execute(); // sent at once, so that the timeline's counter is locked after it
  const lines = meta.sandbox ? [...records.activities.map(activityLine), ...events.map(webhookLine)] : [];
  const [rows] = await Promise.all([
    written,
    writeTimeline(db, { organizationId: meta.organizationId, at: meta.now, realNow: meta.realNow }, lines),
  ]);
  const customers = new Map(rows.flatMap((row) => (row.what === 'step' ? [[row.id, row.customer_id] as const] : [])));
  return {
    deliveries: rows.flatMap((row) =>
      row.what === 'delivery' ? [{ id: row.id, webhook_endpoint_id: row.webhook_endpoint_id }] : [],
    ),
    steps: steps.map(({ id, dueAt }) => ({ id, dueNow: dueAt === undefined, customerId: customers.get(id) ?? null })),
    jobs,
    keysChanged,
    accessChanges: rows.flatMap((row) => (row.what === 'access' ? scopesOf(row.access) : [])),
  };
}

type WrittenRow =
  | { what: 'delivery'; id: string; webhook_endpoint_id: WebhookEndpointId }
  | { what: 'step'; id: string; customer_id: CustomerId | null }
  | { what: 'access'; access: string | null };

async function readAccessChanges(db: Db): Promise<string[]> {
  const [row] = await db<{ access: string | null }[]>`select current_setting('meterstone.access', true) as access`;
  return scopesOf(row!.access);
}

/** Scopes as `tell_access` returns them, each between two separators. */
const scopesOf = (told: string | null): string[] => (told ?? '').split('\x1f').filter((scope) => scope !== '');
