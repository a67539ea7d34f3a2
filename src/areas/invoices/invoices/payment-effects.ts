import type { PaymentStatus } from '../../../engine/invoices/invoice-states.ts';
import type { Context } from '../../../platform/context.ts';
import { followTopUpPayment } from '../../credits/wallet-transactions/top-up-payment.ts';
import { resetDunningOfInvoice } from '../../payments/dunning-campaigns/counters.ts';
import { closePagesOfInvoice } from '../../payments/payments/pages.ts';
import { followGatedPayment } from '../../subscriptions/subscriptions/settle-gate.ts';
import type { InvoiceRow } from './queries.ts';

/** What else happens when the payment status of an invoice changes; `invoice` is as it was before. */
export type PaymentEffect = (ctx: Context, invoice: InvoiceRow, status: PaymentStatus) => Promise<void>;

/**
 * Everything that follows the payment status of an invoice, whoever set it: a payment, an offset, a person. In the same
 * transaction, in this order. Rule: credits-and-payments E.6 "on every status write".
 */
export const paymentEffects: readonly PaymentEffect[] = [
  closePagesOfInvoice,
  resetDunningOfInvoice,
  followTopUpPayment,
  followGatedPayment,
];
