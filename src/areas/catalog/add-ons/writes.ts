import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import type { AddOnId, PlanId } from '../../../platform/ids.ts';

/** Deletes an add-on with the fixed charges made from it; their fees stay. Rule: one-off-invoices.md. */
export const deleteAddOnRow = ({ db, organizationId }: Scope, id: AddOnId, now: Temporal.Instant) => db<
  { plan_id: PlanId }[]
>`
  with gone as (
    update add_ons set deleted_at = ${now}, updated_at = ${now}
    where organization_id = ${organizationId} and id = ${id}
  )
  update fixed_charges set deleted_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and add_on_id = ${id} and deleted_at is null
  returning plan_id`;
