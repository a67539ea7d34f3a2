import { Temporal } from 'temporal-polyfill';
import { isAfter } from '../../../../engine/calendar/instants.ts';
import type { Currency } from '../../../../engine/money/currency.ts';
import type { OrderType } from '../../../../engine/quotes/quote-states.ts';
import type { Context } from '../../../../platform/context.ts';
import { findAddOns } from '../../../catalog/add-ons/queries.ts';
import type { DealParties } from '../deal.ts';
import { zoneOf } from '../deal.ts';
import { couponFaults } from './coupon-rules.ts';
import type { AddOnItem, BillingItems } from './item-types.ts';
import { planFaults } from './plan-rules.ts';
import { addFault, type Faults } from './read-fields.ts';
import { addOnTerms, isTotalRight } from './terms-of-items.ts';
import { walletFaults } from './wallet-rules.ts';

/** A deal as an approval checks it. */
export interface Deal extends DealParties {
  orderType: OrderType;
  currency: Currency;
  zone: string;
}

/**
 * Faults that prevent the approval of a deal: records that are gone or have changed, and terms that cannot be billed.
 *
 * @returns codes by `billing_items.<path>`, `{}` when nothing is wrong
 * Rule: quotes.md#billing-items "business codes".
 */
export async function businessFaults(
  ctx: Context,
  items: BillingItems,
  parties: DealParties & { orderType: OrderType; currency: Currency },
): Promise<Faults> {
  const deal: Deal = { ...parties, zone: zoneOf(parties.customer) };
  const faults: Faults = {};
  if (deal.orderType === 'subscription_amendment' && deal.target?.status !== 'active')
    addFault(faults, 'subscription', 'subscription_not_active');
  await addOnFaults(ctx, items.addOns ?? [], faults);
  await planFaults(ctx, items.plans ?? [], deal, faults);
  await couponFaults(ctx, items.coupons ?? [], deal, faults);
  await walletFaults(ctx, items.walletCredits ?? [], deal, faults);
  return faults;
}

async function addOnFaults(ctx: Context, items: readonly AddOnItem[], faults: Faults): Promise<void> {
  if (items.length === 0) return;
  const found = await findAddOns(ctx, { ids: items.map(({ id }) => id), codes: [] });
  const codes = new Map(found.map(({ id, code }) => [id, code]));
  for (const [index, item] of items.entries()) {
    const path = `billing_items.addOns.${index}`;
    const code = codes.get(item.id);
    if (code === undefined) addFault(faults, `${path}.id`, 'add_on_not_found');
    else if (code !== item.payload.code) addFault(faults, `${path}.payload.code`, 'add_on_not_found');
    if (!isTotalRight(item)) {
      const place = item.overrides?.totalAmountCents === undefined ? 'payload' : 'overrides';
      addFault(faults, `${path}.${place}.totalAmountCents`, 'invalid_value');
    }
    windowFaults(item, path, faults);
  }
}

/** The time that an add-on is for: both ends or none, in order. */
function windowFaults(item: AddOnItem, path: string, faults: Faults): void {
  const { fromDatetime: from, toDatetime: to } = addOnTerms(item);
  const placeOf = (field: 'fromDatetime' | 'toDatetime') =>
    `${path}.${item.overrides?.[field] === undefined ? 'payload' : 'overrides'}.${field}`;
  if (from !== undefined && to === undefined) addFault(faults, placeOf('toDatetime'), 'value_is_mandatory');
  if (from === undefined && to !== undefined) addFault(faults, placeOf('fromDatetime'), 'value_is_mandatory');
  if (from !== undefined && to !== undefined && isAfter(Temporal.Instant.from(from), Temporal.Instant.from(to)))
    addFault(faults, placeOf('toDatetime'), 'invalid_date_range');
}
