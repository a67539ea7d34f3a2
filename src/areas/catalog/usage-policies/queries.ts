import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalSubscriptionId } from '../../../platform/ids.ts';
import type { Policy, UsagePolicies } from './schema.ts';

/** The policies of the plan `alias`, as SQL; those of an override are its plan's. */
export const policiesOfPlan = (db: Db, alias: string) => {
  const plan = db(alias);
  return db`coalesce(${plan}.usage_policies, (
    select parent.usage_policies from plans parent
    where parent.organization_id = ${plan}.organization_id and parent.id = ${plan}.parent_id))`;
};

/** The policy of the newest subscription's plan of an external id, else the organization's. */
export async function findPolicy(
  { db, organizationId }: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
  kind: keyof UsagePolicies,
): Promise<Policy | null> {
  const [row] = await db<{ policy: Policy | null }[]>`
    select coalesce((
      select ${policiesOfPlan(db, 'plan')} ->> ${kind}
      from subscriptions s
      join plans plan on plan.organization_id = s.organization_id and plan.id = s.plan_id
      where s.organization_id = ${organizationId} and s.external_id = ${externalSubscriptionId}
      order by s.status = 'active' desc, s.created_at desc, s.id desc limit 1
    ), usage_policies ->> ${kind}) as policy
    from organizations where id = ${organizationId}`;
  return row?.policy ?? null;
}

/**
 * The policy under which an event came late for subscriptions of a plan, as SQL: that of the plan, else of the
 * organization, as they were then. Rule: event-corrections.md#late-events.
 */
export const lateEventsPolicy = (
  db: Db,
  organizationId: Fragment,
  { planId, eventId }: { planId: Fragment; eventId: Fragment },
) => {
  const thenOf = (owner: Fragment) => db`
    select held.policy from late_event_policies held
    where held.organization_id = ${organizationId} and held.plan_id is not distinct from (${owner})
      and held.from_id < ${eventId}
    order by held.from_id desc limit 1`;
  const plan = db`
    select coalesce(own.parent_id, own.id) from plans own
    where own.organization_id = ${organizationId} and own.id = ${planId}`;
  return db`coalesce((${thenOf(plan)}), (${thenOf(db`null::uuid`)}), 'ignore')`;
};
