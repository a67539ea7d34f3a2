import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readEInvoice, readInvoiceHybrid } from '../../../../src/areas/documents/render-documents/document-subjects.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';
import { openSeller, type SellerStory } from './seller-story.ts';

// A customer who chose Factur-X gets one file everywhere: docs/rules/e-documents.md "profiles".
let service: TestService;
let seller: SellerStory;

beforeAll(async () => {
  service = await startService();
  seller = await openSeller(service, '2026-03-01T10:00:00Z');
});
afterAll(() => service.stop());

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const mailsTo = (customer: string) =>
  until(async () => {
    const { mails } = await ok(seller.client.get('/sandbox/mails'));
    const found = mails.filter(({ to }: { to: string[] }) => to.includes(`${customer}@client.example`));
    return found.length === 0 ? undefined : found;
  });

const mailedFile = async (customer: string) => {
  const [mail] = await mailsTo(customer);
  return (await seller.fileAt(mail.attachments[0].file_url)).bytes;
};

test('download, mail and invoice carry the archived page with its XML', async () => {
  await seller.entity({ email_settings: ['invoice.finalized', 'credit_note.created'] });
  await seller.buyer('hybrid', { e_document_profile: 'facturx' });
  const invoice = await seller.hours('hybrid');
  const document = await seller.document('hybrid', 'ready');
  const { body } = await seller.client.post(`/invoices/${invoice.svc_id}/download`);
  const { type, bytes } = await seller.fileAt(body.invoice.file_url);
  expect(type).toBe('application/pdf');
  expect(bytes.includes('factur-x.xml')).toBe(true);
  expect(sha256(bytes)).toBe(document.sha256);
  expect(sha256(await mailedFile('hybrid'))).toBe(document.sha256);
  expect((await seller.invoice(invoice.svc_id)).file_url).toContain('/documents/');

  const { credit_note } = await ok(
    seller.credit(invoice, 1000, { refund_amount_cents: 0, offset_amount_cents: 1190, credit_amount_cents: 0 }),
  );
  const drawn = await ok(seller.client.post(`/credit_notes/${credit_note.svc_id}/download`));
  const note = await until(async () => {
    const rows = await seller.documents('external_customer_id=hybrid&statuses[]=ready');
    return rows.find(({ subject_type }) => subject_type === 'CreditNote');
  });
  expect(sha256((await seller.fileAt(drawn.credit_note.file_url)).bytes)).toBe(note.sha256);
});

test('while a fact is missing the plain page goes out, and the repaired one takes its place', async () => {
  await seller.buyer('bare', { e_document_profile: 'facturx', country: null });
  const invoice = await seller.hours('bare');
  const failed = await seller.document('bare', 'failed');
  expect(failed.problems.map(({ rule }: { rule: string }) => rule)).toEqual(['BR-11']);
  const path = `/invoices/${invoice.svc_id}/download`;
  const plain = await ok(seller.client.post(path));
  const before = await seller.fileAt(plain.invoice.file_url);
  expect(before.bytes.includes('factur-x.xml')).toBe(false);
  expect((await mailedFile('bare')).includes('factur-x.xml')).toBe(false);

  await seller.buyer('bare', { country: 'FR' });
  await ok(seller.client.post(`/e_documents/${failed.svc_id}/retry`));
  const repaired = await seller.document('bare', 'ready');
  const after = await seller.fileAt((await ok(seller.client.post(path))).invoice.file_url);
  expect(sha256(after.bytes)).toBe(repaired.sha256);
});

test('a repaired page states what its XML does: the fact that was missing, and what was paid until the issue', async () => {
  await seller.buyer('page', { e_document_profile: 'facturx', country: null, tax_identification_number: null });
  const invoice = await seller.hours('page');
  await seller.document('page', 'failed');
  const payment = { invoice_id: invoice.svc_id, amount_cents: 23_800, reference: 'bank' };
  await ok(seller.client.post('/payments', { payment }));
  await seller.buyer('page', { country: 'FR', tax_identification_number: 'FR44732829320' });
  const [organization] = await service.sql<{ id: string }[]>`
    select organization_id as id from invoices where id = ${invoice.svc_id}`;
  const scope = { db: service.sql, organizationId: organization!.id };
  const { parties, headline, totals } = await readInvoiceHybrid(scope as never, invoice.svc_id as never);
  expect(parties[1]!.lines.some((line) => line.includes('FR44732829320'))).toBe(true);
  expect(headline?.text).toContain('238.00');
  expect(totals.at(-1)).toMatchObject({ label: 'Total', kind: 'grand' });
  const facts = await readEInvoice(scope as never, invoice.svc_id as never, 'facturx');
  expect([facts.buyer.vatNumber, facts.totals.payableCents]).toEqual(['FR44732829320', 23_800]);
});

test('a page that was handed out stays when its customer chooses a profile later', async () => {
  await seller.buyer('later');
  const invoice = await seller.hours('later');
  const path = `/invoices/${invoice.svc_id}`;
  const before = await seller.fileAt((await ok(seller.client.post(`${path}/download`))).invoice.file_url);
  await seller.buyer('later', { e_document_profile: 'facturx' });
  await ok(seller.client.post(`${path}/e_documents`, { e_document: { profile: 'facturx' } }));
  await seller.document('later', 'ready');
  const after = await seller.fileAt((await ok(seller.client.post(`${path}/download`))).invoice.file_url);
  expect(sha256(after.bytes)).toBe(sha256(before.bytes));
});

test('the page of a customer who did not choose it carries nothing', async () => {
  await seller.buyer('plain');
  const invoice = await seller.hours('plain');
  await ok(seller.client.post(`/invoices/${invoice.svc_id}/e_documents`, { e_document: { profile: 'facturx' } }));
  await seller.document('plain', 'ready');
  const { body } = await seller.client.post(`/invoices/${invoice.svc_id}/download`);
  expect((await seller.fileAt(body.invoice.file_url)).bytes.includes('factur-x.xml')).toBe(false);
});
