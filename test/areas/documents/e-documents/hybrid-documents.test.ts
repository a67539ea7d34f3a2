import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

test('the page of a customer who did not choose it carries nothing', async () => {
  await seller.buyer('plain');
  const invoice = await seller.hours('plain');
  await ok(seller.client.post(`/invoices/${invoice.svc_id}/e_documents`, { e_document: { profile: 'facturx' } }));
  await seller.document('plain', 'ready');
  const { body } = await seller.client.post(`/invoices/${invoice.svc_id}/download`);
  expect((await seller.fileAt(body.invoice.file_url)).bytes.includes('factur-x.xml')).toBe(false);
});
