import type { Temporal } from 'temporal-polyfill';
import type { CouponFrequency } from '../../../engine/credits/coupon.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { AppliedCouponId, CouponId, CustomerId, InvoiceId } from '../../../platform/ids.ts';

export interface NewAppliedCoupon {
  id: AppliedCouponId;
  customer_id: CustomerId;
  coupon_id: CouponId;
  amount_cents: number | null;
  amount_currency: string | null;
  percentage_rate: Decimal | null;
  frequency: CouponFrequency;
  frequency_duration: number | null;
}

export const insertAppliedCoupon = (
  { db, organizationId }: Scope,
  applied: NewAppliedCoupon,
  now: Temporal.Instant,
) => db`
  insert into applied_coupons (id, organization_id, customer_id, coupon_id, amount_cents, amount_currency,
    percentage_rate, frequency, frequency_duration, frequency_duration_remaining, created_at, updated_at)
  values (${applied.id}, ${organizationId}, ${applied.customer_id}, ${applied.coupon_id}, ${applied.amount_cents},
    ${applied.amount_currency}, ${applied.percentage_rate}, ${applied.frequency}, ${applied.frequency_duration},
    ${applied.frequency_duration}, ${now}, ${now})`;

/** A coupon with a currency sets that of a customer who has none. Rule: coupons.md#applying. */
export const setCurrencyOfCustomer = (
  { db, organizationId }: Scope,
  customerId: CustomerId,
  { currency, now }: { currency: string; now: Temporal.Instant },
) => db`
  update customers set currency = ${currency}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${customerId} and currency is null`;

/** Ends active applied coupons of a coupon or of a customer; ids of those that were active. */
export async function terminateAppliedCoupons(
  { db, organizationId }: Scope,
  of: { couponId: CouponId } | { customerId: CustomerId } | { id: string },
  now: Temporal.Instant,
): Promise<string[]> {
  const which =
    'couponId' in of
      ? db`coupon_id = ${of.couponId}`
      : 'customerId' in of
        ? db`customer_id = ${of.customerId}`
        : db`id = ${of.id}`;
  const ended = await db<{ id: string }[]>`
    update applied_coupons set status = 'terminated', terminated_at = ${now}, updated_at = ${now}
    where organization_id = ${organizationId} and id = any (array(
      select id from applied_coupons
      where organization_id = ${organizationId} and ${which} and status = 'active'
      order by id
      for no key update))
    returning id`;
  return ended.map(({ id }) => id);
}

/**
 * Locks the applied coupons that an invoice used after their coupons, in the same order as the deletion of a coupon.
 */
export async function lockUsesOfInvoice({ db, organizationId }: Scope, invoiceId: InvoiceId): Promise<string[]> {
  const used = await db<{ id: AppliedCouponId }[]>`
    select applied.id
    from credits credit
    join applied_coupons applied
      on applied.organization_id = credit.organization_id and applied.id = credit.applied_coupon_id
    join coupons coupon on coupon.organization_id = applied.organization_id and coupon.id = applied.coupon_id
    where credit.organization_id = ${organizationId} and credit.invoice_id = ${invoiceId}
    order by coupon.id
    for share of coupon`;
  if (used.length === 0) return [];
  const held = await db<{ id: AppliedCouponId }[]>`
    select id from applied_coupons
    where organization_id = ${organizationId} and id = any (${used.map(({ id }) => id)}::uuid[])
    order by id
    for no key update`;
  return held.map(({ id }) => id);
}

/**
 * Restores the coupons that an invoice used: it gives a period back and reactivates those that it ended while their
 * coupon is live. The rest of a `once` coupon grows by itself, because the invoice no longer counts. Rule:
 * coupons.md#voided-invoices.
 */
export const giveBack = ({ db, organizationId }: Scope, ids: readonly AppliedCouponId[], now: Temporal.Instant) => db`
  with living as (
    select applied.id,
      applied.status = 'terminated' and applied.frequency <> 'forever' and coupon.status = 'active'
        and coupon.deleted_at is null as revives
    from applied_coupons applied
    join coupons coupon on coupon.organization_id = applied.organization_id and coupon.id = applied.coupon_id
    where applied.organization_id = ${organizationId} and applied.id = any (${ids}::uuid[])
  )
  update applied_coupons applied
  set frequency_duration_remaining = applied.frequency_duration_remaining + 1,
    status = case when living.revives then 'active' else applied.status end,
    terminated_at = case when living.revives then null else applied.terminated_at end,
    updated_at = ${now}
  from living
  where applied.organization_id = ${organizationId} and applied.id = living.id`;
