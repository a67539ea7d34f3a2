import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService, UNSCHEDULED } from '../../../support/service.ts';
import type { Invoice } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';
import { openSeller, type SellerStory } from './seller-story.ts';

// What a receiver gets of an invoice that is voided after it was handed out: e-documents.md "cancellations".
let service: TestService;
let seller: SellerStory;

beforeAll(async () => {
  service = await startService({ pools: UNSCHEDULED });
  seller = await openSeller(service, '2026-03-01T10:00:00Z');
});
afterAll(() => service.stop());

async function issued(customer: string, profile: string): Promise<Invoice> {
  await seller.buyer(customer, { e_document_profile: profile });
  const invoice = await seller.hours(customer);
  await seller.document(customer, 'ready');
  return invoice;
}
const voided = (invoice: Invoice, body?: object) => ok(seller.client.post(`/invoices/${invoice.svc_id}/void`, body));
const kindsOf = async (customer: string) =>
  (await seller.documents(`external_customer_id=${customer}`)).map(({ kind, number }) => [kind, number]);
const cancellationOf = (customer: string): Promise<Invoice> =>
  until(async () => {
    const rows = await seller.documents(`external_customer_id=${customer}`);
    return rows.find(({ kind, status }) => kind === 'cancellation' && status !== 'pending');
  });
const given = (invoice: Invoice, cents: number, total: number) =>
  ok(seller.credit(invoice, cents, { credit_amount_cents: 0, refund_amount_cents: 0, offset_amount_cents: total }));

test('a voided invoice is cancelled by a credit note over what its notes have not given back', async () => {
  const invoice = await issued('rest', 'en16931_ubl');
  await given(invoice, 1000, 1190);
  await seller.advanceTo('2026-03-05T10:00:00Z');
  await voided(invoice);
  const document = await cancellationOf('rest');
  expect(document).toMatchObject({
    status: 'ready',
    number: `${invoice.number}-V`,
    subject_type: 'Invoice',
    svc_subject_id: invoice.svc_id,
    issuing_date: '2026-03-05',
    profile: 'en16931_ubl',
  });
  const text = (await seller.fileAt(document.file_url)).bytes.toString();
  for (const part of [
    `<cbc:ID>${invoice.number}-V</cbc:ID>`,
    '<cbc:CreditNoteTypeCode>381</cbc:CreditNoteTypeCode>',
    `<cac:InvoiceDocumentReference><cbc:ID>${invoice.number}</cbc:ID><cbc:IssueDate>2026-03-01</cbc:IssueDate>`,
    '<cbc:LineExtensionAmount currencyID="EUR">190.00</cbc:LineExtensionAmount>',
    '<cbc:TaxAmount currencyID="EUR">36.10</cbc:TaxAmount>',
    '<cbc:PayableAmount currencyID="EUR">226.10</cbc:PayableAmount>',
  ])
    expect(text.replaceAll(/>\s+</g, '><')).toContain(part);
  const kinds = await kindsOf('rest');
  expect(kinds).toContainEqual(['document', invoice.number]);
  const { xml_url } = await seller.invoice(invoice.svc_id);
  expect((await seller.fileAt(xml_url)).bytes.toString()).toContain('<cbc:InvoiceTypeCode>380');
});

test('a page that cancels carries its XML and does not take the place of the invoice’s page', async () => {
  const invoice = await issued('page', 'facturx');
  const { file_url } = await seller.invoice(invoice.svc_id);
  const before = (await seller.fileAt(file_url)).bytes;
  await voided(invoice);
  const document = await cancellationOf('page');
  const { type, bytes } = await seller.fileAt(document.file_url);
  expect(type).toBe('application/pdf');
  expect(bytes.includes('factur-x.xml')).toBe(true);
  expect(bytes.equals(before)).toBe(false);
  expect((await seller.fileAt(file_url)).bytes.equals(before)).toBe(true);
});

test('an invoice whose notes gave back everything, or that had no document, or that is voided by a note, has none', async () => {
  const whole = await issued('whole', 'en16931_ubl');
  await given(whole, 20_000, 23_800);
  await voided(whole);
  const noted = await issued('noted', 'en16931_ubl');
  await voided(noted, { generate_credit_note: true, credit_amount: 23_800 });
  await seller.buyer('none');
  const none = await seller.hours('none');
  await voided(none);
  expect(await kindsOf('whole')).not.toContainEqual(['cancellation', expect.anything()]);
  expect(await kindsOf('noted')).not.toContainEqual(['cancellation', expect.anything()]);
  expect(await kindsOf('none')).toEqual([]);
});
