import type { Temporal } from 'temporal-polyfill';
import { periodAfter, periodHolding } from '../../../engine/calendar/grid.ts';
import { earlier, type Instant } from '../../../engine/calendar/instants.ts';
import { dayEnd, dayStart, localDate } from '../../../engine/calendar/local-day.ts';
import { gridsOf, type PlanTerms, type SubscriptionTerms } from '../../../engine/calendar/terms.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { FixedChargeId, PlanId, SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { StepPayload } from '../../../steps.ts';
import type { FixedChargeRow } from './queries.ts';
import { insertUnits, type NewUnits } from './writes.ts';

/** Name of the owed work that bills changes of units at once. */
const BILL_FIXED_CHARGES_STEP = 'bill-fixed-charges';

export type BillFixedChargesStep = StepPayload<typeof BILL_FIXED_CHARGES_STEP>;

/** A fixed charge whose units are new. */
export interface UnitsChange {
  fixedCharge: Pick<FixedChargeRow, 'id' | 'units' | 'pay_in_advance'>;
  isImmediate: boolean;
}

/**
 * Records the units with which a subscription starts: of each fixed charge of its plan that has no record of that local
 * day, a second after the start, but still on its day. Counts units of its own.
 *
 * Rule: fixed-charges.md#unit-records.
 */
export async function recordStartUnits(
  ctx: Context,
  subscription: { id: SubscriptionId; plan_id: PlanId },
  startedAt: Instant,
  zone: string,
): Promise<void> {
  const day = localDate(startedAt, zone);
  const end = dayEnd(day, zone);
  const missing = await ctx.db<{ fixed_charge_id: FixedChargeId; units: Decimal }[]>`
    select f.id as fixed_charge_id, coalesce(own.units, f.units) as units from fixed_charges f
    left join fixed_charge_units_overrides own on own.organization_id = f.organization_id
      and own.subscription_id = ${subscription.id} and own.fixed_charge_id = f.id
    where f.organization_id = ${ctx.organizationId} and f.plan_id = ${subscription.plan_id} and f.deleted_at is null
      and not exists (
        select from fixed_charge_units record
        where record.organization_id = f.organization_id and record.subscription_id = ${subscription.id}
          and record.fixed_charge_id = f.id and record.effective_at >= ${dayStart(day, zone)}
          and record.effective_at < ${end})
    order by f.created_at, f.id`;
  const effectiveAt = earlier(startedAt.add({ seconds: 1 }), end.subtract({ seconds: 1 }));
  await insertUnits(
    ctx,
    missing.map((each) => ({ ...each, id: newId(), subscription_id: subscription.id, effective_at: effectiveAt })),
    ctx.now(),
  );
}

interface RunningSubscription extends SubscriptionTerms {
  id: SubscriptionId;
  status: 'active' | 'incomplete';
  zone: string;
  /** Fixed charges of which it has units of its own. */
  overridden: string[];
}

/**
 * Follows new units of fixed charges in the subscriptions of their plan that run and have none of their own: they hold
 * at once, or from the next fixed-charges period on. What is paid in advance and holds at once owes an invoice per
 * subscription.
 *
 * @param bills whether that invoice is made
 * Rules: fixed-charges.md#unit-records, fixed-charges.md#change-inside-a-period.
 */
export async function followUnits(
  ctx: Context,
  plan: PlanTerms & { id: PlanId },
  changes: readonly UnitsChange[],
  { bills }: { bills: boolean },
): Promise<void> {
  if (changes.length === 0) return;
  const running = await listRunning(ctx, plan.id);
  const records = running.flatMap((subscription) => {
    const own = changes.filter(({ fixedCharge }) => !subscription.overridden.includes(fixedCharge.id));
    return unitsFrom(ctx, plan, subscription, own, { bills });
  });
  await insertUnits(ctx, records, ctx.now());
}

/** As followUnits, for one subscription, whatever its own units. */
export async function changeUnits(
  ctx: Context,
  plan: PlanTerms,
  subscription: SubscriptionTerms & { id: SubscriptionId; status: string; zone: string },
  changes: readonly UnitsChange[],
  { bills }: { bills: boolean },
): Promise<void> {
  await insertUnits(ctx, unitsFrom(ctx, plan, subscription, changes, { bills }), ctx.now());
}

/** The records that changes make for a subscription; owes the invoice of what is billed at once. */
function unitsFrom(
  ctx: Context,
  plan: PlanTerms,
  subscription: SubscriptionTerms & { id: SubscriptionId; status: string; zone: string },
  changes: readonly UnitsChange[],
  { bills }: { bills: boolean },
): NewUnits[] {
  const isActive = subscription.status === 'active';
  if (changes.length === 0 || !(isActive || subscription.status === 'incomplete')) return [];
  const next = nextPeriodStart(plan, subscription, subscription.zone, ctx.now());
  const records = changes.map(({ fixedCharge, isImmediate }) => ({
    id: newId(),
    subscription_id: subscription.id,
    fixed_charge_id: fixedCharge.id,
    units: fixedCharge.units,
    effective_at: isImmediate && isActive ? ctx.now() : next,
  }));
  const billed = records.filter((_record, index) => {
    const { fixedCharge, isImmediate } = changes[index]!;
    return isImmediate && fixedCharge.pay_in_advance;
  });
  if (!bills || !isActive || billed.length === 0) return records;
  const payload: BillFixedChargesStep = {
    subscription_id: subscription.id,
    fixed_charge_ids: billed.map(({ fixed_charge_id }) => fixed_charge_id),
    record_ids: billed.map(({ id }) => id),
    at: ctx.now().toString(),
  };
  ctx.after({ step: BILL_FIXED_CHARGES_STEP, payload });
  return records;
}

/** First instant of the fixed-charges period after the one in progress. */
function nextPeriodStart(
  plan: PlanTerms,
  subscription: SubscriptionTerms,
  zone: string,
  now: Temporal.Instant,
): Temporal.Instant {
  const { fixedCharges } = gridsOf(plan, subscription, zone);
  return dayStart(periodAfter(fixedCharges, periodHolding(fixedCharges, localDate(now, zone))).first, zone);
}

const listRunning = ({ db, organizationId }: Scope, planId: PlanId) => db<RunningSubscription[]>`
  select s.id, s.status, s.billing_time, s.subscription_at, s.started_at, s.terminated_at,
    coalesce(customer.timezone, home.timezone) as zone,
    array(select own.fixed_charge_id::text from fixed_charge_units_overrides own
      where own.organization_id = s.organization_id and own.subscription_id = s.id) as overridden
  from subscriptions s
  join customers customer on customer.organization_id = s.organization_id and customer.id = s.customer_id
  join billing_entities home on home.organization_id = s.organization_id and home.id = customer.billing_entity_id
  where s.organization_id = ${organizationId} and s.plan_id = ${planId} and s.status in ('active', 'incomplete')
  order by s.id`;
