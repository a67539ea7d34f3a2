import type { Context } from '../../../platform/context.ts';
import { findRow } from '../../../platform/db/rows.ts';
import type { CustomerId, ExternalCustomerId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { createCoupon } from '../../catalog/coupons/commands.ts';
import { coupons } from '../../catalog/coupons/queries.ts';
import { applyCoupon } from '../../credits/applied-coupons/commands.ts';
import { hasActiveCoupons } from '../../credits/applied-coupons/queries.ts';
import type { InvoicePreview, PreviewCoupon } from '../../invoices/invoices/preview-schema.ts';

/**
 * Gives the customer of a preview the coupons of the request: stored ones by their code, others created from the terms
 * in the request. A customer with active coupons keeps those instead.
 *
 * @throws Refusal 404 coupon; those of making and applying one
 * Rule: previews.md.
 */
export async function giveCoupons(
  ctx: Context,
  customer: { id: CustomerId; external_id: string },
  coupons: InvoicePreview['coupons'],
): Promise<void> {
  if (!coupons?.length || (await hasActiveCoupons(ctx, customer.id))) return;
  for (const coupon of coupons) await giveCoupon(ctx, customer.external_id, coupon);
}

async function giveCoupon(ctx: Context, externalCustomerId: ExternalCustomerId, coupon: PreviewCoupon): Promise<void> {
  const { code, name, coupon_type: type, ...terms } = coupon;
  const stored = code ? await findRow(ctx, coupons, code) : undefined;
  if (stored === undefined) {
    const isMadeUp = type !== undefined || terms.amount_cents || terms.percentage_rate;
    if (!code || !isMadeUp) throw refuse.notFound('coupon');
    await createCoupon(ctx, {
      body: {
        ...terms,
        code,
        name: name || code,
        coupon_type: type ?? (terms.percentage_rate ? 'percentage' : 'fixed_amount'),
        frequency: terms.frequency_duration ? 'recurring' : 'once',
        expiration: 'no_expiration',
      },
    });
  }
  const overrides = stored === undefined ? {} : terms;
  await applyCoupon(ctx, { body: { ...overrides, external_customer_id: externalCustomerId, coupon_code: code } });
}
