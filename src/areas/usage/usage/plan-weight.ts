import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalCustomerId } from '../../../platform/ids.ts';

/** The greatest weight that is counted: a heavier read waits for its turn anyway. */
export const MOST_COUNTED = 1000;

/**
 * The weight of reading the usage of an active subscription, or of all of a customer, before anything is counted:
 * charges and filters of its plan, as far as `MOST_COUNTED`. One statement.
 */
export async function planWeight(
  { db, organizationId }: Scope,
  { externalCustomerId, externalId }: { externalCustomerId: ExternalCustomerId; externalId?: string },
): Promise<number> {
  const [row] = await db<{ weight: number }[]>`
    select count(*)::int as weight from (
      select from customers customer
      join subscriptions s on s.organization_id = customer.organization_id and s.customer_id = customer.id
      join charges charge on charge.organization_id = s.organization_id and charge.plan_id = s.plan_id
        and charge.deleted_at is null
      left join charge_filters filter on filter.organization_id = charge.organization_id
        and filter.charge_id = charge.id
        and filter.deleted_at is null
      where customer.organization_id = ${organizationId} and customer.external_id = ${externalCustomerId}
        and customer.deleted_at is null and s.status = 'active'
        and (${externalId ?? null}::text is null or s.external_id = ${externalId ?? null})
      limit ${MOST_COUNTED}
    ) as counted`;
  return row!.weight;
}
