import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { auditFull } from '../../../src/areas/reporting/audit-books/jobs.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { createProducer } from '../../../src/platform/queue/producer.ts';
import { reactions } from '../../../src/reactions.ts';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { balances, booked } from '../credits/credit-notes/support.ts';

// What is due, given up and taken back: ledger.md#l21, ledger.md#write-off.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  story = await openStory(service, '2024-05-01T10:00:00Z');
  await story.customer({ net_payment_term: 3 });
});

const writeOff = (invoice: Invoice, fields: object = {}) =>
  story.client.post(`/invoices/${invoice.svc_id}/write_off`, { write_off: { reason: 'insolvent', ...fields } });
const reverse = (invoice: Invoice) => story.client.post(`/invoices/${invoice.svc_id}/write_off/reverse`);
const read = async ({ svc_id }: Invoice): Promise<Invoice> =>
  (await story.client.get(`/invoices/${svc_id}`)).body.invoice;
const accounts = (invoice: Invoice) => balances(service.sql, story.organizationId, invoice.svc_id);

/** What the auditor finds in all that the story left. */
async function findings(): Promise<unknown[]> {
  const producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  try {
    const log = createLog({ level: 'silent', process: 'test' });
    const deps = { sql: service.sql, redis: service.redis, producer, config: service.config, reactions, log };
    await auditFull.sweep(deps, Temporal.Instant.from('2024-05-20T00:00:00Z'));
  } finally {
    await producer.close();
  }
  expect((await story.client.get('/audits')).body.audits).not.toEqual([]);
  const { audit_findings } = (await story.client.get('/audits/findings?per_page=100')).body;
  return audit_findings.map(({ check, expected, actual }: Invoice) => [check, expected, actual]);
}

test('a write-off of the whole due amount leaves nothing due and unpaid, and can be reversed in full', async () => {
  const made = await story.oneOff(1200);
  const { status, text, body } = await writeOff(made);
  expect(status, text).toBe(200);
  expect(body.invoice).toMatchObject({
    total_written_off_amount_cents: 1200,
    total_due_amount_cents: 0,
    total_paid_amount_cents: 0,
    payment_status: 'pending',
  });
  expect(await booked(service.sql, story.organizationId, 'written_off')).toEqual([
    'write_offs debit 1200',
    'receivable credit 1200',
  ]);
  expect((await story.pay(made.svc_id, 1)).body.error_details).toEqual({ amount_cents: ['value_is_out_of_range'] });
  expect((await story.client.post(`/invoices/${made.svc_id}/retry_payment`)).body.code).toBe('invalid_status');

  expect((await reverse(made)).body.invoice).toMatchObject({
    total_written_off_amount_cents: 0,
    total_due_amount_cents: 1200,
    payment_status: 'pending',
  });
  expect(await accounts(made)).toEqual({ receivable: 1200, 'revenue.add_on': -1200 });
  expect((await reverse(made)).body).toMatchObject({ status: 405, code: 'invalid_status' });
  expect((await story.pay(made.svc_id, 1200)).status).toBe(200);
  expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_due_amount_cents: 0 });
  expect(await findings()).toEqual([]);
});

test('after a partial write-off the rest stays due; once paid the invoice is succeeded, and owes again when it is reversed', async () => {
  const made = await story.oneOff(1000);
  expect((await writeOff(made, { amount_cents: 400 })).body.invoice.total_due_amount_cents).toBe(600);
  expect((await writeOff(made, { amount_cents: 601 })).body.error_details).toEqual({
    amount_cents: ['value_is_out_of_range'],
  });
  expect((await story.pay(made.svc_id, 601)).status).toBe(422);
  expect((await story.pay(made.svc_id, 600)).status).toBe(200);
  expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_due_amount_cents: 0 });
  expect((await reverse(made)).body.invoice).toMatchObject({ payment_status: 'pending', total_due_amount_cents: 400 });
  expect(await accounts(made)).toEqual({ cash: 600, receivable: 400, 'revenue.add_on': -1000 });
  expect(await findings()).toEqual([]);
});

test('a written-off invoice is no longer overdue until the write-off is reversed and a day passes', async () => {
  const made = await story.oneOff(1000);
  await story.advanceTo('2024-05-06T01:00:00Z');
  expect((await read(made)).payment_overdue).toBe(true);
  await writeOff(made, { amount_cents: 999 });
  expect((await read(made)).payment_overdue).toBe(true);
  await writeOff(made);
  expect((await read(made)).payment_overdue).toBe(false);
  await story.advanceTo('2024-05-07T01:00:00Z');
  expect((await read(made)).payment_overdue).toBe(false);
  await reverse(made);
  await story.advanceTo('2024-05-08T01:00:00Z');
  expect((await read(made)).payment_overdue).toBe(true);
  expect(await findings()).toEqual([]);
});

test('write-offs with offsets, paid marks and voids keep the books balanced', async () => {
  const offset = await story.oneOff(1000);
  await writeOff(offset, { amount_cents: 400 });
  expect((await story.credit(offset, 700, { offset_amount_cents: 700 })).status).toBe(422);
  expect((await story.credit(offset, 600, { offset_amount_cents: 600 })).status).toBe(200);
  expect(await read(offset)).toMatchObject({ payment_status: 'succeeded', total_due_amount_cents: 0 });

  const marked = await story.oneOff(900);
  await story.client.put(`/invoices/${marked.svc_id}`, { invoice: { payment_status: 'succeeded' } });
  expect((await writeOff(marked)).status).toBe(200);
  expect(await accounts(marked)).toEqual({ write_offs: 900, 'revenue.add_on': -900 });
  expect((await reverse(marked)).body.invoice).toMatchObject({
    payment_status: 'succeeded',
    total_due_amount_cents: 900,
  });
  expect(await accounts(marked)).toEqual({ unrecorded_receipts: 900, 'revenue.add_on': -900 });

  const voided = await story.oneOff(800);
  await writeOff(voided, { amount_cents: 300 });
  const answer = await story.client.post(`/invoices/${voided.svc_id}/void`);
  expect(answer.status, answer.text).toBe(200);
  expect(await accounts(voided)).toEqual({});
  expect((await writeOff(voided)).body).toMatchObject({ status: 405, code: 'invalid_status' });
  expect(await findings()).toEqual([]);
});

test('fifty write-offs at the same time write an invoice off once, and fifty reversals reverse it once', async () => {
  const made = await story.oneOff(1000);
  const statuses = async (ask: (invoice: Invoice) => ReturnType<typeof reverse>) =>
    (await Promise.all(Array.from({ length: 50 }, () => ask(made)))).filter(({ status }) => status === 200).length;
  expect(await statuses(writeOff)).toBe(1);
  expect(await accounts(made)).toEqual({ write_offs: 1000, 'revenue.add_on': -1000 });
  const bySettlement = (kind: string) => story.client.get(`/invoices?settlements[]=${kind}`);
  expect((await bySettlement('write_off')).body.invoices.map(({ svc_id }: Invoice) => svc_id)).toEqual([made.svc_id]);
  expect((await bySettlement('payment')).body.invoices).toEqual([]);
  expect(await statuses(reverse)).toBe(1);
  expect((await bySettlement('write_off')).body.invoices).toEqual([]);
  expect(await findings()).toEqual([]);
});

test('a write-off with bad input or of an unknown invoice is refused', async () => {
  const made = await story.oneOff(1000);
  expect(
    (await story.client.post(`/invoices/${made.svc_id}/write_off`, { write_off: { amount_cents: 5 } })).body
      .error_details,
  ).toEqual({
    reason: ['value_is_mandatory'],
  });
  expect((await writeOff({ svc_id: 'x' })).body).toMatchObject({ status: 404, resource: 'invoice' });
  expect((await writeOff(made, { amount_cents: 0 })).status).toBe(422);
});
