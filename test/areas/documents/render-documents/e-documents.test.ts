import { afterAll, beforeAll, expect, test } from 'vitest';
import { create } from 'xmlbuilder2';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// Electronic documents: other-routes.md "download_xml", EN 16931 in UBL 2.1.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-03-01T10:00:00Z');
  const { client } = story;
  await client.put('/organizations', {
    organization: {
      country: 'FR',
      tax_identification_number: 'FR32123456789',
      city: 'Lyon',
      zipcode: '69001',
      legal_name: 'Fournisseur & Fils',
      email: 'f@example.fr',
    },
  });
  for (const [code, rate] of [
    ['vat', '20'],
    ['low', '10'],
  ])
    await client.post('/taxes', { tax: { name: code, code, rate } });
  await client.post('/add_ons', {
    add_on: { name: 'Book', code: 'book', amount_cents: 1000, amount_currency: 'EUR', tax_codes: ['low'] },
  });
  await story.customer({
    currency: 'EUR',
    legal_name: 'Client SA',
    country: 'DE',
    city: 'Ulm',
    tax_identification_number: 'DE123',
  });
  await client.post('/coupons', {
    coupon: {
      name: 'Ten',
      code: 'ten',
      coupon_type: 'percentage',
      percentage_rate: '10',
      frequency: 'forever',
      expiration: 'no_expiration',
    },
  });
  await story.plan({
    amount_cents: 10000,
    amount_currency: 'EUR',
    pay_in_advance: true,
    invoice_display_name: 'Plan <1>',
    tax_codes: ['vat'],
    fixed_charges: [
      {
        add_on_code: 'book',
        code: 'books',
        charge_model: 'standard',
        units: 3,
        pay_in_advance: true,
        properties: { amount: '10' },
        tax_codes: ['low'],
      },
    ],
  });
  await client.post('/applied_coupons', { applied_coupon: { external_customer_id: 'acme', coupon_code: 'ten' } });
});
afterAll(() => service.stop());

let count = 0;

/** A new subscription's first invoice: 100.00 at 20 %, 30.00 at 10 %, a tenth off. */
async function bill(): Promise<Invoice> {
  count += 1;
  await story.subscribe({ external_id: `sub${count}` });
  return (await story.invoices(count)).at(-1);
}

/** The document behind an address, as plain objects; texts as they are escaped. */
// biome-ignore lint/suspicious/noExplicitAny: documents of every shape
async function fileAt(url: string): Promise<{ type: string | null; root: any }> {
  const { pathname, search } = new URL(url);
  const answer = await fetch(`${service.url}${pathname}${search}`);
  expect(answer.status).toBe(200);
  return { type: answer.headers.get('content-type'), root: create(await answer.text()).end({ format: 'object' }) };
}

const text = (node: unknown): string => (typeof node === 'object' ? (node as { '#': string })['#'] : String(node));

test('an electronic invoice states its lines, discount, tax by rate and totals', async () => {
  const invoice = await bill();
  const { body } = await story.client.post(`/invoices/${invoice.svc_id}/download_xml`);
  expect(body.invoice.file_url).toBeNull();
  const { type, root } = await fileAt(body.invoice.xml_url);
  expect(type).toBe('application/xml');
  const document = root.Invoice;
  expect(document).toMatchObject({
    'cbc:CustomizationID': 'urn:cen.eu:en16931:2017',
    'cbc:ID': invoice.number,
    'cbc:IssueDate': '2024-03-01',
    'cbc:InvoiceTypeCode': '380',
    'cbc:DocumentCurrencyCode': 'EUR',
  });
  const supplier = document['cac:AccountingSupplierParty']['cac:Party'];
  expect(supplier['cac:PartyName']['cbc:Name']).toBe('Fournisseur &amp; Fils');
  const buyer = document['cac:AccountingCustomerParty']['cac:Party'];
  expect(buyer['cac:PartyTaxScheme']['cbc:CompanyID']).toBe('DE123');

  const lines = document['cac:InvoiceLine'];
  expect(
    // biome-ignore lint/suspicious/noExplicitAny: documents of every shape
    lines.map((line: any) => [
      line['cac:Item']['cbc:Name'],
      text(line['cbc:InvoicedQuantity']),
      text(line['cac:Price']['cbc:PriceAmount']),
      text(line['cbc:LineExtensionAmount']),
      line['cac:Item']['cac:ClassifiedTaxCategory']['cbc:Percent'],
    ]),
  ).toEqual([
    ['Plan &lt;1&gt;', '1', '100', '100.00', '20'],
    ['Book', '3', '10', '30.00', '10'],
  ]);
  const subtotals = document['cac:TaxTotal']['cac:TaxSubtotal'];
  expect(
    // biome-ignore lint/suspicious/noExplicitAny: documents of every shape
    subtotals.map((row: any) => [text(row['cbc:TaxableAmount']), text(row['cbc:TaxAmount'])]),
  ).toEqual([
    ['90.00', '18.00'],
    ['27.00', '2.70'],
  ]);
  const totals = document['cac:LegalMonetaryTotal'];
  expect(Object.fromEntries(Object.entries(totals).map(([name, node]) => [name, text(node)]))).toEqual({
    'cbc:LineExtensionAmount': '130.00',
    'cbc:TaxExclusiveAmount': '117.00',
    'cbc:TaxInclusiveAmount': '137.70',
    'cbc:AllowanceTotalAmount': '13.00',
    'cbc:PayableAmount': '137.70',
  });
});

test('an electronic credit note states what it corrects and what coupons had taken off', async () => {
  const invoice = await bill();
  const fee = invoice.fees.find((each: Invoice) => each.item.type === 'subscription');
  const created = await story.client.post('/credit_notes', {
    credit_note: {
      invoice_id: invoice.svc_id,
      reason: 'other',
      credit_amount_cents: 0,
      refund_amount_cents: 0,
      offset_amount_cents: 1080,
      items: [{ fee_id: fee.svc_id, amount_cents: 1000 }],
    },
  });
  expect(created.status, created.text).toBe(200);
  const { credit_note: note } = created.body;
  const { body } = await story.client.post(`/credit_notes/${note.svc_id}/download_xml`);
  const document = (await fileAt(body.credit_note.xml_url)).root.CreditNote;
  expect(document).toMatchObject({
    'cbc:ID': note.number,
    'cbc:CreditNoteTypeCode': '381',
    'cac:BillingReference': { 'cac:InvoiceDocumentReference': { 'cbc:ID': invoice.number } },
  });
  expect(text(document['cac:CreditNoteLine']['cbc:LineExtensionAmount'])).toBe('10.00');
  expect(text(document['cac:AllowanceCharge']['cbc:Amount'])).toBe('1.00');
  expect(text(document['cac:LegalMonetaryTotal']['cbc:PayableAmount'])).toBe('10.80');

  const url = expect.stringMatching(/^http/);
  const shown = async () => {
    const { credit_note } = (await story.client.get(`/credit_notes/${note.svc_id}`)).body;
    const { credit_notes } = (await story.client.get('/credit_notes?per_page=100')).body;
    return [credit_note, credit_notes.find((each: Invoice) => each.svc_id === note.svc_id)];
  };
  for (const each of await shown()) expect(each).toMatchObject({ file_url: null, xml_url: url });
  const announced = () => service.sql<{ payload: string }[]>`
    select payload from webhook_events where webhook_type = 'credit_note.generated' and object_id = ${note.svc_id}
    order by position`;
  const [first] = await until(async () => ((await announced()).length === 1 ? announced() : undefined));
  expect(JSON.parse(first!.payload).credit_note).toMatchObject({ file_url: null, xml_url: url });
  const drawn = await story.client.post(`/credit_notes/${note.svc_id}/download`);
  expect(drawn.body.credit_note.file_url).toEqual(url);
  await until(async () => (await shown())[0].file_url ?? undefined);
  for (const each of await shown()) expect(each).toMatchObject({ file_url: url, xml_url: url });
  const [, second] = await until(async () => ((await announced()).length === 2 ? announced() : undefined));
  expect(JSON.parse(second!.payload).credit_note).toMatchObject({ file_url: url, xml_url: url });
});

/** April's invoice: 100.00 at 19 %, and usage of 100.00 at 7 % with a coupon of 5.00. */
async function couponOnUsage(): Promise<{ own: Story; invoice: Invoice }> {
  const own = await openStory(service, '2024-03-01T00:00:00Z');
  const { client } = own;
  const organization = { country: 'DE', tax_identification_number: 'DE123456789', city: 'Ulm', zipcode: '89073' };
  await client.put('/organizations', {
    organization: { ...organization, legal_name: 'Verkauf', email: 'v@example.de' },
  });
  for (const [code, rate] of [
    ['vat', '19'],
    ['low', '7'],
  ])
    await client.post('/taxes', { tax: { name: code, code, rate } });
  await own.customer({ currency: 'EUR', legal_name: 'Kauf', country: 'DE', city: 'Ulm' });
  const metric = await own.metric('calls');
  const coupon = {
    name: 'Five',
    code: 'five',
    coupon_type: 'fixed_amount',
    amount_cents: 500,
    amount_currency: 'EUR',
    frequency: 'once',
    expiration: 'no_expiration',
    applies_to: { billable_metric_codes: ['calls'] },
  };
  expect((await client.post('/coupons', { coupon })).status).toBe(200);
  await own.plan({
    amount_cents: 10000,
    amount_currency: 'EUR',
    tax_codes: ['vat'],
    charges: [
      {
        billable_metric_id: metric.svc_id,
        code: 'calls',
        charge_model: 'standard',
        properties: { amount: '100' },
        tax_codes: ['low'],
      },
    ],
  });
  await own.subscribe();
  const applied_coupon = { external_customer_id: 'acme', coupon_code: 'five' };
  expect((await client.post('/applied_coupons', { applied_coupon })).status).toBe(200);
  await own.use('calls');
  await own.advanceTo('2024-04-01T12:00:00Z');
  return { own, invoice: (await own.invoices(1))[0]! };
}

test('a credit note of several fees takes a coupon off the fee that it had reduced', async () => {
  const { own, invoice } = await couponOnUsage();
  expect(invoice).toMatchObject({ sub_total_excluding_taxes_amount_cents: 19_500, taxes_amount_cents: 2565 });
  const credit = async (share: number, credit_amount_cents: number) => {
    const items = invoice.fees.map((fee: Invoice) => ({ fee_id: fee.svc_id, amount_cents: fee.amount_cents * share }));
    const credit_note = { invoice_id: invoice.svc_id, reason: 'other', credit_amount_cents, items };
    const created = await own.client.post('/credit_notes', { credit_note });
    expect(created.status, created.text).toBe(200);
    const path = `/credit_notes/${created.body.credit_note.svc_id}/download_xml`;
    const { body, text: said } = await own.client.post(path);
    expect(body.credit_note?.xml_url, said).toBeTruthy();
    return (await fileAt(body.credit_note.xml_url)).root.CreditNote;
  };
  // biome-ignore lint/suspicious/noExplicitAny: documents of every shape
  const rows = (document: any) =>
    // biome-ignore lint/suspicious/noExplicitAny: documents of every shape
    document['cac:TaxTotal']['cac:TaxSubtotal'].map((row: any) => [
      text(row['cbc:TaxableAmount']),
      text(row['cbc:TaxAmount']),
      text(row['cac:TaxCategory']['cbc:Percent']),
    ]);
  const part = await credit(0.4, 8826);
  expect(rows(part).sort()).toEqual([
    ['38.00', '2.66', '7'],
    ['40.00', '7.60', '19'],
  ]);
  const rest = await credit(0.6, 13_239);
  expect(rows(rest).sort()).toEqual([
    ['57.00', '3.99', '7'],
    ['60.00', '11.40', '19'],
  ]);
  const allowance = rest['cac:AllowanceCharge'];
  expect([text(allowance['cbc:Amount']), allowance['cac:TaxCategory']['cbc:Percent']]).toEqual(['3.00', '7']);
});

test('electronic documents of drafts and unknown records are refused, and invoices and notes are not confused', async () => {
  const unknown = '01890000-0000-7000-8000-000000000000';
  expect((await story.client.post(`/invoices/${unknown}/download_xml`)).body).toMatchObject({ resource: 'invoice' });
  expect((await story.client.post(`/credit_notes/${unknown}/download_xml`)).body).toMatchObject({
    resource: 'credit_note',
  });
  const invoice = await bill();
  const drawn = (await story.client.post(`/invoices/${invoice.svc_id}/download`)).body.invoice.file_url;
  const written = (await story.client.post(`/invoices/${invoice.svc_id}/download_xml`)).body.invoice.xml_url;
  expect(new URL(drawn).pathname).not.toBe(new URL(written).pathname);
});

test('a document is announced once, with the addresses that exist', async () => {
  const invoice = await bill();
  const announced = () =>
    until(async () => {
      const rows = await service.sql<{ payload: string }[]>`
        select payload from webhook_events where webhook_type = 'invoice.generated' and object_id = ${invoice.svc_id}
        order by position`;
      return rows.map(({ payload }) => JSON.parse(payload).invoice);
    });
  const { xml_url } = (await story.client.post(`/invoices/${invoice.svc_id}/download_xml`)).body.invoice;
  const written = await until(async () => ((await announced()).length === 1 ? announced() : undefined));
  expect(written).toMatchObject([{ file_url: null, xml_url: expect.stringContaining(new URL(xml_url).pathname) }]);
  await story.client.post(`/invoices/${invoice.svc_id}/download`);
  const both = await until(async () => ((await announced()).length === 2 ? announced() : undefined));
  expect(both[1]).toMatchObject({ file_url: expect.stringMatching(/^http/), xml_url: expect.stringMatching(/^http/) });
  const { invoice: shown } = (await story.client.get(`/invoices/${invoice.svc_id}`)).body;
  const { invoices } = (await story.client.get('/invoices?per_page=100')).body;
  const listed = invoices.find((each: Invoice) => each.svc_id === invoice.svc_id);
  for (const each of [shown, listed])
    expect(each).toMatchObject({ file_url: expect.stringMatching(/^http/), xml_url: expect.stringMatching(/^http/) });
});

test('an electronic invoice that receivers would refuse is refused', async () => {
  const made = await story.client.post('/billing_entities', { billing_entity: { name: 'Bare', code: 'bare' } });
  expect(made.status, made.text).toBe(200);
  await story.client.post('/customers', {
    customer: { external_id: 'bare', currency: 'KWD', billing_entity_code: 'bare' },
  });
  await story.client.post('/add_ons', {
    add_on: { name: 'Dinar', code: 'dinar', amount_cents: 1000, amount_currency: 'KWD' },
  });
  const { body } = await story.client.post('/invoices', {
    invoice: { external_customer_id: 'bare', currency: 'KWD', fees: [{ add_on_code: 'dinar', units: 1 }] },
  });
  expect(await story.client.post(`/invoices/${body.invoice.svc_id}/download_xml`)).toMatchObject({
    status: 422,
    body: {
      error_details: {
        'billing_entity.country': ['value_is_mandatory'],
        'customer.country': ['value_is_mandatory'],
        'billing_entity.legal_number': ['value_is_mandatory'],
        currency: ['unsupported_value'],
      },
    },
  });
  expect(await service.sql`select from e_documents where subject_id = ${body.invoice.svc_id}`).toHaveLength(0);
});

test('an invoice cannot be synced to a CRM because none is connected', async () => {
  const { body } = await story.client.put(`/invoices/${(await bill()).svc_id}/sync_salesforce_id`, {
    external_id: '0061',
    integration_code: 'crm',
  });
  expect(body).toMatchObject({ status: 404, resource: 'integration' });
});
