import { expect } from 'vitest';
import { until } from '../../support/until.ts';
import { type ClientStory, firstOf } from './story.ts';

/** Invoices that a person makes, looks at before, and has printed. */
export async function invoiceByHand({ api }: ClientStory): Promise<void> {
  const preview = await api.invoices.invoicePreview({
    customer: { external_id: 'acme' },
    plan_code: 'plan',
    billing_time: 'anniversary',
  });
  expect(preview.data.invoice.status).toBe('draft');
  const { data } = await api.invoices.createInvoice({
    invoice: { external_customer_id: 'slow', currency: 'EUR', fees: [{ add_on_code: 'seat', units: '2' }] },
  });
  expect(data.invoice).toMatchObject({ invoice_type: 'one_off', fees_amount_cents: 2000, taxes_amount_cents: 400 });
  const id = data.invoice.lago_id;
  await api.invoices.updateInvoice(id, { invoice: { metadata: [{ key: 'order', value: '7' }] } });
  expect((await api.invoices.findInvoice(id)).data.invoice.metadata).toHaveLength(1);
  expect((await api.invoices.findAllInvoices({ invoice_type: 'one_off' })).data.invoices).toHaveLength(1);
  expect((await api.customers.findAllCustomerInvoices('slow', { invoice_type: 'one_off' })).data.invoices).toHaveLength(
    1,
  );
  const page = await api.invoices.invoicePaymentUrl(id);
  expect(page.data.invoice_payment_details?.payment_url).toMatch(/^http/);
  await api.invoices.retryPayment(id);
  await until(async () => {
    const { data: file } = await api.invoices.downloadInvoice(id);
    return file?.invoice?.file_url || undefined;
  });
  await api.invoices.loseDisputeInvoice(id);
}

const draftOf = ({ api }: ClientStory, customer: string) =>
  firstOf(async () => (await api.customers.findAllCustomerInvoices(customer, { status: 'draft' })).data.invoices);

/** A draft is computed anew, made final and voided. */
export async function finishDraft(story: ClientStory): Promise<void> {
  const { api } = story;
  const { lago_id: id } = await draftOf(story, 'slow');
  await api.invoices.refreshInvoice(id);
  expect((await api.invoices.finalizeInvoice(id)).data.invoice.status).toBe('finalized');
  expect((await api.invoices.voidInvoice(id)).data.invoice.status).toBe('voided');
  const past = await api.customers.findAllCustomerPastUsage('acme', { external_subscription_id: 'acme-plan' });
  expect(past.data.usage_periods).toHaveLength(1);
}

/** An invoice whose taxes could not be had is tried again; here its tax engine is said to have been silent. */
export async function retryFailed(story: ClientStory): Promise<void> {
  const { api, service, organizationId } = story;
  const { lago_id: id } = await draftOf(story, 'slow');
  await service.sql`
    update invoices set status = 'failed', tax_status = 'failed'
    where organization_id = ${organizationId} and id = ${id}`;
  await api.invoices.retryInvoice(id);
  await until(async () => (await api.invoices.findInvoice(id)).data.invoice.status === 'finalized' || undefined);
}

/** A draft that nobody wants. */
export async function throwDraftAway(story: ClientStory): Promise<void> {
  await story.api.invoices.deleteInvoice((await draftOf(story, 'slow')).lago_id);
}

/** Money given back: noted, changed, printed, voided. */
export async function creditBack({ api }: ClientStory): Promise<void> {
  const paid = await firstOf(async () => {
    const list = await api.customers.findAllCustomerInvoices('acme', { payment_status: 'succeeded' });
    return list.data.invoices.filter(({ invoice_type }) => invoice_type === 'subscription');
  });
  const { data: whole } = await api.invoices.findInvoice(paid.lago_id);
  const fee = whole.invoice.fees!.find(({ item }) => item.type === 'subscription')!;
  const items = [{ fee_id: fee.lago_id!, amount_cents: 100 }];
  const estimate = await api.creditNotes.estimateCreditNote({ credit_note: { invoice_id: paid.lago_id, items } });
  expect(estimate.data.estimated_credit_note.max_creditable_amount_cents).toBe(120);
  const { data } = await api.creditNotes.createCreditNote({
    credit_note: { invoice_id: paid.lago_id, reason: 'other', credit_amount_cents: 60, refund_amount_cents: 60, items },
  });
  const id = data.credit_note.lago_id;
  expect((await api.creditNotes.findCreditNote(id)).data.credit_note.balance_amount_cents).toBe(60);
  expect((await api.creditNotes.findAllCreditNotes({ external_customer_id: 'acme' })).data.credit_notes).toHaveLength(
    1,
  );
  expect((await api.customers.findAllCustomerCreditNotes('acme')).data.credit_notes).toHaveLength(1);
  await api.creditNotes.replaceCreditNoteMetadata(id, { metadata: { a: '1' } });
  await api.creditNotes.mergeCreditNoteMetadata(id, { metadata: { b: '2' } });
  await api.creditNotes.deleteCreditNoteMetadataKey(id, 'a');
  await api.creditNotes.deleteAllCreditNoteMetadata(id);
  await until(async () => {
    const { data: file } = await api.creditNotes.downloadCreditNote(id);
    return file?.credit_note?.file_url || undefined;
  });
  expect((await api.creditNotes.voidCreditNote(id)).data.credit_note.credit_status).toBe('voided');
  await api.creditNotes.updateCreditNote(id, { credit_note: { refund_status: 'succeeded' } });
}

/** What is overdue is asked for, and money comes in. */
export async function collect({ api }: ClientStory): Promise<void> {
  const overdue = await firstOf(async () => {
    const list = await api.invoices.findAllInvoices({ payment_overdue: true, invoice_type: 'subscription' });
    return list.data.invoices;
  });
  const external_customer_id = 'slow';
  const request = await api.paymentRequests.createPaymentRequest({
    payment_request: { external_customer_id, email: 'slow@example.com', lago_invoice_ids: [overdue.lago_id] },
  });
  await api.paymentRequests.findPaymentRequest(request.data.payment_request.lago_id);
  expect(
    (await api.paymentRequests.findAllPaymentRequests({ external_customer_id })).data.payment_requests,
  ).toHaveLength(1);
  expect((await api.customers.findAllCustomerPaymentRequests('slow')).data.payment_requests).toHaveLength(1);

  const { data } = await api.payments.createPayment({
    payment: { invoice_id: overdue.lago_id, amount_cents: 100, reference: 'wire', paid_at: '2024-02-10' },
  });
  expect(data.payment).toMatchObject({ amount_cents: 100, type: 'manual' });
  await api.payments.findPayment(data.payment.lago_id);
  expect((await api.payments.findAllPayments({ invoice_id: overdue.lago_id })).data.payments.length).toBeGreaterThan(0);
  expect((await api.customers.findAllCustomerPayments('slow')).data.payments.length).toBeGreaterThan(0);
  const receipt = await firstOf(async () => {
    const list = await api.paymentReceipts.findAllPaymentReceipts({ invoice_id: overdue.lago_id });
    return list.data.payment_receipts;
  });
  await api.paymentReceipts.findPaymentReceipt(receipt.lago_id);
}
