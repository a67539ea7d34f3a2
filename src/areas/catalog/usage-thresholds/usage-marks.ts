import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { CustomerId, OrganizationId, PlanId, SubscriptionId } from '../../../platform/ids.ts';
import type { Page, Reach } from '../../../platform/periodic-job.ts';

/** The periodic job that treats marks. */
export const USAGE_ACTIVITY = 'usage-activity';

/** How many subscriptions one change has evaluated right away; a plan may have thousands, which wait for the tick. */
const MOST_NUDGED = 100;

/**
 * Which subscriptions a mark is set on: some records, the active ones of an external id, or those of a plan and its
 * overrides.
 */
export type MarkedSubscriptions = { ids: readonly string[] } | { external_id: string } | { plan_id: PlanId };

/**
 * Requests an evaluation of the usage of active subscriptions, because their alerts or thresholds changed: at once in
 * real time, at the next tick under a test clock. Rules: periodic-jobs.md#usage-activity, alerts.md#evaluation.
 */
export async function markUsage(ctx: Context, subscriptions: MarkedSubscriptions): Promise<void> {
  const { db, organizationId } = ctx;
  const marked = await db<{ id: string; customer_id: CustomerId }[]>`
    with marked as (
      insert into usage_marks (id, organization_id, subscription_id, marked_at)
      select gen_random_uuid(), s.organization_id, s.id, ${ctx.now()}
      from subscriptions s
      where s.organization_id = ${organizationId} and s.status = 'active' and ${matching(db, subscriptions)}
      returning subscription_id)
    select s.id, s.customer_id
    from marked
    join subscriptions s on s.organization_id = ${organizationId} and s.id = marked.subscription_id`;
  for (const { id, customer_id } of marked.slice(0, MOST_NUDGED)) {
    ctx.after({
      nudge: 'periodic.work',
      payload: {
        job: USAGE_ACTIVITY,
        customer_key: customer_id,
        at: ctx.now().toString(),
        item: { subscription_id: id },
      },
    });
  }
}

function matching(db: Db, subscriptions: MarkedSubscriptions) {
  if ('ids' in subscriptions) return db`s.id = any (${subscriptions.ids}::uuid[])`;
  if ('external_id' in subscriptions) return db`s.external_id = ${subscriptions.external_id}`;
  return db`s.plan_id in (
    select plan.id from plans plan
    where plan.organization_id = s.organization_id
      and (plan.id = ${subscriptions.plan_id} or plan.parent_id = ${subscriptions.plan_id}))`;
}

export interface MarkToSet {
  organization_id: OrganizationId;
  subscription_id: SubscriptionId;
  at: string;
}

/**
 * Marks the subscriptions that are watched: those with an alert, and those with a threshold that applies. The others
 * need no look. `at` is the organization's own time.
 *
 * @returns what was marked, and the customers whose subscriptions these are
 */
export const markWatched = (db: Db, marks: readonly MarkToSet[]) => db<
  { organization_id: OrganizationId; subscription_id: SubscriptionId; customer_key: string }[]
>`
  with marked as (
    insert into usage_marks (id, organization_id, subscription_id, marked_at)
    select gen_random_uuid(), s.organization_id, s.id, mark.at
    from jsonb_to_recordset(${json(marks)}::jsonb) as mark (organization_id uuid, subscription_id uuid, at timestamptz)
    join subscriptions s on s.organization_id = mark.organization_id and s.id = mark.subscription_id
    join plans plan on plan.organization_id = s.organization_id and plan.id = s.plan_id
    where s.status = 'active' and ${isWatched(db)}
    returning organization_id, subscription_id)
  select marked.*, s.customer_id as customer_key
  from marked
  join subscriptions s on s.organization_id = marked.organization_id and s.id = marked.subscription_id`;

/** Whether a subscription `s` of a `plan` has an alert, or a threshold that applies. */
export const isWatched = (db: Db) => db`
  (exists (select from alerts alert
    where alert.organization_id = s.organization_id and alert.external_subscription_id = s.external_id
      and alert.deleted_at is null)
  or not s.progressive_billing_disabled and (
    exists (select from usage_thresholds threshold
      where threshold.organization_id = s.organization_id and threshold.subscription_id = s.id
        and threshold.deleted_at is null)
    or exists (select from usage_thresholds threshold
      where threshold.organization_id = s.organization_id and threshold.plan_id in (plan.id, plan.parent_id)
        and threshold.deleted_at is null)))`;

/** Current marks of a subscription. */
export const listMarks = ({ db, organizationId }: Scope, subscriptionId: SubscriptionId) => db<{ id: string }[]>`
  select id from usage_marks where organization_id = ${organizationId} and subscription_id = ${subscriptionId}`;

export const dropMarks = ({ db, organizationId }: Scope, ids: readonly string[]) => db`
  delete from usage_marks where organization_id = ${organizationId} and id = any (${ids}::uuid[])`;

/** The first mark of an organization. */
export async function earliestMark({ db, organizationId }: Scope): Promise<Temporal.Instant | null> {
  const [row] = await db<{ at: Temporal.Instant | null }[]>`
    select min(marked_at) as at from usage_marks where organization_id = ${organizationId}`;
  return row!.at;
}

/** Subscriptions with a mark set at or before `at`, the longest marked first. */
export const listMarked = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`marked.organization_id`, db`marked.since, marked.subscription_id`);
  return db<({ organization_id: OrganizationId; sandbox: boolean; subscription_id: SubscriptionId } & Placed)[]>`
    select marked.organization_id, organization.sandbox, marked.subscription_id, ${rows.place}
    from (
      select mark.organization_id, mark.subscription_id, min(mark.marked_at) as since
      from usage_marks mark
      where mark.marked_at <= ${at} and ${inReach(db, reach, db`mark.organization_id`)}
      group by mark.organization_id, mark.subscription_id
    ) marked
    join organizations organization on organization.id = marked.organization_id
    where ${rows.isBehind}
    ${rows.order}`;
};
