import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { isUnitsOnly, overrideFixedCharges, overrideUnits } from '../../catalog/fixed-charges/overrides.ts';
import { getFixedChargeByCode } from '../../catalog/fixed-charges/queries.ts';
import type { FixedChargeOverride, SubscriptionQuery } from '../../catalog/fixed-charges/schema.ts';
import { listPlansById } from '../../catalog/plans/queries.ts';
import { recordSubscription } from '../subscriptions/announce.ts';
import { lockRecords } from '../subscriptions/commands/terminate.ts';
import { lockPlansOf, ownPlan } from '../subscriptions/overrides/override-plan.ts';
import { getShown } from '../subscriptions/queries.ts';
import { showSubscriptionFixedCharge } from './reads.ts';

interface Input {
  external_id: string;
  fixed_charge_code: string;
  query: SubscriptionQuery;
  body: FixedChargeOverride;
}

/**
 * Overrides a fixed charge for one subscription: units alone are stored with the subscription, other fields in an
 * override of its plan.
 *
 * @throws Refusal 404 subscription, fixed_charge, tax; 403 cannot_override_charge_model; 422 by field, base
 * Rule: fixed-charges.md#override.
 */
export async function overrideSubscriptionFixedCharge(ctx: Context, input: Input) {
  const { external_id, fixed_charge_code, query, body } = input;
  await lockPlansOf(ctx, external_id);
  const subscription = (await lockRecords(ctx, external_id)).findLast(
    ({ status }) => status === query.subscription_status,
  );
  if (!subscription) throw refuse.notFound('subscription');
  if (subscription.status === 'incomplete') throw refuse.invalid({ base: ['subscription_incomplete'] });
  const before = await getShown(ctx, subscription.id);
  const [plan] = await listPlansById(ctx, [subscription.plan_id]);
  const fixedCharge = await getFixedChargeByCode(ctx, plan!.id, fixed_charge_code);
  const elements = [{ id: fixedCharge.id, ...body }];
  const { charge_model: _model, ...rest } = body;

  if (plan!.parent_id === null && isUnitsOnly([rest]))
    await overrideUnits(ctx, plan!, { ...subscription, zone: before.zone }, elements);
  else await overrideFixedCharges(ctx, (await ownPlan(ctx, subscription)).plan, elements);
  await recordSubscription(ctx, 'subscription.updated', subscription.id, before);
  return showSubscriptionFixedCharge(ctx, input);
}
