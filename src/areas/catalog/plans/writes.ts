import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { PlanId } from '../../../platform/ids.ts';
import type { PlanDefinition } from './definition.ts';
import type { Metadata } from './metadata.ts';
import type { PlanRow } from './queries.ts';

/** An override has none of its own: those of its plan hold, as they are at the time. */
const ownPolicies = ({ parent_id, usage_policies }: Pick<PlanRow, 'parent_id' | 'usage_policies'>) =>
  parent_id === null ? usage_policies : null;

export const insertPlan = ({ db, organizationId }: Scope, { id, created_at, ...plan }: PlanRow) => db`
  insert into plans (id, organization_id, parent_id, code, name, invoice_display_name, description, interval,
    pay_in_advance, amount_cents, amount_currency, trial_period, bill_charges_monthly, bill_fixed_charges_monthly,
    metadata, usage_policies, created_at, updated_at)
  values (${id}, ${organizationId}, ${plan.parent_id}, ${plan.code}, ${plan.name}, ${plan.invoice_display_name},
    ${plan.description}, ${plan.interval}, ${plan.pay_in_advance}, ${plan.amount_cents}, ${plan.amount_currency},
    ${plan.trial_period}, ${plan.bill_charges_monthly}, ${plan.bill_fixed_charges_monthly},
    ${json(plan.metadata)}, ${json(ownPolicies(plan))}, ${created_at}, ${created_at})`;

export const updatePlanRow = (
  { db, organizationId }: Scope,
  { id, parent_id }: Pick<PlanRow, 'id' | 'parent_id'>,
  { plan, now }: { plan: PlanDefinition; now: Temporal.Instant },
) => db`
  update plans
  set code = ${plan.code}, name = ${plan.name}, invoice_display_name = ${plan.invoice_display_name},
    description = ${plan.description}, interval = ${plan.interval}, pay_in_advance = ${plan.pay_in_advance},
    amount_cents = ${plan.amount_cents}, amount_currency = ${plan.amount_currency}, trial_period = ${plan.trial_period},
    bill_charges_monthly = ${plan.bill_charges_monthly},
    bill_fixed_charges_monthly = ${plan.bill_fixed_charges_monthly}, metadata = ${json(plan.metadata)},
    usage_policies = ${json(ownPolicies({ ...plan, parent_id }))}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;

/** Overrides keep the code of their plan. */
export const renameOverrides = (
  { db, organizationId }: Scope,
  id: PlanId,
  { code, now }: { code: string; now: Temporal.Instant },
) => db`
  update plans set code = ${code}, updated_at = ${now} where organization_id = ${organizationId} and parent_id = ${id}`;

export const updatePlanMetadata = (
  { db, organizationId }: Scope,
  id: PlanId,
  { metadata, now }: { metadata: Metadata | null; now: Temporal.Instant },
) => db`
  update plans set metadata = ${json(metadata)}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;

/** Marks a plan and its overrides as about to be deleted. */
export const markPendingDeletion = ({ db, organizationId }: Scope, id: PlanId, now: Temporal.Instant) => db`
  update plans set pending_deletion = true, updated_at = ${now}
  where organization_id = ${organizationId} and (id = ${id} or parent_id = ${id}) and deleted_at is null`;

/** Marks a plan and its overrides deleted. */
export const markPlanDeleted = ({ db, organizationId }: Scope, id: PlanId, now: Temporal.Instant) => db`
  update plans set deleted_at = ${now}, pending_deletion = false, updated_at = ${now}
  where organization_id = ${organizationId} and (id = ${id} or parent_id = ${id}) and deleted_at is null`;
