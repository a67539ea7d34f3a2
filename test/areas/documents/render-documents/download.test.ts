import { afterAll, beforeAll, expect, test } from 'vitest';
import { openHookReceiver } from '../../../support/hook-receiver.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';

type Org = Awaited<ReturnType<TestService['org']>>;

let service: TestService;
let org: Org;
let invoiceId: string;

beforeAll(async () => {
  service = await startService();
  org = await service.org();
  await org.post('/add_ons', {
    add_on: { name: 'Setup', code: 'setup', amount_cents: 5000, amount_currency: 'EUR' },
  });
  await org.post('/customers', {
    customer: {
      external_id: 'ada',
      legal_name: 'Ada Lovelace Ltd',
      country: 'FR',
      city: 'Paris',
      zipcode: '75001',
      address_line1: '1 rue de Rivoli',
      billing_configuration: { document_locale: 'fr' },
    },
  });
  invoiceId = await oneOff(2);
});
afterAll(() => service.stop());

async function oneOff(units: number): Promise<string> {
  const made = await org.post('/invoices', {
    invoice: { external_customer_id: 'ada', currency: 'EUR', fees: [{ add_on_code: 'setup', units }] },
  });
  expect(made.status).toBe(200);
  return made.body.invoice.svc_id;
}

/** The address that the answer names, at the port where this test listens. */
const here = (fileUrl: string) => fileUrl.replace(/^https?:\/\/[^/]+/, service.url);

const download = async (id: string) => {
  const answer = await org.post(`/invoices/${id}/download`);
  expect(answer.status).toBe(200);
  return answer.body.invoice.file_url as string;
};

test('an invoice, its notification and its file list characters that no font has', async () => {
  const hook = await openHookReceiver();
  await org.post('/webhook_endpoints', {
    webhook_endpoint: { webhook_url: hook.url, event_types: ['invoice.generated', 'payment_receipt.generated'] },
  });
  await org.post('/customers', { customer: { external_id: 'tamil', name: 'தமிழ் Ltd 東京 தமிழ்' } });
  const customer = { external_customer_id: 'tamil', currency: 'EUR' };
  const made = await org.post('/invoices', { invoice: { ...customer, fees: [{ add_on_code: 'setup', units: 1 }] } });
  const id = made.body.invoice.svc_id;
  expect(made.body.invoice).not.toHaveProperty('missing_characters');
  const file = await fetch(here(await download(id)));
  expect(decodeURIComponent(file.headers.get('x-svc-missing-characters')!)).toBe('தமிழ்');

  const MISSING = { missing_characters: 'தமிழ்' };
  expect((await org.post(`/invoices/${id}/download`)).body.invoice).toMatchObject(MISSING);
  expect((await org.get(`/invoices/${id}`)).body.invoice).toMatchObject(MISSING);
  const listed = (await org.get('/invoices?external_customer_id=tamil')).body.invoices;
  expect(listed).toMatchObject([MISSING]);
  const [fee] = (await org.get(`/fees?external_customer_id=tamil`)).body.fees;
  const note = await org.post('/credit_notes', {
    credit_note: { invoice_id: id, credit_amount_cents: 100, items: [{ fee_id: fee.svc_id, amount_cents: 100 }] },
  });
  const noted = `/credit_notes/${note.body.credit_note.svc_id}`;
  await fetch(here((await org.post(`${noted}/download`)).body.credit_note.file_url));
  expect((await org.get(noted)).body.credit_note).toMatchObject(MISSING);
  await org.post('/payments', { payment: { invoice_id: id, amount_cents: 4900, reference: 'cash' } });
  const told = (type: string) =>
    hook.hooks
      .map(({ body }) => JSON.parse(body) as { webhook_type: string; [object: string]: unknown })
      .find(({ webhook_type }) => webhook_type === type);
  expect((await until(async () => told('invoice.generated'))).invoice).toMatchObject(MISSING);
  expect((await until(async () => told('payment_receipt.generated'))).payment_receipt).toMatchObject(MISSING);
  const [receipt] = (await org.get(`/payment_receipts?invoice_id=${id}`)).body.payment_receipts;
  expect(receipt).toMatchObject(MISSING);
  await hook.close();
});

test('a document whose characters all have a font lists no missing ones', async () => {
  const file = await fetch(here(await download(invoiceId)));
  expect(file.headers.has('x-svc-missing-characters')).toBe(false);
  expect((await org.get(`/invoices/${invoiceId}`)).body.invoice).not.toHaveProperty('missing_characters');
});

test('a download answers the invoice with an address that serves the document without a key', async () => {
  const url = await download(invoiceId);
  const file = await fetch(here(url));
  expect(file.status).toBe(200);
  expect(file.headers.get('content-type')).toBe('application/pdf');
  expect(file.headers.get('content-disposition')).toMatch(/^inline; filename="[\w-]+\.pdf"$/);
  const bytes = Buffer.from(await file.arrayBuffer());
  expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');
  expect(bytes.subarray(-6).toString().trim()).toBe('%%EOF');
});

test('a document is drawn once: later downloads return the same bytes even when the parties changed', async () => {
  const first = Buffer.from(await (await fetch(here(await download(invoiceId)))).arrayBuffer());
  await org.post('/customers', { customer: { external_id: 'ada', legal_name: 'Other Ltd' } });
  const answer = await org.post(`/invoices/${invoiceId}/download_pdf`);
  const second = Buffer.from(await (await fetch(here(answer.body.invoice.file_url))).arrayBuffer());
  expect(second.equals(first)).toBe(true);
  const [row] = await service.sql`select count(*) as count from documents where subject_id = ${invoiceId}`;
  expect(row!.count).toBe(1);
});

test('an invoice read by its id names its document once there is one', async () => {
  const id = await oneOff(4);
  expect((await org.get(`/invoices/${id}`)).body.invoice.file_url).toBeNull();
  await fetch(here(await download(id)));
  const shown = (await org.get(`/invoices/${id}`)).body.invoice.file_url;
  expect((await fetch(here(shown))).status).toBe(200);
});

test('a document link that was changed or has expired is refused', async () => {
  const url = new URL(here(await download(invoiceId)));
  const refusal = async (change: Record<string, string | null>) => {
    const changed = new URL(url);
    for (const [key, value] of Object.entries(change))
      value === null ? changed.searchParams.delete(key) : changed.searchParams.set(key, value);
    const answer = await fetch(changed);
    return [answer.status, await answer.json()];
  };
  const invalid = [403, { status: 403, error: 'Forbidden', code: 'invalid_signature' }];
  expect(await refusal({ signature: 'x'.repeat(43) })).toEqual(invalid);
  expect(await refusal({ signature: null })).toEqual(invalid);
  expect(await refusal({ expires: '99999999999' })).toEqual(invalid);
  for (const name of ['expires', 'signature'])
    for (const value of [url.searchParams.get(name)!, '99999999999']) {
      const twice = new URL(url);
      twice.searchParams.append(name, value);
      const answer = await fetch(twice);
      expect([answer.status, await answer.json()]).toEqual(invalid);
    }
  const short = await startedWith(0);
  expect(short).toEqual([403, { status: 403, error: 'Forbidden', code: 'link_expired' }]);
});

/** Signs a link that ended a second ago, with the service's own secret. */
async function startedWith(hours: number) {
  const { documentLink } = await import('../../../../src/areas/messaging/documents/signed-link.ts');
  const [row] = await service.sql<{ id: string }[]>`select id from documents where subject_id = ${invoiceId}`;
  const link = await documentLink(service.sql, { ...service.config, DOCUMENT_LINK_TTL_HOURS: hours - 1 }, row!.id);
  const answer = await fetch(here(link));
  return [answer.status, await answer.json()];
}

test('only finalized invoices have a document', async () => {
  expect((await org.post('/invoices/0199a000-0000-7000-8000-000000000000/download')).body).toMatchObject({
    status: 404,
    resource: 'invoice',
  });
  const voided = await oneOff(1);
  await org.post(`/invoices/${voided}/void`);
  expect((await org.post(`/invoices/${voided}/download`)).status).toBe(404);
});

test('the drawn document of an invoice is announced once', async () => {
  const receiver = await openHookReceiver();
  const told = () =>
    receiver.hooks
      .map(({ body }) => JSON.parse(body) as { webhook_type: string; invoice: { svc_id: string; file_url: string } })
      .filter(({ webhook_type }) => webhook_type === 'invoice.generated');
  try {
    await org.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: receiver.url } });
    const id = await oneOff(3);
    await Promise.all([download(id), download(id), download(id)]);
    await until(async () => told().length > 0);
    expect(told()).toHaveLength(1);
    expect(told()[0]!.invoice.svc_id).toBe(id);
    expect((await fetch(here(told()[0]!.invoice.file_url))).status).toBe(200);
    const { activity_logs: logs } = (await org.get(`/activity_logs?resource_ids[]=${id}`)).body;
    expect(logs[0]).toMatchObject({
      activity_type: 'invoice.generated',
      activity_object: { file_url: told()[0]!.invoice.file_url, fees: [{ units: '3.0' }], applied_taxes: [] },
    });
    expect(told()[0]!.invoice).not.toHaveProperty('fees');
  } finally {
    await receiver.close();
  }
});

test('a receipt gets its document when it is made, without a request for it', async () => {
  const id = await oneOff(7);
  await org.post('/payments', { payment: { invoice_id: id, amount_cents: 35000, reference: 'bank 8' } });
  const receipt = await until(async () => {
    const [listed] = (await org.get(`/payment_receipts?invoice_id=${id}`)).body.payment_receipts;
    return listed.file_url === null ? undefined : listed;
  });
  expect((await fetch(here(receipt.file_url))).headers.get('content-type')).toBe('application/pdf');
  const [told] = await service.sql<{ payload: string }[]>`
    select payload from webhook_events where webhook_type = 'payment_receipt.generated' and object_id = ${receipt.svc_id}`;
  expect(JSON.parse(told!.payload).payment_receipt.file_url).not.toBeNull();
});

test('a receipt has a document of its own, which is drawn once, linked in lists and announced', async () => {
  const receiver = await openHookReceiver();
  const told = () =>
    receiver.hooks
      .map(({ body }) => JSON.parse(body))
      .filter(({ webhook_type }) => webhook_type === 'payment_receipt.generated');
  try {
    await org.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: receiver.url } });
    const id = await oneOff(6);
    const paid = await org.post('/payments', { payment: { invoice_id: id, amount_cents: 30000, reference: 'bank 7' } });
    expect(paid.status).toBe(200);
    const list = async () => (await org.get(`/payment_receipts?invoice_id=${id}`)).body.payment_receipts;
    const [receipt] = await list();
    expect(receipt.file_url).toBeNull();
    const asked = await org.post(`/payment_receipts/${receipt.svc_id}/download`);
    const file = await fetch(here(asked.body.payment_receipt.file_url));
    expect([file.status, file.headers.get('content-disposition')]).toEqual([
      200,
      `inline; filename="${receipt.number}.pdf"`,
    ]);
    const again = await org.post(`/payment_receipts/${receipt.svc_id}/download_pdf`);
    expect(again.status).toBe(200);
    await until(async () => told().length > 0);
    expect(told().map(({ payment_receipt }) => payment_receipt.number)).toEqual([receipt.number]);
    expect((await fetch(here(told()[0].payment_receipt.file_url))).status).toBe(200);
    expect((await fetch(here((await list())[0].file_url))).status).toBe(200);
    const shown = (await org.get(`/payment_receipts/${receipt.svc_id}`)).body.payment_receipt;
    expect((await fetch(here(shown.file_url))).status).toBe(200);
    expect((await org.post('/payment_receipts/x/download')).body).toMatchObject({ status: 404 });
  } finally {
    await receiver.close();
  }
});
