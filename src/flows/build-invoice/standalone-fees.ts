import type { Context } from '../../platform/context.ts';
import { recordFeeCreated } from '../../resources/fees/record.ts';
import type { LineFee } from './fees.ts';
import { type PayerFacts, readIssuer } from './sql.ts';
import { totalFees } from './total-fees.ts';
import { insertFees } from './writes.ts';

/**
 * Stores fees that are on no invoice, each with its taxes, and announces them. Of one subscription.
 * Rule: subscriptions-and-invoices G.3.
 */
export async function storeStandaloneFees(ctx: Context, payer: PayerFacts, fees: readonly LineFee[]): Promise<void> {
  const first = fees[0];
  if (first === undefined) return;
  const { subscription } = first.line;
  const billingEntityId = subscription.billing_entity_id ?? payer.billing_entity_id;
  const issuer = await readIssuer(ctx.db, ctx.organizationId, billingEntityId);
  const { draft } = await totalFees(ctx, { payer, issuer, fees, isFinalizing: true });
  const owner = {
    organizationId: ctx.organizationId,
    invoiceId: null,
    billingEntityId,
    customerId: payer.id,
    currency: subscription.amount_currency,
    createdAt: ctx.now(),
  };
  await insertFees(ctx.db, owner, fees, draft);
  await recordFeeCreated(
    ctx,
    fees.map(({ id }) => id),
  );
}
