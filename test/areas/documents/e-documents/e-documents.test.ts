import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// Electronic documents as they are made, kept and handed out: docs/rules/e-documents.md.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2026-03-01T10:00:00Z');
  const { client } = story;
  await client.put('/organizations', {
    organization: {
      country: 'DE',
      tax_identification_number: 'DE123456789',
      address_line1: 'Hauptstr. 1',
      city: 'Berlin',
      zipcode: '10115',
      legal_name: 'Muster GmbH',
      email: 'billing@muster.example',
    },
  });
  await client.post('/taxes', { tax: { name: 'USt', code: 'ust', rate: '19', applied_to_organization: true } });
  await client.post('/add_ons', {
    add_on: { name: 'Hour', code: 'hour', amount_cents: 10_000, amount_currency: 'EUR', unit_code: 'HUR' },
  });
});
afterAll(() => service.stop());

async function entity(fields: object): Promise<void> {
  const { billing_entities } = (await story.client.get('/billing_entities')).body;
  const answer = await story.client.put(`/billing_entities/${billing_entities[0].code}`, { billing_entity: fields });
  expect(answer.status, answer.text).toBe(200);
}

async function customer(external_id: string, fields: object = {}): Promise<void> {
  const answer = await story.client.post('/customers', {
    customer: {
      external_id,
      currency: 'EUR',
      legal_name: 'Client SA',
      country: 'FR',
      city: 'Paris',
      zipcode: '75001',
      legal_number: '73282932000074',
      tax_identification_number: 'FR44732829320',
      ...fields,
    },
  });
  expect(answer.status, answer.text).toBe(200);
}

async function oneOff(external_customer_id: string, fields: object = {}): Promise<Invoice> {
  const answer = await story.client.post('/invoices', {
    invoice: { external_customer_id, currency: 'EUR', fees: [{ add_on_code: 'hour', units: 2 }], ...fields },
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.invoice;
}

const documentsOf = async (query: string): Promise<Invoice[]> =>
  (await story.client.get(`/e_documents?${query}`)).body.e_documents;

async function fileAt(url: string): Promise<{ type: string | null; bytes: Buffer }> {
  const { pathname, search } = new URL(url);
  const answer = await fetch(`${service.url}${pathname}${search}`);
  expect(answer.status).toBe(200);
  return { type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) };
}

const finished = (id: string) =>
  until(async () => {
    const { e_document } = (await story.client.get(`/e_documents/${id}`)).body;
    return e_document.status === 'pending' ? undefined : e_document;
  });

const announced = (type: string, id: string) =>
  until(async () => {
    const rows = await service.sql<{ payload: string }[]>`
      select payload from webhook_events where webhook_type = ${type} and object_id = ${id}`;
    return rows.length === 0 ? undefined : rows.map(({ payload }) => JSON.parse(payload).e_document);
  });

describe('a document in a profile', () => {
  test('it is made on request, kept with its hash, and answered again as it is', async () => {
    await customer('request');
    const invoice = await oneOff('request', { buyer_reference: 'PO-7' });
    const path = `/invoices/${invoice.svc_id}/e_documents`;
    const { status, body } = await story.client.post(path, { e_document: { profile: 'peppol_bis3' } });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.e_document).toMatchObject({ subject_type: 'Invoice', svc_subject_id: invoice.svc_id, problems: [] });
    const { type, bytes } = await fileAt(body.e_document.file_url);
    expect(type).toBe('application/xml');
    const text = bytes.toString();
    expect(text).toContain('urn:fdc:peppol.eu:2017:poacc:billing:3.0');
    expect(text).toContain('<cbc:BuyerReference>PO-7</cbc:BuyerReference>');
    expect(text).toContain('unitCode="HUR"');
    const document = await finished(body.e_document.svc_id);
    expect(document).toMatchObject({
      status: 'ready',
      number: invoice.number,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      size: bytes.length,
      retain_until: '2036-12-31',
    });
    expect(await announced('e_document.created', document.svc_id)).toMatchObject([{ status: 'ready' }]);
    const again = await story.client.post(path, { e_document: { profile: 'peppol_bis3' } });
    expect(again.body.e_document.svc_id).toBe(document.svc_id);
    expect(await documentsOf('profiles[]=peppol_bis3&external_customer_id=request')).toHaveLength(1);
    expect(await documentsOf('statuses[]=failed&external_customer_id=request')).toEqual([]);
  });

  test('what a receiver would refuse is named with its field, and nothing is stored', async () => {
    await customer('bare', { country: null, tax_identification_number: null, legal_number: null });
    const invoice = await oneOff('bare');
    const answer = await story.client.post(`/invoices/${invoice.svc_id}/e_documents`, {
      e_document: { profile: 'xrechnung_ubl' },
    });
    expect(answer).toMatchObject({ status: 422, body: { error_details: { base: ['e_document_not_available'] } } });
    const rules = answer.body.error_details.problems.map(({ rule }: { rule: string }) => rule);
    expect(rules).toEqual(expect.arrayContaining(['BR-11', 'BR-DE-1', 'BR-DE-15']));
    expect(await documentsOf('external_customer_id=bare')).toEqual([]);
  });

  test('a hybrid of page and XML is made for a customer who chose it, as soon as the invoice is final', async () => {
    await customer('hybrid', { e_document_profile: 'facturx' });
    const invoice = await oneOff('hybrid');
    const [document] = await until(async () => {
      const rows = await documentsOf('external_customer_id=hybrid&statuses[]=ready');
      return rows.length === 0 ? undefined : rows;
    });
    expect(document).toMatchObject({ profile: 'facturx', svc_subject_id: invoice.svc_id });
    const { type, bytes } = await fileAt(document.file_url);
    expect(type).toBe('application/pdf');
    for (const part of ['/AFRelationship /Alternative', '/EmbeddedFiles', '/OutputIntents', 'factur-x.xml'])
      expect(bytes.includes(part), part).toBe(true);
    for (const part of ['<pdfaid:part>3', '<pdfaid:conformance>B', '<fx:ConformanceLevel>EN 16931'])
      expect(bytes.includes(part), part).toBe(true);
    const { invoice: shown } = (await story.client.get(`/invoices/${invoice.svc_id}`)).body;
    expect(new URL(shown.xml_url).pathname).toBe(new URL(document.file_url).pathname);
    const downloaded = await story.client.post(`/invoices/${invoice.svc_id}/download_xml`);
    expect(new URL(downloaded.body.invoice.xml_url).pathname).toBe(new URL(document.file_url).pathname);
  });

  test('a download names a profile, or is refused for an unknown one', async () => {
    await customer('named');
    const invoice = await oneOff('named');
    const path = `/invoices/${invoice.svc_id}/download_xml`;
    const { body } = await story.client.post(`${path}?profile=en16931_cii`);
    expect((await fileAt(body.invoice.xml_url)).bytes.toString()).toContain('CrossIndustryInvoice');
    expect(await story.client.post(`${path}?profile=ubl`)).toMatchObject({
      status: 422,
      body: { error_details: { profile: ['value_is_invalid'] } },
    });
  });

  test('a failed one is made after the missing fact came, with the other facts of the day of issue (FI45)', async () => {
    await customer('late', { e_document_profile: 'xrechnung_ubl', e_invoicing: { buyer_reference: 'Abteilung 7' } });
    const invoice = await oneOff('late');
    const [failed] = await until(async () => {
      const rows = await documentsOf('external_customer_id=late&statuses[]=failed');
      return rows.length === 0 ? undefined : rows;
    });
    const rules = failed.problems.map(({ rule }: { rule: string }) => rule);
    expect(rules).toEqual(['BR-DE-1', 'BR-DE-5', 'BR-DE-6']);
    expect(await announced('e_document.failed', failed.svc_id)).toMatchObject([{ status: 'failed' }]);
    expect((await story.client.get(`/invoices/${invoice.svc_id}`)).body.invoice.xml_url).toBeNull();

    await entity({
      phone: '+49 30 1234567',
      e_invoicing: { contact_name: 'Rechnungsstelle' },
      bank_accounts: [{ iban: 'DE89370400440532013000' }],
    });
    await customer('late', { legal_name: 'Another Name' });
    const retried = await story.client.post(`/e_documents/${failed.svc_id}/retry`);
    expect(retried.status, retried.text).toBe(200);
    const text = (await fileAt(retried.body.e_document.file_url)).bytes.toString();
    expect(text).toContain('<cbc:Name>Rechnungsstelle</cbc:Name>');
    expect(text).toContain('<cbc:ID>DE89370400440532013000</cbc:ID>');
    expect(text).toContain('Client SA');
    expect(text).not.toContain('Another Name');
    expect(await finished(failed.svc_id)).toMatchObject({ status: 'ready' });
  });

  test('what was handed out can neither change nor go (FI44)', async () => {
    const [document] = await documentsOf('external_customer_id=request&statuses[]=ready');
    const { svc_id } = document;
    await expect(service.sql`update e_documents set content = 'x' where id = ${svc_id}`).rejects.toThrow(
      'never changes',
    );
    await expect(service.sql`delete from e_documents where id = ${svc_id}`).rejects.toThrow('is kept until 2036-12-31');
  });

  test('a note names its invoice and the day of its issue', async () => {
    await customer('noted');
    const invoice = await oneOff('noted');
    const { body } = await story.client.post('/credit_notes', {
      credit_note: {
        invoice_id: invoice.svc_id,
        reason: 'other',
        credit_amount_cents: 0,
        refund_amount_cents: 0,
        offset_amount_cents: 1190,
        items: [{ fee_id: invoice.fees[0].svc_id, amount_cents: 1000 }],
      },
    });
    const made = await story.client.post(`/credit_notes/${body.credit_note.svc_id}/e_documents`, {
      e_document: { profile: 'en16931_cii' },
    });
    expect(made.status, made.text).toBe(200);
    const text = (await fileAt(made.body.e_document.file_url)).bytes.toString();
    expect(text).toContain(`<ram:IssuerAssignedID>${invoice.number}</ram:IssuerAssignedID>`);
    expect(text).toContain('<ram:DuePayableAmount>11.90</ram:DuePayableAmount>');
  });
});

test('a check says before the first invoice what documents would lack', async () => {
  await customer('checked', { e_document_profile: 'peppol_bis3', city: null });
  const checked = async (path: string) => (await story.client.get(path)).body.e_document_check;
  expect(await checked('/customers/checked/e_document_check')).toMatchObject({
    profile: 'peppol_bis3',
    ready: false,
    missing: [{ rule: 'R003', resource: 'customer', field: 'e_invoicing.buyer_reference' }],
  });
  expect(await checked('/customers/checked/e_document_check?profile=en16931_ubl')).toEqual({
    profile: 'en16931_ubl',
    ready: true,
    missing: [],
  });
  const { billing_entities } = (await story.client.get('/billing_entities')).body;
  const path = `/billing_entities/${billing_entities[0].code}/e_document_check?profile=xrechnung_ubl`;
  expect(await checked(path)).toMatchObject({ profile: 'xrechnung_ubl', ready: true });
});

test('documents of unknown records are refused by the name of the record', async () => {
  const unknown = '01890000-0000-7000-8000-000000000000';
  expect(
    (await story.client.post(`/invoices/${unknown}/e_documents`, { e_document: { profile: 'facturx' } })).body,
  ).toMatchObject({
    resource: 'invoice',
  });
  expect((await story.client.get(`/e_documents/${unknown}`)).body).toMatchObject({ resource: 'e_document' });
});
