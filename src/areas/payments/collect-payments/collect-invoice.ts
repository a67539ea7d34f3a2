import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { getMethod } from '../../customers/payment-methods/queries.ts';
import type { MethodReference } from '../../customers/payment-methods/schema.ts';
import { dueOf } from '../../invoices/invoices/amount-due.ts';
import { setPaymentStatus } from '../../invoices/invoices/payment-status.ts';
import { getVisibleInvoice, type InvoiceRow, readInvoice } from '../../invoices/invoices/queries.ts';
import { recordInvoiceFailure } from '../payments/announce-failure.ts';
import { COLLECT_STEP } from '../payments/owe-collection.ts';
import { startCharge } from '../payments/start-charge.ts';
import { lockPayables } from '../payments/writes.ts';
import { announceActionRequired } from './announce-action-required.ts';
import { chooseMethod, transferBy } from './choose-method.ts';
import { closePagesFirst, PAGE_PAYMENT_MINUTES } from './close-pages-first.ts';
import { endTransfersOf } from './renew-transfers.ts';
import { firstWish, type MethodWish, wishesOfInvoice } from './wishes-of-invoice.ts';

interface Facts {
  skip_psp: boolean;
  ready_for_payment_processing: boolean;
  payment_attempts: number;
  /** Minutes that the first attempt waits for a payment on a hosted page. */
  wait_minutes: number;
  wishes: MethodWish[];
}

/** A retry that was asked for by hand, and after how many attempts. */
type Retry = MethodWish & { payment_attempts: number };

/**
 * Step `collect-invoice`: charges an invoice that became final, if its customer can be charged; later, where the
 * organization has its customers pay on hosted pages first, and while a payment may come from a page.
 *
 * Rules: payments.md#automatic-payment, payments.md#payments-on-pages-come-first.
 */
export async function collectInvoice(
  ctx: Context,
  {
    invoice_id: id,
    has_waited: hasWaited = false,
    attempts_before: attemptsBefore = 0,
    renews = false,
    retry,
  }: { invoice_id: InvoiceId; has_waited?: boolean; attempts_before?: number; renews?: boolean; retry?: Retry },
): Promise<void> {
  const invoice = await lock(ctx, id);
  if (!isCollectable(invoice)) return;
  const facts = await readFacts(ctx, id);
  if (!facts.ready_for_payment_processing) return;
  // It was charged while this attempt waited.
  if (hasWaited && facts.payment_attempts > (retry?.payment_attempts ?? attemptsBefore)) return;
  if (retry) return charge(ctx, invoice, facts, { retry });
  if (renews) return charge(ctx, invoice, facts, { renews });
  if (facts.skip_psp) return;
  if (hasWaited || facts.wait_minutes === 0) return charge(ctx, invoice, facts);
  const dueAt = ctx.now().add({ minutes: facts.wait_minutes });
  ctx.after({ step: COLLECT_STEP, payload: { invoice_id: id, has_waited: true }, dueAt });
}

/**
 * Charges an invoice again that was refused, or never charged; once no payment can come from a page any more.
 *
 * @throws Refusal 404 invoice, payment_method; 405 invalid_status, payment_processor_is_currently_handling_payment
 * Rules: payments.md#automatic-payment "retry", payments.md#payments-on-pages-come-first.
 */
export async function retryPayment(
  ctx: Context,
  { svc_id, body }: { svc_id: string; body?: { payment_method?: MethodReference } },
) {
  const found = await getVisibleInvoice(ctx, svc_id);
  const invoice = await lock(ctx, found.id);
  const isPayable = invoice.status !== 'draft' && invoice.payment_status !== 'succeeded' && dueOf(invoice) > 0;
  if (!isPayable) throw refuse.notAllowed('invalid_status');
  const facts = await readFacts(ctx, invoice.id);
  if (!facts.ready_for_payment_processing) throw refuse.notAllowed('payment_processor_is_currently_handling_payment');
  const customer = await readCustomer(ctx, invoice.customer_id);
  const wish = body?.payment_method;
  if (wish?.payment_method_id) await getMethod(ctx, customer.id, wish.payment_method_id);
  if (customer.payment_provider === null) {
    const message = 'The customer is linked to no payment provider.';
    await recordInvoiceFailure(ctx, invoice, { code: 'customer_must_have_payment_provider', message });
    return null;
  }
  const retry: Retry = {
    type: wish?.payment_method_type ?? null,
    id: wish?.payment_method_id ?? null,
    payment_attempts: facts.payment_attempts,
  };
  await charge(ctx, invoice, facts, { retry });
  return null;
}

async function charge(
  ctx: Context,
  invoice: InvoiceRow,
  facts: Facts,
  { retry, renews = false }: { retry?: Retry; renews?: boolean } = {},
): Promise<void> {
  const customer = await readCustomer(ctx, invoice.customer_id);
  if (customer.payment_provider_id === null || customer.provider_customer_id === null) return;
  const wishes = [...(retry ? [retry] : []), ...facts.wishes];
  const isManual = firstWish(wishes)?.type === 'manual';
  // Somebody had it charged by hand, by transfer; a method that was stored since is not what they asked for.
  const isAskedAgain = renews && (facts.skip_psp || isManual);
  const method = isAskedAgain ? await transferBy(ctx, customer) : await chooseMethod(ctx, customer, wishes);
  if (!method) return isManual || isAskedAgain ? undefined : announceActionRequired(ctx, invoice, customer);
  // A customer who was to transfer the money has stored a method meanwhile.
  if (method.id !== null) await endTransfersOf(ctx, [invoice.id]);
  if (await closePagesFirst(ctx, [invoice.id])) {
    const waits = { invoice_id: invoice.id, has_waited: true, attempts_before: facts.payment_attempts };
    const payload = { ...waits, ...(retry ? { retry } : {}), ...(renews ? { renews } : {}) };
    return ctx.after({ step: COLLECT_STEP, payload, dueAt: ctx.now().add({ minutes: PAGE_PAYMENT_MINUTES }) });
  }
  const isStarted = await startCharge(ctx, {
    customerId: customer.id,
    payable: { type: 'Invoice', id: invoice.id },
    amountCents: dueOf(invoice),
    currency: invoice.currency,
    method,
    invoiceIds: [invoice.id],
  });
  if (isStarted)
    await setPaymentStatus(ctx, invoice, 'pending', {
      ready_for_payment_processing: false,
      payment_attempts: facts.payment_attempts + 1,
    });
}

async function lock(ctx: Context, id: string): Promise<InvoiceRow> {
  const { customer_id } = await readInvoice(ctx, id);
  await lockPayables(ctx, customer_id, [id]);
  return readInvoice(ctx, id);
}

const isCollectable = (invoice: InvoiceRow): boolean =>
  (invoice.status === 'finalized' || invoice.status === 'open') &&
  invoice.payment_status !== 'succeeded' &&
  !invoice.self_billed &&
  dueOf(invoice) > 0;

async function readFacts(ctx: Context, id: InvoiceId): Promise<Facts> {
  const [row] = await ctx.db<Facts[]>`
    select invoice.skip_psp, invoice.ready_for_payment_processing, invoice.payment_attempts,
      case when invoice.payment_attempts > 0 or invoice.status = 'open' and invoice.invoice_type <> 'credit'
          or invoice.invoice_type = 'credit' and exists (select from wallet_transactions bought
            where bought.organization_id = invoice.organization_id
            and bought.invoice_id = invoice.id and bought.source <> 'manual')
        then 0 else organization.hosted_page_wait_minutes end as wait_minutes,
      ${wishesOfInvoice(ctx.db)} as wishes
    from invoices invoice
    join organizations organization on organization.id = invoice.organization_id
    where invoice.organization_id = ${ctx.organizationId} and invoice.id = ${id}`;
  return { ...row!, wishes: row!.wishes.filter((wish) => wish !== null) };
}
