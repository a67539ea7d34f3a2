import type { Temporal } from 'temporal-polyfill';
import type { Activity, WebhookEvent } from '../context.ts';
import type { Db } from '../db/connect.ts';
import { json } from '../db/values.ts';
import type { CustomerId, ExternalCustomerId, OrganizationId } from '../ids.ts';

/** One line of a test clock's timeline (test-clocks.md#timeline). */
export interface TimelineLine {
  kind: 'clock' | 'job' | 'activity' | 'webhook' | 'payment';
  name: string;
  resource_type?: string | null;
  resource_id?: string | null;
  external_customer_id?: ExternalCustomerId | null;
  /** Instead of the external id, which is then looked up. */
  customer_id?: CustomerId | null;
  summary: object;
}

/**
 * Writes lines in the caller's transaction, numbered in the order of commits, if the organization has a test clock. It
 * locks the organization's counter until the commit, so it must be the last lock of a transaction.
 */
export async function writeTimeline(
  db: Db,
  meta: { organizationId: OrganizationId; at: Temporal.Instant; realNow: Temporal.Instant },
  lines: TimelineLine[],
): Promise<void> {
  if (lines.length === 0) return;
  const rows = lines.map((line, index) => ({ position: index + 1, ...line }));
  await db`
    with counter as (
      update test_clock_timelines set last = last + ${lines.length}::int
      where organization_id = ${meta.organizationId} and clock_deleted_at is null
      returning last - ${lines.length}::int as base
    ), stored as (
      insert into test_clock_timeline (organization_id, sequence, at, kind, name, resource_type, resource_id,
        external_customer_id, summary, created_at)
      select ${meta.organizationId}::uuid, counter.base + row.position, ${meta.at}, row.kind, row.name,
        row.resource_type, row.resource_id, coalesce(row.external_customer_id, customer.external_id), row.summary,
        ${meta.realNow}
      from counter, jsonb_to_recordset(${json(rows)}::jsonb) as row (position int, kind text, name text,
        resource_type text,
        resource_id uuid, external_customer_id text, customer_id uuid, summary jsonb)
      left join customers customer
        on customer.organization_id = ${meta.organizationId} and customer.id = row.customer_id
      returning true
    )
    select count(*) from stored`;
}

export const activityLine = (activity: Activity): TimelineLine => ({
  kind: 'activity',
  name: activity.type,
  resource_type: activity.resourceType,
  resource_id: activity.resourceId,
  external_customer_id: activity.externalCustomerId ?? null,
  summary: summaryOf(activity.object),
});

export const webhookLine = (event: WebhookEvent & { id: string }): TimelineLine => ({
  kind: 'webhook',
  name: event.type,
  resource_type: pascalCase(event.objectType),
  resource_id: event.objectId,
  customer_id: event.customerId ?? null,
  summary: { event_id: event.id },
});

/** The fields of a record shown in one line. */
const SUMMARY_KEYS = [
  'number',
  'external_id',
  'code',
  'plan_code',
  'invoice_type',
  'status',
  'payment_status',
  'total_amount_cents',
  'amount_cents',
  'currency',
];

function summaryOf(object: object): object {
  const record = object as Record<string, unknown>;
  return Object.fromEntries(
    SUMMARY_KEYS.filter((key) => record[key] !== undefined && record[key] !== null).map((key) => [key, record[key]]),
  );
}

const pascalCase = (words: string): string =>
  words.replace(/(^|_)([a-z])/g, (_whole, _gap, letter: string) => letter.toUpperCase());
