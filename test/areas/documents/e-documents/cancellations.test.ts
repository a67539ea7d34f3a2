import { afterAll, beforeAll, expect, test } from 'vitest';
import { realNow } from '../../../../src/platform/clock/real-clock.ts';
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

const refusedBy = (answer: Invoice) => answer.body.error_details.problems.map(({ rule }: { rule: string }) => rule);

test('a note of a voided invoice that was cancelled has no document, and does not change the cancellation', async () => {
  const invoice = await issued('twice', 'en16931_ubl');
  await given(invoice, 1000, 1190);
  const payment = { invoice_id: invoice.svc_id, amount_cents: 22_610, reference: 'bank' };
  await ok(seller.client.post('/payments', { payment }));
  await voided(invoice);
  const refund = { credit_amount_cents: 0, refund_amount_cents: 22_610, offset_amount_cents: 0 };
  const { credit_note } = await ok(seller.credit(invoice, 19_000, refund));
  const document = await cancellationOf('twice');
  expect((await seller.fileAt(document.file_url)).bytes.toString()).toContain(
    '<cbc:PayableAmount currencyID="EUR">226.10</cbc:PayableAmount>',
  );
  const path = `/credit_notes/${credit_note.svc_id}`;
  for (const asked of [`${path}/e_documents`, `${path}/download_xml`]) {
    const answer = await seller.client.post(
      asked,
      asked.endsWith('xml') ? undefined : { e_document: { profile: 'peppol_bis3' } },
    );
    expect(answer.status, answer.text).toBe(422);
    expect(refusedBy(answer)).toEqual(['invoice_cancelled']);
  }
  expect(await kindsOf('twice')).not.toContainEqual(['document', credit_note.number]);
  const [before] = await until(async () => {
    const rows = (await seller.documents('external_customer_id=twice')).filter(
      ({ subject_type }) => subject_type === 'CreditNote',
    );
    return rows.length === 0 ? undefined : rows;
  });
  expect(before!.status).toBe('ready');
});

test('an invoice that was voided without a document gets none that nothing would cancel', async () => {
  await seller.buyer('failed', { e_document_profile: 'en16931_ubl', country: null });
  const invoice = await seller.hours('failed');
  const failed = await seller.document('failed', 'failed');
  await voided(invoice);
  await seller.buyer('failed', { country: 'FR' });
  const retried = await seller.client.post(`/e_documents/${failed.svc_id}/retry`);
  expect([retried.status, refusedBy(retried)]).toEqual([422, ['invoice_voided']]);

  const other = await issued('other', 'en16931_ubl');
  await voided(other);
  const asked = { e_document: { profile: 'peppol_bis3' } };
  const refused = await seller.client.post(`/invoices/${other.svc_id}/e_documents`, asked);
  expect([refused.status, refusedBy(refused)]).toEqual([422, ['invoice_voided']]);
});

test('the step that makes a document after the void makes none', async () => {
  await seller.buyer('step', { e_document_profile: 'facturx', country: null });
  const invoice = await seller.hours('step');
  await seller.document('step', 'failed');
  await voided(invoice);
  await seller.buyer('step', { country: 'FR' });
  await service.sql`delete from e_documents where subject_id = ${invoice.svc_id}`;
  const { makeChosenEDocument } = await import('../../../../src/areas/documents/e-documents/commands.ts');
  const [organization] = await service.sql<{ id: string }[]>`
    select organization_id as id from invoices where id = ${invoice.svc_id}`;
  const ctx = { db: service.sql, organizationId: organization!.id, now: realNow, after: () => {} };
  await makeChosenEDocument(ctx as never, { kind: 'invoice', subject_id: invoice.svc_id });
  expect(await kindsOf('step')).toEqual([]);
});
