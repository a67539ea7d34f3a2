import type { Context } from '../../../platform/context.ts';
import { recordFeeCreated } from '../../invoices/fees/announce.ts';
import type { PricedCharge } from '../../usage/usage/priced-charges.ts';
import { feeInputs } from './fee-inputs.ts';
import type { LineFee } from './fees.ts';
import { insertFeeInputs } from './input-writes.ts';
import type { BilledLine } from './lines.ts';
import { type PayerFacts, readIssuer } from './payer-and-issuer.ts';
import { renewalFees, renewedPeriod } from './renewals.ts';
import { totalFees } from './total-fees.ts';
import { insertFees } from './writes.ts';

/**
 * Stores fees that are on no invoice, each with its taxes, and announces them. Of one billing entity and currency.
 * Rule: in-advance.md#fees-in-advance.
 */
export async function storeStandaloneFees(ctx: Context, payer: PayerFacts, fees: readonly LineFee[]): Promise<void> {
  const first = fees[0];
  if (first === undefined) return;
  const { subscription } = first.line;
  const billingEntityId = subscription.billing_entity_id ?? payer.billing_entity_id;
  const issuer = await readIssuer(ctx, billingEntityId);
  const { draft, taxes } = await totalFees(ctx, { payer, issuer, fees, isFinalizing: true, standAlone: true });
  const owner = {
    organizationId: ctx.organizationId,
    invoiceId: null,
    billingEntityId,
    customerId: payer.id,
    currency: subscription.amount_currency,
    createdAt: ctx.now(),
  };
  await insertFees(ctx.db, owner, { fees, draft });
  const inputs = fees.map((fee) => ({
    feeId: fee.id,
    inputs: feeInputs(fee, taxes.get(fee.id)!, draft),
    watermark: null,
  }));
  await insertFeeInputs(ctx.db, owner, { fees: inputs, now: ctx.now() });
  const ids = fees.map(({ id }) => id);
  if (payer.tax_engine_id !== null) ctx.after({ step: 'tax-standalone-fees', payload: { fee_ids: ids } });
  await recordFeeCreated(ctx, ids);
}

/**
 * Stores the standalone fees of the units that lines carry into a new period. Rule: in-advance.md#units-of-one-event.
 */
export async function storeRenewals(
  ctx: Context,
  payer: PayerFacts,
  lines: readonly BilledLine[],
  charges: readonly PricedCharge[],
): Promise<void> {
  const renewed = lines.filter((line) => renewedPeriod(line) !== undefined);
  await storeStandaloneFees(ctx, payer, await renewalFees(ctx, renewed, charges, 'standalone'));
}
