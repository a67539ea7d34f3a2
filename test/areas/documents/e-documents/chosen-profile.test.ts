import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openSeller, type SellerStory } from './seller-story.ts';

// Who decides in which profile a document is made by itself: e-documents.md#profiles.

let service: TestService;
let seller: SellerStory;

beforeAll(async () => {
  service = await startService();
  seller = await openSeller(service, '2026-03-10T10:00:00Z');
  await seller.entity({
    phone: '+49 30 1234567',
    e_invoicing: { contact_name: 'Rechnungsstelle' },
    bank_accounts: [{ iban: 'DE89370400440532013000' }],
  });
});
afterAll(() => service.stop());

/** The document that a new invoice of a customer gets by itself. */
async function made(customer: string) {
  await seller.hours(customer);
  const document = await seller.document(customer, 'ready');
  const { type, bytes } = await seller.fileAt(document.file_url);
  return { profile: document.profile, type, start: bytes.subarray(0, 5).toString() };
}
const XML = { type: 'application/xml', start: '<?xml' };
const PAGE = { type: 'application/pdf', start: '%PDF-' };

test('nothing is made by itself while nobody chose a profile', async () => {
  await seller.buyer('nobody');
  await seller.hours('nobody');
  // The row of a document is written with its invoice, so none comes later.
  expect(await service.sql`select from e_documents where organization_id = ${seller.organizationId}`).toHaveLength(0);
});

test('a German seller who turned einvoicing on makes pages that carry XML, and XRechnung for a Leitweg-ID', async () => {
  await seller.entity({ einvoicing: true });
  await seller.buyer('company');
  expect(await made('company')).toEqual({ profile: 'facturx', ...PAGE });
  await seller.buyer('authority', { e_invoicing: { buyer_reference: '04011000-12345-03', leitweg_id: true } });
  expect(await made('authority')).toEqual({ profile: 'xrechnung_ubl', ...XML });
});

test('the profile of the customer goes before that of the seller, and that before einvoicing', async () => {
  await seller.entity({ e_document_profile: 'xrechnung_cii' });
  await seller.buyer('referenced', { e_invoicing: { buyer_reference: 'Abteilung 7' } });
  expect(await made('referenced')).toEqual({ profile: 'xrechnung_cii', ...XML });
  await seller.buyer('belgian', { e_document_profile: 'peppol_bis3', e_invoicing: { buyer_reference: 'PO 7' } });
  expect(await made('belgian')).toEqual({ profile: 'peppol_bis3', ...XML });
});

test('a seller who turned einvoicing off again makes none', async () => {
  await seller.entity({ einvoicing: false, e_document_profile: null });
  await seller.buyer('later');
  const invoice = await seller.hours('later');
  expect(await seller.documents('external_customer_id=later')).toEqual([]);
  expect((await seller.invoice(invoice.svc_id)).xml_url).toBeNull();
});
