import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Policy, UsagePolicies } from './schema.ts';

/** What an override says is what its plan says. */
export const policyOfPlan = (db: Db, organizationId: Fragment, planId: Fragment, kind: keyof UsagePolicies) => db`
  (select coalesce(parent.usage_policies, plan.usage_policies) ->> ${kind}
   from plans plan left join plans parent on parent.organization_id = plan.organization_id
     and parent.id = plan.parent_id
   where plan.organization_id = ${organizationId} and plan.id = ${planId})`;

/** What the plan of the newest subscription of an external id, or else the organization, says. */
export async function findPolicy(
  db: Db,
  organizationId: string,
  externalSubscriptionId: string,
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
