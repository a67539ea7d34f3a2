import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { FeeId, FixedChargeId, InvoiceId, PlanId, SubscriptionId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { listFixedChargesOfPlans } from '../../catalog/fixed-charges/queries.ts';
import { type AdjustableFee, type BilledThing, listAdjustableFees } from '../../invoices/adjusted-fees/queries.ts';
import type { AdjustedFeeInput } from '../../invoices/adjusted-fees/schema.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import { fixedChargeWindow } from '../build-invoice/fixed-charges.ts';
import { linesOfSource } from '../build-invoice/lines-of-source.ts';
import { lockPayer } from '../build-invoice/payer-and-issuer.ts';

/** The item that is to be adjusted, with its fee when there is one. */
export interface Target extends BilledThing {
  fee_id: FeeId | null;
  charge_model: string | null;
  prorated: boolean;
}

/**
 * Finds the item that an input names: a fee of the draft, or the charge or fixed charge of one of its subscriptions,
 * whose fee may be missing because nothing was used.
 *
 * @throws Refusal 404 fee, subscription, charge, charge_filter, fixed_charge
 */
export async function adjustedThing(ctx: Context, invoice: InvoiceRow, input: AdjustedFeeInput): Promise<Target> {
  const fees = await listAdjustableFees(ctx, invoice.id);
  if (input.fee_id) {
    const fee = fees.find(({ id }) => id === input.fee_id);
    if (!fee) throw refuse.notFound('fee');
    return withModel(ctx, fee);
  }
  const line = await findLine(ctx, invoice.id, input.subscription_id);
  if (!line) throw refuse.notFound('subscription');
  if (input.fixed_charge_id) {
    const fee = fees.find(
      (each) => each.fixed_charge_id === input.fixed_charge_id && each.subscription_id === line.subscription_id,
    );
    return fee === undefined ? missingFixedCharge(ctx, invoice, line, input.fixed_charge_id) : withModel(ctx, fee);
  }
  const thing = await usageOfCharge(ctx, line, input);
  const same = fees.find(
    (fee) =>
      fee.subscription_id === thing.subscription_id &&
      fee.charge_id === thing.charge_id &&
      fee.charge_filter_id === thing.charge_filter_id &&
      Object.keys(fee.grouped_by).length === 0,
  );
  return same === undefined ? thing : { ...thing, fee_id: same.id };
}

async function withModel(ctx: Context, fee: AdjustableFee): Promise<Target> {
  const { id, ...thing } = fee;
  const [row] = await ctx.db<{ charge_model: string; prorated: boolean }[]>`
    select charge_model, prorated from charges where organization_id = ${ctx.organizationId} and id = ${fee.charge_id}
    union all
    select charge_model, prorated from fixed_charges
    where organization_id = ${ctx.organizationId} and id = ${fee.fixed_charge_id}`;
  return { ...thing, fee_id: id, charge_model: row?.charge_model ?? null, prorated: row?.prorated ?? false };
}

interface Line {
  subscription_id: SubscriptionId;
  plan_id: PlanId;
  charges_from_datetime: Temporal.Instant | null;
  charges_to_datetime: Temporal.Instant | null;
}

async function findLine(
  ctx: Context,
  invoiceId: InvoiceId,
  id: SubscriptionId | null | undefined,
): Promise<Line | undefined> {
  if (!id || !isUuid(id)) return undefined;
  const [row] = await ctx.db<Line[]>`
    select line.subscription_id, s.plan_id, line.charges_from_datetime, line.charges_to_datetime
    from invoice_subscriptions line
    join subscriptions s on s.organization_id = line.organization_id and s.id = line.subscription_id
    where line.organization_id = ${ctx.organizationId} and line.invoice_id = ${invoiceId}
      and line.subscription_id = ${id}`;
  return row;
}

/** A fixed charge of a line whose amount was zero, so that it has no fee. */
async function missingFixedCharge(ctx: Context, invoice: InvoiceRow, line: Line, id: FixedChargeId): Promise<Target> {
  await lockPayer(ctx, invoice.customer_id);
  const lines = await linesOfSource(ctx, invoice);
  const billed = lines.find(({ subscription }) => subscription.id === line.subscription_id)!;
  const fixedCharges = await listFixedChargesOfPlans(ctx, [line.plan_id]);
  const fixedCharge = fixedCharges.find((each) => each.id === id);
  const window = fixedCharge && fixedChargeWindow(billed, fixedCharge);
  if (!window) throw refuse.notFound('fixed_charge');
  return {
    charge_model: fixedCharge.charge_model,
    prorated: fixedCharge.prorated,
    fee_id: null,
    subscription_id: line.subscription_id,
    fee_type: 'fixed_charge',
    charge_id: null,
    charge_filter_id: null,
    fixed_charge_id: id,
    grouped_by: {},
    from_datetime: window.from,
    to_datetime: window.to,
  };
}

/** The ungrouped usage of a charge, or of one of its filters, in the window of a line. */
async function usageOfCharge(ctx: Context, line: Line, input: AdjustedFeeInput): Promise<Target> {
  const { charge_id: chargeId, charge_filter_id: filterId } = input;
  const [charge] =
    chargeId && isUuid(chargeId) && line.charges_from_datetime !== null
      ? await ctx.db<{ charge_model: string; prorated: boolean }[]>`
        select charge_model, prorated from charges
        where organization_id = ${ctx.organizationId} and id = ${chargeId} and plan_id = ${line.plan_id}
          and deleted_at is null and not pay_in_advance`
      : [];
  if (!charge) throw refuse.notFound('charge');
  if (filterId) {
    const [filter] = isUuid(filterId)
      ? await ctx.db`
        select id from charge_filters
        where organization_id = ${ctx.organizationId} and id = ${filterId} and charge_id = ${chargeId!}
          and deleted_at is null`
      : [];
    if (!filter) throw refuse.notFound('charge_filter');
  }
  return {
    ...charge,
    fee_id: null,
    subscription_id: line.subscription_id,
    fee_type: 'charge',
    charge_id: chargeId!,
    charge_filter_id: filterId ?? null,
    fixed_charge_id: null,
    grouped_by: {},
    from_datetime: line.charges_from_datetime!,
    to_datetime: line.charges_to_datetime!,
  };
}
