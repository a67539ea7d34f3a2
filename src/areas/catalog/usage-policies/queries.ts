import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalSubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { Policy, UsagePolicies } from './schema.ts';

/** The policy of a plan, which for an override is that of its parent plan. */
export const policyOfPlan = (db: Db, organizationId: Fragment, planId: Fragment, kind: keyof UsagePolicies) => db`
  (select coalesce(parent.usage_policies, plan.usage_policies) ->> ${kind}
   from plans plan left join plans parent on parent.organization_id = plan.organization_id
     and parent.id = plan.parent_id
   where plan.organization_id = ${organizationId} and plan.id = ${planId})`;

/** The policy of the newest subscription's plan of an external id, else the organization's. */
export async function findPolicy(
  { db, organizationId }: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
  kind: keyof UsagePolicies,
): Promise<Policy | null> {
  const [row] = await db<{ policy: Policy | null }[]>`
    select coalesce((
      select ${policyOfPlan(db, db`${organizationId}::uuid`, db`s.plan_id`, kind)}
      from subscriptions s
      where s.organization_id = ${organizationId} and s.external_id = ${externalSubscriptionId}
      order by s.status = 'active' desc, s.created_at desc, s.id desc limit 1
    ), usage_policies ->> ${kind}) as policy
    from organizations where id = ${organizationId}`;
  return row?.policy ?? null;
}

/** Whether a policy, as SQL that gives its text, does something about late events. */
export const billsLateEvents = (db: Db, policy: Fragment) => db`coalesce(${policy}, 'ignore') <> 'ignore'`;

/**
 * What holds for late events of a plan's subscriptions: rows (policy, after_id), where only events that came after
 * `after_id` are meant, since before it late events were ignored. Rule: event-corrections.md#late-events.
 */
export const lateEventsPolicy = (db: Db, organizationId: Fragment, planId: Fragment) => db`
  select coalesce(coalesce(parent.usage_policies, plan.usage_policies) ->> 'late_events',
      organization.usage_policies ->> 'late_events', 'ignore') as policy,
    greatest(plan.late_events_after, parent.late_events_after,
      case when coalesce(parent.usage_policies, plan.usage_policies) ->> 'late_events' is null
        then organization.late_events_after end) as after_id
  from plans plan
  join organizations organization on organization.id = plan.organization_id
  left join plans parent on parent.organization_id = plan.organization_id and parent.id = plan.parent_id
  where plan.organization_id = ${organizationId} and plan.id = ${planId}`;

/**
 * `late_events_after` of a row of plans that is updated, when it gets another policy: from now on if late events were
 * ignored before, with the organization's own where that held before.
 */
export const lateEventsAfter = (db: Db, policies: UsagePolicies | null) => {
  const ofOrganization = db`(
    select organization.usage_policies ->> 'late_events' from organizations organization
    where organization.id = plans.organization_id)`;
  const before = db`plans.usage_policies ->> 'late_events'`;
  const policy = db`${policies?.late_events ?? null}::text`;
  return db`
    case
      when not ${billsLateEvents(db, db`coalesce(${policy}, ${ofOrganization})`)} then late_events_after
      when not ${billsLateEvents(db, db`coalesce(${before}, ${ofOrganization})`)} then ${newId()}::uuid
      when ${before} is null then greatest(late_events_after, (
        select organization.late_events_after from organizations organization
        where organization.id = plans.organization_id))
      else late_events_after
    end`;
};
