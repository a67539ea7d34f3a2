import { isDateAfter } from '../../../../engine/calendar/instants.ts';
import { localDate } from '../../../../engine/calendar/local-day.ts';
import { dealDay } from '../../../../engine/quotes/deal-dates.ts';
import type { Context } from '../../../../platform/context.ts';
import { listPlansById } from '../../../catalog/plans/queries.ts';
import { type PlanShown, showPlans } from '../../../catalog/plans/show-plans.ts';
import { findMethod } from '../../../customers/payment-methods/queries.ts';
import type { Deal } from './check-against-catalog.ts';
import type { PlanItem } from './item-types.ts';
import { planOverridesOf } from './plan-overrides.ts';
import { addFault, type Faults } from './read-fields.ts';
import { externalIdOf } from './terms-of-items.ts';

/** Notes what is wrong with the plans of a deal. Rule: quotes.md#billing-items. */
export async function planFaults(ctx: Context, items: readonly PlanItem[], deal: Deal, faults: Faults): Promise<void> {
  if (items.length === 0) return;
  const plans = await listPlansById(
    ctx,
    items.map(({ id }) => id),
  );
  const forSale = plans.filter((plan) => !plan.deleted_at && !plan.pending_deletion && plan.parent_id === null);
  const shown = await showPlans(ctx, forSale);
  const catalog = new Map(shown.map((each) => [each.plan.id, each]));
  const externalIds = new Set<string>();
  for (const [index, item] of items.entries()) {
    const path = `billing_items.plans.${index}`;
    const found = catalog.get(item.id);
    if (!found) addFault(faults, `${path}.id`, 'plan_not_found');
    else if (found.plan.code !== item.payload.code) addFault(faults, `${path}.payload.code`, 'plan_not_found');
    else catalogFaults(item, found, { deal, path, faults });
    dateFaults(ctx, item, deal, path, faults);
    targetFaults(ctx, item, { deal, path, faults });
    const { paymentMethodId } = item.payload;
    if (paymentMethodId && !(await findMethod(ctx, deal.customer.id, paymentMethodId)))
      addFault(faults, `${path}.payload.paymentMethodId`, 'payment_method_not_found');
    const externalId = externalIdOf(item, deal.orderType);
    // A second subscription of one external id would change the plan of the first.
    if (externalId !== undefined && externalIds.has(externalId))
      addFault(faults, `${path}.payload.subscriptionExternalId`, 'invalid_value');
    if (externalId !== undefined) externalIds.add(externalId);
  }
}

/** Differences between the catalogue and the deal. */
function catalogFaults(
  item: PlanItem,
  shown: PlanShown,
  { deal, path, faults }: { deal: Deal; path: string; faults: Faults },
): void {
  const { payload, overrides } = item;
  for (const [index, { id, chargeModel }] of (payload.charges ?? []).entries()) {
    const charge = shown.charges.find((each) => each.charge.id === id)?.charge;
    const place = `${path}.payload.charges.${index}`;
    if (id !== undefined && !charge) addFault(faults, `${place}.id`, 'charge_not_found');
    if (charge && chargeModel && charge.charge_model !== chargeModel)
      addFault(faults, `${place}.chargeModel`, 'charge_model_changed');
  }
  for (const [index, { id, chargeModel }] of (payload.fixedCharges ?? []).entries()) {
    const fixed = shown.fixedCharges.find((each) => each.fixedCharge.id === id)?.fixedCharge;
    const place = `${path}.payload.fixedCharges.${index}`;
    if (id !== undefined && !fixed) addFault(faults, `${place}.id`, 'fixed_charge_not_found');
    if (fixed && chargeModel && fixed.charge_model !== chargeModel)
      addFault(faults, `${place}.chargeModel`, 'fixed_charge_model_changed');
  }
  if ((overrides?.amountCurrency ?? shown.plan.amount_currency) !== deal.currency)
    addFault(faults, `${path}.overrides.amountCurrency`, 'currencies_does_not_match');
  planOverridesOf(item, shown, `${path}.overrides`, faults);
}

/** A deal ends after today and after its start, in the customer's zone. */
function dateFaults(ctx: Context, { payload }: PlanItem, { zone }: Deal, path: string, faults: Faults): void {
  if (payload.endDate === undefined) return;
  const today = localDate(ctx.now(), zone);
  const endsOn = dealDay(payload.endDate, zone);
  if (!isDateAfter(endsOn, today)) addFault(faults, `${path}.payload.endDate`, 'invalid_date');
  if (payload.startDate !== undefined && !isDateAfter(endsOn, dealDay(payload.startDate, zone)))
    addFault(faults, `${path}.payload.endDate`, 'invalid_date_range');
}

/**
 * An amendment changes the plan of its subscription when it is executed, and neither its id, nor its start, nor its
 * billing time.
 */
function targetFaults(
  ctx: Context,
  { payload }: PlanItem,
  { deal, path, faults }: { deal: Deal; path: string; faults: Faults },
): void {
  const { target, zone } = deal;
  if (!target) return;
  if (payload.subscriptionExternalId !== undefined && payload.subscriptionExternalId !== target.external_id)
    addFault(faults, `${path}.payload.subscriptionExternalId`, 'value_is_frozen');
  if (payload.billingTime !== undefined && payload.billingTime !== target.billing_time)
    addFault(faults, `${path}.payload.billingTime`, 'value_is_frozen');
  if (payload.startDate !== undefined && isDateAfter(dealDay(payload.startDate, zone), localDate(ctx.now(), zone)))
    addFault(faults, `${path}.payload.startDate`, 'unsupported_value');
}
