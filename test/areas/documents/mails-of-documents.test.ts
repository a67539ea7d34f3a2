import { afterAll, beforeAll, expect, test } from 'vitest';
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
  expect(mail.subject).toMatch(/: Rechnung \S+$/);
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
