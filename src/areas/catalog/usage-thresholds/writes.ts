import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { PlanId, SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { UsageThresholdsInput } from './schema.ts';

/** Whose thresholds: a plan's or one subscription's. */
export type ThresholdOwner = { plan_id: PlanId } | { subscription_id: SubscriptionId };

const owned = (db: Db, owner: ThresholdOwner) =>
  'plan_id' in owner ? db`plan_id = ${owner.plan_id}` : db`subscription_id = ${owner.subscription_id}`;

/**
 * Replaces the thresholds of a plan or subscription: those with the same amount and kind are kept, so that they stay
 * passed; the others end. Rule: progressive-billing.md#usage-thresholds.
 */
export async function replaceThresholds(
  { db, organizationId }: Scope,
  owner: ThresholdOwner,
  { thresholds, now }: { thresholds: UsageThresholdsInput; now: Temporal.Instant },
): Promise<void> {
  const given = thresholds.map((threshold) => ({ id: newId(), ...threshold }));
  const rows = db`
    jsonb_to_recordset(${json(given)}::jsonb)
      as given (id uuid, amount_cents bigint, threshold_display_name text, recurring boolean)`;
  // Ended first: there may be one recurring threshold only.
  await db`
    update usage_thresholds threshold set deleted_at = ${now}, updated_at = ${now}
    where organization_id = ${organizationId} and ${owned(db, owner)} and deleted_at is null
      and not exists (select from ${rows}
        where given.amount_cents = threshold.amount_cents and given.recurring = threshold.recurring)`;
  if (given.length === 0) return;
  const [planId, subscriptionId] = 'plan_id' in owner ? [owner.plan_id, null] : [null, owner.subscription_id];
  const key =
    planId === null
      ? db`(organization_id, subscription_id, amount_cents, recurring)
        where deleted_at is null and subscription_id is not null`
      : db`(organization_id, plan_id, amount_cents, recurring) where deleted_at is null and plan_id is not null`;
  await db`
    insert into usage_thresholds as threshold (id, organization_id, plan_id, subscription_id, amount_cents,
      threshold_display_name, recurring, created_at, updated_at)
    select id, ${organizationId}::uuid, ${planId}::uuid, ${subscriptionId}::uuid, amount_cents,
      threshold_display_name, recurring, ${now}, ${now}
    from ${rows}
    on conflict ${key} do update set threshold_display_name = excluded.threshold_display_name,
      updated_at = excluded.updated_at
      where threshold.threshold_display_name is distinct from excluded.threshold_display_name`;
}
