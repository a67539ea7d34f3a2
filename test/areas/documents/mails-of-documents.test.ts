import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordMailFailed } from '../../../src/areas/documents/document-mails/commands.ts';
import type { PendingMail } from '../../../src/areas/messaging/mails/queries.ts';
import type { Context } from '../../../src/platform/context.ts';
import { startService, type TestService } from '../../support/service.ts';
import type { Invoice } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';
import { openSeller, type SellerStory } from './e-documents/seller-story.ts';

// What the mail of an invoice, a note or a receipt says and carries: docs/rules/invoice-operations.md "mails".
let service: TestService;
let seller: SellerStory;

beforeAll(async () => {
  service = await startService();
  seller = await openSeller(service, '2026-03-01T10:00:00Z');
  const email_settings = ['invoice.finalized', 'credit_note.created', 'payment_receipt.created'];
  await seller.entity({ email_settings, phone: '+49 30 1', e_invoicing: { contact_name: 'Rechnungsstelle' } });
});
afterAll(() => service.stop());

/** The newest mail to a customer about a document, once it was sent. */
const mailTo = (customer: string, number: string): Promise<Invoice> =>
  until(async () => {
    const { mails } = await ok(seller.client.get('/sandbox/mails'));
    return mails.find(
      ({ to, subject }: Invoice) => to.includes(`${customer}@client.example`) && subject.includes(number),
    );
  });
const filesOf = ({ attachments }: Invoice): string[] => attachments.map((each: Invoice) => each.file_name);

test('an invoice comes in the language of its customer, with a button, its page and its electronic document', async () => {
  await seller.buyer('de', { e_document_profile: 'en16931_cii', billing_configuration: { document_locale: 'de' } });
  const { number } = await seller.hours('de');
  const mail = await mailTo('de', number);
  expect(mail.subject).toMatch(/^Rechnung \S+ von .+: 238,00\s€, zahlbar bis \d\d\.\d\d\.\d{4}$/);
  expect(filesOf(mail)).toEqual([`${number}.pdf`, `${number}.xml`]);
  expect(mail.attachments[1].content_type).toBe('application/xml');
  for (const part of [mail.text, mail.html]) {
    expect(part).toMatch(/238,00\s€ fällig/);
    expect(part).toContain('Rechnungsnummer');
    expect(part).toMatch(/https?:\/\/[^"\s]+\/pay\/[\w-]{48}/);
    expect(part).not.toMatch(/[\uE000\uE001]/);
  }
  expect(mail.html).toContain('<html lang="de">');
  expect(mail.html).toMatch(/>238,00\s€ bezahlen</);
  const { bytes } = await seller.fileAt(mail.attachments[1].file_url);
  expect(bytes.toString()).toContain(`<ram:ID>${number}</ram:ID>`);
});

test('a page that carries its XML goes alone', async () => {
  await seller.buyer('hybrid', { e_document_profile: 'facturx' });
  const { number } = await seller.hours('hybrid');
  expect(filesOf(await mailTo('hybrid', number))).toEqual([`${number}.pdf`]);
});

test('a mail whose electronic document failed goes with the page alone', async () => {
  await seller.buyer('failing', { e_document_profile: 'xrechnung_ubl' });
  const { number } = await seller.hours('failing');
  expect((await seller.document('failing', 'failed')).problems.length).toBeGreaterThan(0);
  expect(filesOf(await mailTo('failing', number))).toEqual([`${number}.pdf`]);
});

test('a note and a receipt ask for nothing, and a note brings its electronic document', async () => {
  await seller.buyer('paid', { e_document_profile: 'en16931_ubl' });
  const invoice = await seller.hours('paid');
  await seller.pay(invoice.svc_id, 23_800);
  const [receipt] = (await ok(seller.client.get(`/payment_receipts?invoice_id=${invoice.svc_id}`))).payment_receipts;
  const { credit_note: note } = await ok(
    seller.credit(await seller.invoice(invoice.svc_id), 10_000, {
      credit_amount_cents: 11_900,
    }),
  );
  const ofReceipt = await mailTo('paid', receipt.number);
  expect(ofReceipt.subject).toContain('Payment receipt');
  expect(filesOf(ofReceipt)).toEqual([`${receipt.number}.pdf`]);
  expect(ofReceipt.text).toContain(invoice.number);
  const ofNote = await mailTo('paid', note.number);
  expect(filesOf(ofNote)).toEqual([`${note.number}.pdf`, `${note.number}.xml`]);
  for (const { text, html } of [ofReceipt, ofNote]) expect(`${text}${html}`).not.toContain('/pay/');
});

describe.each(['en16931_cii', 'facturx'])('a draft whose customer chose %s', (profile) => {
  const customer = `draft-${profile}`;
  let draft: Invoice;

  beforeAll(async () => {
    const billing_configuration = { invoice_grace_period: 400 };
    await seller.buyer(customer, { e_document_profile: profile, billing_configuration });
    const plan = { code: customer, amount_cents: 10_000, amount_currency: 'EUR', pay_in_advance: true };
    await seller.plan(plan);
    await seller.subscribe({ external_customer_id: customer, external_id: customer, plan_code: customer });
    [draft] = await seller.invoices(1, customer);
    expect(draft).toMatchObject({ status: 'draft', number: expect.stringMatching(/-DRAFT$/) });
  });

  test('is mailed with a page that is not kept as the page of the invoice', async () => {
    await ok(seller.client.post(`/invoices/${draft.svc_id}/resend_email`));
    const mail = await mailTo(customer, draft.number);
    expect(filesOf(mail)).toEqual([`${draft.number}.pdf`]);
    const mailed = (await seller.fileAt(mail.attachments[0].file_url)).bytes;
    expect(mailed.subarray(0, 5).toString()).toBe('%PDF-');
    expect(await seller.documents(`external_customer_id=${customer}`)).toEqual([]);
    expect((await seller.invoice(draft.svc_id)).file_url).toBeNull();

    const { invoice } = await ok(seller.client.put(`/invoices/${draft.svc_id}/finalize`));
    expect(invoice).toMatchObject({ status: 'finalized', number: expect.not.stringContaining('DRAFT') });
    const electronic = await seller.document(customer, 'ready');
    expect(electronic.number).toBe(invoice.number);
    const { invoice: drawn } = await ok(seller.client.post(`/invoices/${draft.svc_id}/download`));
    const page = (await seller.fileAt(drawn.file_url)).bytes;
    expect(page.equals(mailed)).toBe(false);
    const [kept] = await service.sql`
      select file_name from documents where kind = 'invoice' and subject_id = ${draft.svc_id}`;
    expect(kept).toEqual({ file_name: `${invoice.number}.pdf` });
    expect(filesOf(await mailTo(customer, invoice.number))[0]).toBe(`${invoice.number}.pdf`);
  });
});

test.each(['pending', 'failed'])('an invoice that is %s is mailed with a page that is not kept', async (status) => {
  await seller.buyer(status, { e_document_profile: 'en16931_cii', email: null });
  const { svc_id, number } = await seller.hours(status);
  await service.sql`update invoices set status = ${status} where id = ${svc_id}`;
  await service.sql`delete from documents where subject_id = ${svc_id}`;
  await ok(seller.client.post(`/invoices/${svc_id}/resend_email`, { to: [`not-${status}@client.example`] }));
  expect(filesOf(await mailTo(`not-${status}`, number))).toEqual([`${number}.pdf`]);
  expect(await service.sql`select from documents where subject_id = ${svc_id}`).toHaveLength(0);
});

test('of a draft that was deleted since, a refused mail is recorded all the same', async () => {
  const billing_configuration = { invoice_grace_period: 400 };
  await seller.buyer('deleted', { billing_configuration });
  await seller.plan({ code: 'deleted', amount_cents: 10_000, amount_currency: 'EUR', pay_in_advance: true });
  await seller.subscribe({ external_customer_id: 'deleted', external_id: 'deleted', plan_code: 'deleted' });
  const [draft] = await seller.invoices(1, 'deleted');
  await ok(seller.client.post(`/invoices/${draft!.svc_id}/resend_email`));
  await mailTo('deleted', draft!.number);
  await ok(seller.client.delete(`/invoices/${draft!.svc_id}`));
  const [mail] = await service.sql<PendingMail[]>`select * from mails where subject_id = ${draft!.svc_id}`;
  const recorded: unknown[] = [];
  const ctx = {
    db: service.sql,
    organizationId: seller.organizationId,
    record: (entry: unknown) => recorded.push(entry),
  } as unknown as Context;
  await recordMailFailed(ctx, { mail: mail!, error: '550 no such user' });
  expect(recorded).toMatchObject([{ activity: { type: 'email.sent', object: { status: 'failed' } } }]);
});

test('an invoice that is paid when it is mailed again asks for nothing', async () => {
  const { svc_id, number } = await seller.hours('paid');
  await seller.pay(svc_id, 23_800);
  await ok(seller.client.post(`/invoices/${svc_id}/resend_email`, { to: ['again@client.example'] }));
  const mail = await mailTo('again', number);
  expect(mail.html).toContain('€238.00 paid');
  expect(mail.text).not.toContain('/pay/');
});

test('ten lines are listed and the others counted; no text of a line becomes markup or a link', async () => {
  await seller.buyer('many');
  const forged = `\uE000I${'0'.repeat(8)}-0000-7000-8000-000000000000\uE001<b>bold</b>\nnext`;
  const fees = Array.from({ length: 12 }, () => ({ add_on_code: 'hour', name: forged, description: forged }));
  const { invoice } = await ok(
    seller.client.post('/invoices', { invoice: { external_customer_id: 'many', currency: 'EUR', fees } }),
  );
  const mail = await mailTo('many', invoice.number);
  expect(mail.text.match(/^- /gm)).toHaveLength(10);
  expect(mail.text).toContain('and 2 more');
  expect(mail.text.match(/\/pay\//g)).toHaveLength(1);
  expect(mail.html.match(/\/pay\//g)).toHaveLength(1);
  expect(mail.html).not.toContain('<b>bold');
});

test('the audit trail shows no link that lets in', async () => {
  const { activity_logs: logs } = await ok(seller.client.get('/activity_logs?activity_types[]=email.sent'));
  const previews = logs.map(({ activity_object: object }: Invoice) => JSON.parse(object.email).body_preview);
  expect(previews.length).toBeGreaterThan(0);
  for (const preview of previews) expect(preview).not.toMatch(/\/pay\/|[\uE000\uE001]/);
});
