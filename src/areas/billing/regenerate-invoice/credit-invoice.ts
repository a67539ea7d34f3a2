import { localDate } from '../../../engine/calendar/local-day.ts';
import { bookedCredits } from '../../../engine/credits/wallet-money.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { worthOf } from '../../credits/wallet-transactions/movements.ts';
import { findPurchaseOfInvoice } from '../../credits/wallet-transactions/queries.ts';
import { lockWallet } from '../../credits/wallets/queries.ts';
import { listFeesOfInvoice } from '../../invoices/fees/queries.ts';
import { purchase } from '../bill-wallets/top-up.ts';
import type { Replaced } from './regenerate-invoice.ts';
import { replaceSource } from './replaced-invoice.ts';
import { sectionsOf } from './sections-of-source.ts';

/**
 * Regenerates a voided invoice of credits: they are bought again by a new transaction, because the first one failed
 * with its invoice. The price is that of the wallet.
 *
 * @returns id of the new invoice
 * @throws Refusal 404 fee; 405 not_regenerable, when the credits were paid for or the wallet has ended; 422 fees,
 *   unit_amount_cents value_is_frozen, units
 */
export async function regenerateCredit(ctx: Context, replaced: Replaced): Promise<string> {
  const { source, payer, body, purchaseOrderNumber } = replaced;
  const former = await findPurchaseOfInvoice(ctx, source.id);
  const wallet = former && (await lockWallet(ctx, { id: former.wallet_id }));
  if (former?.status !== 'failed' || wallet?.status !== 'active') throw refuse.notAllowed('not_regenerable');
  const [given, ...more] = body.fees;
  const stored = await listFeesOfInvoice(ctx, source.id);
  const row = stored.find(({ id }) => id === given!.id);
  if (!row) throw refuse.notFound('fee');
  if (more.length > 0) throw refuse.invalid({ fees: ['invalid_count'] });
  if ((given!.unit_amount_cents ?? row.unit_amount_cents) !== row.unit_amount_cents)
    throw refuse.invalid({ unit_amount_cents: ['value_is_frozen'] });
  const booked = bookedCredits(given!.units == null ? row.units : decimal(given!.units), worthOf(wallet));
  if (booked.amountCents === 0) throw refuse.invalid({ units: ['value_is_out_of_range'] });

  const { transaction } = await purchase(ctx, wallet, {
    booked,
    wishes: {
      source: former.source,
      priority: former.priority,
      name: given!.invoice_display_name ?? former.name,
      metadata: former.metadata,
      invoice_requires_successful_payment: false,
      payment_method_type: former.payment_method_type,
      payment_method_id: former.payment_method_id,
      purchase_order_number: purchaseOrderNumber,
      sections: sectionsOf(source),
    },
    again: {
      billedOn: localDate(source.created_at, payer.zone),
      originalFeeId: row.original_fee_id ?? row.id,
      onOpened: (invoiceId) => replaceSource(ctx, { sourceId: source.id, invoiceId }),
    },
  });
  return transaction.invoice_id!;
}
