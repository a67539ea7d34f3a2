import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Invoice, openStory, type Story } from '../flows/bill-subscriptions/story.ts';
import { credit, oneOff, pay } from '../flows/credit-notes/support.ts';
import { startService, type TestService } from '../support/service.ts';

// Documents that are mailed again: subscriptions-and-invoices F.10, credits-and-payments C.2, E.9.
let service: TestService;
let story: Story;
let paths: string[];

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-05-01T08:00:00Z');
  await story.customer({ email: 'a@acme.test,b@acme.test' });
  const invoice = await oneOff(story, 1000);
  await pay(story, invoice.svc_id, 1000);
  const note = (await credit(story, invoice, 400)).body.credit_note;
  const [receipt] = (await story.client.get('/payment_receipts')).body.payment_receipts;
  paths = [`/invoices/${invoice.svc_id}`, `/credit_notes/${note.svc_id}`, `/payment_receipts/${receipt.svc_id}`];
});
afterAll(() => service.stop());

const resend = (path: string, body?: object) => story.client.post(`${path}/resend_email`, body);
const mails = async (): Promise<Invoice[]> => (await story.client.get('/sandbox/mails')).body.mails;

test('nothing is mailed that the billing entity does not mail', async () => {
  for (const path of paths)
    expect((await resend(path)).body).toMatchObject({ status: 405, code: 'email_settings_disabled' });
});

test('each goes to its customer, or to whom it is asked to, and the audit trail tells', async () => {
  const [entity] = (await story.client.get('/billing_entities')).body.billing_entities;
  const email_settings = ['invoice.finalized', 'credit_note.created', 'payment_receipt.created'];
  await story.client.put(`/billing_entities/${entity.code}`, { billing_entity: { email_settings } });
  for (const path of paths) {
    const { status, text } = await resend(path);
    expect([status, text]).toEqual([200, '']);
  }
  const sent = await mails();
  expect(sent.map(({ to }) => to)).toEqual(Array(3).fill(['a@acme.test', 'b@acme.test']));
  expect(sent.map(({ subject }) => subject.split(' ').slice(0, 2).join(' ')).sort()).toEqual([
    'Your credit',
    'Your invoice',
    'Your payment',
  ]);
  await resend(paths[0]!, { to: ['x@y.test'], cc: ['c@y.test'], bcc: ['d@y.test'] });
  expect((await mails())[0].to).toEqual(['x@y.test', 'c@y.test']);
  const [line] = await service.sql<{ activity_object: Invoice }[]>`
    select activity_object from activity_logs
    where organization_id = ${story.organizationId} and activity_type = 'email.sent' order by logged_at desc, id desc`;
  const object = typeof line!.activity_object === 'string' ? JSON.parse(line!.activity_object) : line!.activity_object;
  expect(object.status).toBe('resent');
  expect(JSON.parse(object.email)).toMatchObject({ to: ['x@y.test'], cc: ['c@y.test'], bcc: ['d@y.test'] });
  expect(JSON.parse(object.document)).toMatchObject({ type: 'Invoice' });
});

test('bad addresses and unknown documents are refused', async () => {
  expect((await resend(paths[0]!, { to: ['nobody'] })).status).toBe(422);
  for (const path of ['/invoices/x', '/credit_notes/x', '/payment_receipts/x'])
    expect((await resend(path)).status).toBe(404);
});
