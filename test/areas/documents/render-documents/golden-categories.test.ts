import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import type { Invoice } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';
import { openSeller, type SellerStory } from '../e-documents/seller-story.ts';

// Categories of VAT from the interface to the file, with golden cases FI36, FI37 and FI41: e-documents.md#categories.

let service: TestService;
let seller: SellerStory;
let register: Server;

beforeAll(async () => {
  // Every number is valid.
  register = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ valid: true, countryCode: 'FR', vatNumber: '44732829320' }));
  });
  await new Promise<void>((done) => register.listen(0, '127.0.0.1', done));
  const { port } = register.address() as AddressInfo;
  service = await startService({ settings: { VAT_REGISTER_URL: `http://127.0.0.1:${port}/check` } });
  seller = await openSeller(service, '2026-03-10T10:00:00Z');
  await seller.entity({
    eu_tax_management: true,
    phone: '+49 30 1234567',
    e_invoicing: { contact_name: 'Rechnungsstelle', tax_registration: '30/123/45678' },
    bank_accounts: [{ iban: 'DE89370400440532013000' }],
  });
});
afterAll(async () => {
  await service.stop();
  register.close();
});

async function file(invoice: Invoice, profile: string): Promise<string> {
  const { invoice: made } = await ok(seller.client.post(`/invoices/${invoice.svc_id}/download_xml?profile=${profile}`));
  return (await seller.fileAt(made.xml_url)).bytes.toString();
}
/** The texts of an element, oldest first. */
const texts = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^<]*)</${name}>`, 'g'))].map(([, text]) => text!);
/** The numbers under which a party is taxed (BT-31, BT-32, BT-48), in UBL. */
const taxNumbers = (xml: string): string[] =>
  [...xml.matchAll(/<cac:PartyTaxScheme>([\s\S]*?)<\/cac:PartyTaxScheme>/g)].flatMap(([, scheme]) =>
    texts(scheme!, 'cbc:CompanyID'),
  );
/** The VAT rows: category, rate and reason. */
const rows = (xml: string) =>
  [...xml.matchAll(/<cac:TaxSubtotal>([\s\S]*?)<\/cac:TaxSubtotal>/g)].map(([, row]) => ({
    category: texts(row!.slice(row!.indexOf('<cac:TaxCategory>')), 'cbc:ID')[0],
    rate: texts(row!, 'cbc:Percent')[0],
    code: texts(row!, 'cbc:TaxExemptionReasonCode')[0],
  }));

test('a French buyer with a VAT number is billed under reverse charge, with the numbers of both (FI36)', async () => {
  await seller.buyer('fr');
  const made = await seller.hours('fr');
  await until(async () => (await seller.invoice(made.svc_id)).status === 'finalized' || undefined);
  const xml = await file(made, 'en16931_ubl');
  expect(rows(xml)).toEqual([{ category: 'AE', rate: '0', code: 'VATEX-EU-AE' }]);
  expect(taxNumbers(xml)).toEqual(['DE123456789', '30/123/45678', 'FR44732829320']);
});

test('without the number of the buyer the reverse charge is refused, and the field is named (FI36)', async () => {
  await seller.tax(0, { code: 'reverse', vat_category: 'AE', applied_to_organization: false });
  await seller.buyer('numberless', { tax_identification_number: null });
  const fees = [{ add_on_code: 'hour', units: 1, tax_codes: ['reverse'] }];
  const invoice = await seller.hours('numberless', 1, { fees });
  const { status, body } = await seller.client.post(`/invoices/${invoice.svc_id}/download_xml?profile=en16931_cii`);
  expect([status, body.error_details.base]).toEqual([422, ['e_document_not_available']]);
  expect(body.error_details.problems).toMatchObject([
    { rule: 'BR-AE-02', resource: 'customer', field: 'tax_identification_number' },
  ]);
});

test('a buyer in the United States is outside the tax, and the seller’s VAT number is a plain number (FI36)', async () => {
  await seller.buyer('us', { country: 'US', tax_identification_number: null });
  const xml = await file(await seller.hours('us'), 'en16931_ubl');
  expect(rows(xml)).toEqual([{ category: 'O', rate: undefined, code: 'VATEX-EU-O' }]);
  expect(taxNumbers(xml)).toEqual(['30/123/45678']);
  const supplier = xml.slice(
    xml.indexOf('<cac:AccountingSupplierParty>'),
    xml.indexOf('<cac:AccountingCustomerParty>'),
  );
  expect(supplier).toMatch(/<cac:PartyIdentification>\s*<cbc:ID>DE123456789<\/cbc:ID>/);
});

test('a top-up states no VAT number; XRechnung takes it with the rate 0 in its row (FI37)', async () => {
  await seller.buyer('topped', { tax_identification_number: null, e_invoicing: { buyer_reference: 'Abteilung 7' } });
  const { wallet } = await ok(
    seller.client.post('/wallets', {
      wallet: { external_customer_id: 'topped', rate_amount: '1', currency: 'EUR', name: 'Credits' },
    }),
  );
  const { wallet_transactions: bought } = await ok(
    seller.client.post('/wallet_transactions', {
      wallet_transaction: { wallet_id: wallet.svc_id, paid_credits: '20' },
    }),
  );
  const invoice = { svc_id: bought[0].svc_invoice_id };
  const xml = await file(invoice, 'en16931_ubl');
  expect(rows(xml)).toEqual([{ category: 'O', rate: undefined, code: 'VATEX-EU-O' }]);
  expect(taxNumbers(xml)).toEqual(['30/123/45678']);
  expect(rows(await file(invoice, 'xrechnung_ubl'))).toEqual([{ category: 'O', rate: '0', code: 'VATEX-EU-O' }]);
});

test('a French buyer is known by its SIRET, and reached by the SIREN in it (FI41)', async () => {
  await seller.buyer('siret', { tax_identification_number: null });
  const xml = await file(await seller.hours('siret'), 'en16931_ubl');
  expect(xml).toContain('<cbc:EndpointID schemeID="0225">732829320</cbc:EndpointID>');
  expect(xml).toContain('<cbc:CompanyID schemeID="0009">73282932000074</cbc:CompanyID>');
});

test('a fee that bears a tax which is no VAT leaves no document, and the tax is named', async () => {
  await seller.tax(2, { code: 'city', name: 'City tax', not_vat: true, applied_to_organization: false });
  await seller.buyer('guest', { tax_identification_number: null });
  const fees = [{ add_on_code: 'hour', units: 1, tax_codes: ['ust', 'city'] }];
  const invoice = await seller.hours('guest', 1, { fees });
  const { status, body } = await seller.client.post(`/invoices/${invoice.svc_id}/download_xml?profile=facturx`);
  expect([status, body.error_details.base]).toEqual([422, ['e_document_not_available']]);
  expect(body.error_details.problems).toMatchObject([{ rule: 'several_taxes', resource: 'tax', field: 'not_vat' }]);
});
