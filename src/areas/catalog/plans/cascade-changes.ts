import { isDeepStrictEqual } from 'node:util';
import type { Temporal } from 'temporal-polyfill';
import type { Properties } from '../../../engine/pricing/charge-model.ts';
import type { ChargeModelName } from '../../../engine/pricing/charge-models.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { ChargeId, PlanId } from '../../../platform/ids.ts';
import type { ChargeShown } from '../charges/show-charges.ts';
import type { PlanShown } from './show-plans.ts';

/** The parts of a charge that its copies follow, as JSON. */
export interface FollowedCharge {
  charge_model: ChargeModelName;
  code: string;
  properties: Properties;
  conversion_rate: string | null;
  filters: FollowedFilter[];
}

export interface FollowedFilter {
  values: Record<string, string[]>;
  invoice_display_name: string | null;
  properties: Properties;
}

/** One change of a plan that its overrides follow. */
export type PlanChange =
  | { kind: 'amount'; from: number; to: number }
  | { kind: 'charge_added'; charge_id: ChargeId }
  | { kind: 'charge_updated'; charge_id: ChargeId; from: FollowedCharge; to: FollowedCharge }
  | { kind: 'charge_removed'; charge_id: ChargeId };

/**
 * Owes changes of a plan to its overrides: stores rows for each override in order, and owes a step that applies them.
 * Rule: plans.md#overrides-and-cascade "cascade".
 */
export async function cascadeChanges(ctx: Context, before: PlanShown, after: PlanShown): Promise<void> {
  const changes = changesBetween(before, after);
  if (changes.length === 0) return;
  const copies = await insertCascades(ctx, before.plan.id, { changes, now: ctx.now() });
  for (const { plan_id } of copies) ctx.after({ step: 'cascade-plan-changes', payload: { plan_id } });
}

function changesBetween(before: PlanShown, after: PlanShown): PlanChange[] {
  const [from, to] = [before.plan.amount_cents, after.plan.amount_cents];
  const former = new Map(before.charges.map((shown) => [shown.charge.id, shown]));
  const kept = new Set(after.charges.map(({ charge }) => charge.id));
  return [
    ...(from === to ? [] : [{ kind: 'amount' as const, from, to }]),
    ...before.charges
      .filter(({ charge }) => !kept.has(charge.id))
      .map(({ charge }) => ({ kind: 'charge_removed' as const, charge_id: charge.id })),
    ...after.charges.flatMap((shown) => changeOfCharge(former.get(shown.charge.id), shown)),
  ];
}

function changeOfCharge(before: ChargeShown | undefined, after: ChargeShown): PlanChange[] {
  const charge_id = after.charge.id;
  if (before === undefined) return [{ kind: 'charge_added', charge_id }];
  const [from, to] = [followedOf(before), followedOf(after)];
  return isDeepStrictEqual(from, to) ? [] : [{ kind: 'charge_updated', charge_id, from, to }];
}

const followedOf = ({ charge, filters }: ChargeShown): FollowedCharge => ({
  charge_model: charge.charge_model,
  code: charge.code,
  properties: charge.properties,
  conversion_rate: charge.conversion_rate?.toFixed() ?? null,
  filters: filters.map(({ values, invoice_display_name, properties }) => ({
    values: values as Record<string, string[]>,
    invoice_display_name,
    properties,
  })),
});

const insertCascades = (
  { db, organizationId }: Scope,
  planId: PlanId,
  { changes, now }: { changes: readonly PlanChange[]; now: Temporal.Instant },
) => db<{ plan_id: PlanId }[]>`
  with cascade as (
    insert into plan_cascades (organization_id, plan_id, change, created_at)
    select copy.organization_id, copy.id, change.value, ${now}
    from plans copy
    cross join jsonb_array_elements(${json(changes)}::jsonb) with ordinality as change (value, position)
    where copy.organization_id = ${organizationId} and copy.parent_id = ${planId} and copy.deleted_at is null
    order by copy.id, change.position
    returning plan_id
  )
  select distinct plan_id from cascade`;
