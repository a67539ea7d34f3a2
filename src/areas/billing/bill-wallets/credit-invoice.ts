import type { PlainDate } from '../../../engine/calendar/instants.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import type { BookedCredits } from '../../../engine/credits/wallet-money.ts';
import { newDraft } from '../../../engine/invoices/draft.ts';
import { computeInvoice } from '../../../engine/invoices/invoice-steps.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { FeeId, InvoiceId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { plainJson } from '../../../platform/plain-json.ts';
import type { TransactionWishes } from '../../credits/wallet-transactions/writes.ts';
import type { WalletRow } from '../../credits/wallets/queries.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { customerBaseView } from '../../customers/customers/view.ts';
import { applySections } from '../../customers/invoice-custom-sections/sections-of-invoice.ts';
import { oweCollection } from '../../payments/payments/owe-collection.ts';
import { invoiceInputs } from '../build-invoice/fee-inputs.ts';
import { insertFeeInputs, insertInvoiceInputs } from '../build-invoice/input-writes.ts';
import { openInvoice } from '../build-invoice/open-invoice.ts';
import { lockPayer, readIssuer } from '../build-invoice/payer-and-issuer.ts';
import { type InvoiceOwner, storeAmounts } from '../build-invoice/writes.ts';

interface NewPurchase {
  /** The transaction's. */
  id: string;
  booked: BookedCredits;
  wishes: TransactionWishes;
  status: 'open' | 'finalized';
  again?: VoidedPurchase | undefined;
}

/** The voided invoice that a new one over the same credits replaces. */
export interface VoidedPurchase {
  /** The local day by which it is dated. */
  billedOn: PlainDate;
  originalFeeId: FeeId;
  /** Links the invoice to another one before it is announced. */
  onOpened: (invoiceId: InvoiceId) => Promise<void>;
}

/**
 * Makes the invoice of bought credits, without taxes, and owes its payment. It is final where it may be shown unpaid,
 * else open.
 *
 * @returns its id
 * Rules: top-ups.md#paid-top-ups (2 to 4).
 */
export async function creditInvoice(
  ctx: Context,
  wallet: WalletRow,
  { id, booked, wishes, status, again }: NewPurchase,
): Promise<string> {
  const { db, organizationId } = ctx;
  const payer = await lockPayer(ctx, wallet.customer_id);
  const issuer = await readIssuer(ctx, wallet.billing_entity_id);
  const invoiceId = newId();
  const { dates } = await openInvoice(ctx, {
    id: invoiceId,
    payer,
    issuer,
    invoiceType: 'credit',
    currency: wallet.currency,
    purchaseOrderNumber: wishes.purchase_order_number ?? wallet.purchase_order_number,
    billedOn: again?.billedOn ?? localDate(ctx.now(), payer.zone),
    selfBilled: false,
  });
  await again?.onOpened(invoiceId);
  const owner: InvoiceOwner = {
    organizationId,
    invoiceId,
    billingEntityId: issuer.id,
    customerId: payer.id,
    currency: wallet.currency,
    createdAt: ctx.now(),
  };
  const feeId = newId();
  const { amountCents } = booked;
  const draft = computeInvoice(
    newDraft({
      invoiceType: 'credit',
      isFinalizing: true,
      keepsZeroAmount: true,
      fees: [{ key: feeId, amountCents, preciseAmountCents: decimal(amountCents), taxes: [] }],
    }),
  );
  await insertCreditFee(ctx, owner, wallet, {
    feeId,
    transactionId: id,
    booked,
    name: wishes.name ?? null,
    originalFeeId: again?.originalFeeId ?? null,
  });
  const customer = customerBaseView(await readCustomer(ctx, payer.id));
  await storeAmounts(db, owner, {
    draft,
    state: {
      status,
      dates,
      now: ctx.now(),
      snapshot: status === 'open' ? null : customer,
    },
  });
  await applySections(ctx, invoiceId, sectionsOf(wallet, wishes.sections), ctx.now());
  await setPaymentMethod(ctx, invoiceId, wishes);
  oweCollection(ctx, invoiceId, customer);
  const inputs = {
    fee_type: 'credit',
    price: { rate_amount: wallet.rate_amount },
    usage: { units: booked.credits },
    tail: { coupons: [], progressive_credit_cents: 0, taxes: [], exponent: exponentOf(wallet.currency) },
  };
  const stored = [{ feeId, inputs: plainJson(inputs) as object, watermark: null }];
  await insertFeeInputs(db, owner, { fees: stored, now: ctx.now() });
  await insertInvoiceInputs(db, owner, { invoice: invoiceInputs(draft, ctx.now()), now: ctx.now() });
  return invoiceId;
}

/** Who chooses the sections: the transaction or its rule where they name some, else the wallet. */
function sectionsOf(wallet: WalletRow, choice: TransactionWishes['sections']) {
  const { skip_invoice_custom_sections } = wallet;
  const saysSomething =
    typeof choice?.skip_invoice_custom_sections === 'boolean' ||
    (choice?.invoice_custom_section_codes?.length ?? 0) > 0;
  return {
    request: saysSomething ? choice : { skip_invoice_custom_sections },
    owner: { type: 'wallet' as const, id: wallet.id },
  };
}

/** How the top-up is to be paid. */
const setPaymentMethod = (ctx: Context, invoiceId: InvoiceId, wishes: TransactionWishes) => ctx.db`
  update invoices set payment_method_type = ${wishes.payment_method_type ?? null},
    payment_method_id = ${wishes.payment_method_id ?? null}
  where organization_id = ${ctx.organizationId} and id = ${invoiceId}`;

/** Rule: top-ups.md#paid-top-ups (2): units are credits, the amount is their money. */
const insertCreditFee = (
  ctx: Context,
  owner: InvoiceOwner,
  wallet: WalletRow,
  fee: {
    feeId: FeeId;
    transactionId: string;
    booked: BookedCredits;
    name: string | null;
    originalFeeId: FeeId | null;
  },
) => ctx.db`
  insert into fees (id, organization_id, billing_entity_id, customer_id, invoice_id, original_fee_id, fee_type, item_id,
    item_code,
    item_name, invoice_display_name, amount_cents, amount_currency, precise_amount_cents, unit_amount_cents,
    precise_unit_amount, units, total_aggregated_units, created_at, updated_at)
  values (${fee.feeId}, ${owner.organizationId}, ${owner.billingEntityId}, ${owner.customerId}, ${owner.invoiceId},
    ${fee.originalFeeId}, 'credit', ${fee.transactionId}, 'credit', 'credit', ${fee.name ?? 'credit'},
    ${fee.booked.amountCents},
    ${owner.currency}, ${fee.booked.amountCents}, ${unitCents(wallet)}, ${wallet.rate_amount}, ${fee.booked.credits},
    ${fee.booked.credits}, ${owner.createdAt}, ${owner.createdAt})`;

/** What one credit costs, cut to whole cents. */
const unitCents = ({ rate_amount, currency }: WalletRow): number =>
  rate_amount
    .times(decimal(10).pow(exponentOf(currency)))
    .trunc()
    .toNumber();
