import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mailDocument } from '../../../src/areas/documents/document-mails/commands.ts';
import { sweepMails } from '../../../src/areas/messaging/send-mails/jobs.ts';
import type { Context } from '../../../src/platform/context.ts';
import type { Db } from '../../../src/platform/db/connect.ts';
import { createProducer } from '../../../src/platform/queue/producer.ts';
import { openMailServer } from '../../support/fakes/smtp.ts';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { wordsOf } from '../../support/words.ts';

// Documents that are mailed again: invoice-operations.md#operations, credit-notes.md#endpoints, payments.md#receipts.
let service: TestService;
let story: Story;
let paths: string[];

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-05-01T08:00:00Z');
  await story.customer({ email: 'a@acme.test,b@acme.test' });
  const invoice = await story.oneOff(1000);
  await story.pay(invoice.svc_id, 1000);
  const note = (await story.credit(invoice, 400)).body.credit_note;
  const [receipt] = (await story.client.get('/payment_receipts')).body.payment_receipts;
  paths = [`/invoices/${invoice.svc_id}`, `/credit_notes/${note.svc_id}`, `/payment_receipts/${receipt.svc_id}`];
});
afterAll(() => service.stop());

const contextOf = (organizationId: string, db: Db) =>
  ({
    organizationId,
    sandbox: true,
    db,
    config: service.config,
    now: () => Temporal.Instant.from('2024-05-01T08:00:00Z'),
    record: () => {},
    after: () => {},
  }) as unknown as Context;

const resend = (path: string, body?: object) => story.client.post(`${path}/resend_email`, body);
/** Mails of the sandbox once there are `count`: they wait for their documents. */
const mailed = (count: number, client = story.client): Promise<Invoice[]> =>
  until(async () => {
    const { mails } = (await client.get('/sandbox/mails')).body;
    return mails.length >= count ? mails : undefined;
  });
const MAILED = ['invoice.finalized', 'credit_note.created', 'payment_receipt.created'];
async function mailAll(client: Story['client']): Promise<void> {
  const [entity] = (await client.get('/billing_entities')).body.billing_entities;
  const put = await client.put(`/billing_entities/${entity.code}`, { billing_entity: { email_settings: MAILED } });
  expect(put.status, put.text).toBe(200);
}

test('no document is mailed when its billing entity does not mail that kind', async () => {
  for (const path of paths)
    expect((await resend(path)).body).toMatchObject({ status: 405, code: 'email_settings_disabled' });
});

test('each document is mailed to its customer, or to the addresses of the request, and recorded in the audit trail', async () => {
  await mailAll(story.client);
  for (const path of paths) {
    const { status, text } = await resend(path);
    expect([status, text]).toEqual([200, '']);
  }
  const sent = await mailed(3);
  expect(sent.map(({ to }) => to)).toEqual(Array(3).fill(['a@acme.test', 'b@acme.test']));
  expect(sent.map(({ subject }) => subject.replace(/\S+ from (\w+).*/, 'from $1')).sort()).toEqual([
    'Credit note from Acme',
    'Invoice from Acme',
    'Payment receipt from Acme',
  ]);
  await resend(paths[0]!, { to: ['x@y.test'], cc: ['c@y.test'], bcc: ['d@y.test'] });
  expect((await mailed(4)).some(({ to }) => to.join() === 'x@y.test,c@y.test')).toBe(true);
  const [line] = await service.sql<{ activity_object: Invoice }[]>`
    select activity_object from activity_logs
    where organization_id = ${story.organizationId} and activity_type = 'email.sent' order by logged_at desc, id desc`;
  const object = typeof line!.activity_object === 'string' ? JSON.parse(line!.activity_object) : line!.activity_object;
  expect(object.status).toBe('resent');
  expect(JSON.parse(object.email)).toMatchObject({ to: ['x@y.test'], cc: ['c@y.test'], bcc: ['d@y.test'] });
  expect(JSON.parse(object.document)).toMatchObject({ type: 'Invoice' });
});

test('a mail to bad addresses or of unknown documents is refused', async () => {
  expect((await resend(paths[0]!, { to: ['nobody'] })).status).toBe(422);
  for (const path of ['/invoices/x', '/credit_notes/x', '/payment_receipts/x'])
    expect((await resend(path)).status).toBe(404);
});

test('a document that becomes final is mailed by itself, once, with its file', async () => {
  const own = await openStory(service, '2024-05-01T08:00:00Z');
  await mailAll(own.client);
  await own.customer({ email: 'a@acme.test' });
  await own.customer({ external_id: 'silent' });
  await own.oneOff(700, 'silent');
  const invoice = await own.oneOff(1000);
  await own.pay(invoice.svc_id, 1000);
  const note = (await own.credit(invoice, 400)).body.credit_note;
  const mails = await mailed(3, own.client);
  const [receipt] = (await own.client.get(`/payment_receipts?invoice_id=${invoice.svc_id}`)).body.payment_receipts;
  const byName = new Map(mails.map((mail) => [mail.attachments[0].file_name, mail]));
  expect([...byName.keys()].sort()).toEqual([invoice, note, receipt].map(({ number }) => `${number}.pdf`).sort());
  const mail = byName.get(`${invoice.number}.pdf`);
  expect(mail).toMatchObject({ to: ['a@acme.test'], attachments: [{ content_type: 'application/pdf' }] });
  const file = await fetch(mail.attachments[0].file_url.replace(/^https?:\/\/[^/]+/, service.url));
  expect((await file.arrayBuffer()).byteLength).toBe(mail.attachments[0].size_bytes);
  const steps = await service.sql`
    select payload from after_steps where organization_id = ${own.organizationId} and job = 'mail-document'`;
  expect(steps).toHaveLength(0);
  await Promise.all(
    Array.from({ length: 5 }, () =>
      service.sql.begin((tx) =>
        mailDocument(contextOf(own.organizationId, tx), { kind: 'invoice', subject_id: invoice.svc_id }),
      ),
    ),
  );
  expect((await own.client.get('/sandbox/mails')).body.meta.total_count).toBe(3);
});

describe('mails of live organizations', () => {
  test('mails are sent to the mail server with their document, and again after a temporary refusal', async () => {
    const server = await openMailServer({ refused: 1 });
    const live = await startService({ settings: { SMTP_URL: server.url, MAIL_FROM: 'billing@house.test' } });
    try {
      const org = await live.org();
      await mailAll(org);
      await org.post('/customers', { customer: { external_id: 'acme', currency: 'USD', email: 'a@acme.test' } });
      const invoice = await wordsOf(org).oneOff(1000);
      const failed = await until(async () => {
        const [mail] = await live.sql`select id, status, error, attempts from mails where error is not null`;
        return mail;
      });
      expect(failed).toMatchObject({ status: 'pending', attempts: 1, error: expect.stringContaining('451') });
      await live.sql`update mails set next_attempt_at = created_at - interval '1 day'`;
      const producer = createProducer(live.redis, live.config.REDIS_PREFIX);
      await sweepMails({ sql: live.sql, producer });
      await producer.close();
      await until(async () => (await live.sql`select from mails where status = 'sent'`).length === 1);
      expect(server.mails).toHaveLength(1);
      const [mail] = server.mails;
      expect(mail).toMatchObject({ from: 'billing@house.test', to: ['a@acme.test'] });
      expect(mail!.data).toContain(`Message-ID: <${failed.id}@house.test>`);
      expect(mail!.data).toContain(`${invoice.number}.pdf`);
      expect(mail!.data).toContain('JVBERi0'); // %PDF- in Base64
      const again = await org.post(`/invoices/${invoice.svc_id}/resend_email`, { to: ['b@acme.test'] });
      expect(again.status, again.text).toBe(200);
      await until(async () => server.mails.length === 2);
      expect(server.mails[1]!.to).toEqual(['b@acme.test']);

      await server.close();
      await org.post(`/invoices/${invoice.svc_id}/resend_email`, { to: ['c@acme.test'] });
      await until(
        async () => (await live.sql`select from mails where attempts = 1 and error is not null`).length === 1,
      );
      // The last of its attempts.
      await live.sql`update mails set attempts = 6, next_attempt_at = created_at where status = 'pending'`;
      const late = createProducer(live.redis, live.config.REDIS_PREFIX);
      await sweepMails({ sql: live.sql, producer: late });
      await late.close();
      const [given] = await until(async () => {
        const { activity_logs: logs } = (await org.get('/activity_logs?activity_types[]=email.sent')).body;
        return logs[0]?.activity_object.status === 'failed' && logs;
      });
      expect(given).toMatchObject({
        activity_source: 'system',
        resource_type: 'Invoice',
        resource_id: invoice.svc_id,
        external_customer_id: 'acme',
        activity_object: { error: expect.any(String) },
      });
      expect(JSON.parse(given.activity_object.email)).toMatchObject({ to: ['c@acme.test'] });
      expect((await live.sql`select from mails where status = 'failed'`).length).toBe(1);
    } finally {
      await live.stop();
      await server.close();
    }
  });

  test('each recipient has a state: a permanent refusal is final at once, and no recipient gets a mail twice', async () => {
    const server = await openMailServer({
      replies: {
        'gone@acme.test': ['550 5.1.1 no such user'],
        'busy@acme.test': ['450 4.2.1 try later'],
        'only@acme.test': ['550 5.1.1 no such user'],
      },
    });
    const live = await startService({ settings: { SMTP_URL: server.url, MAIL_FROM: 'billing@house.test' } });
    try {
      const org = await live.org();
      await mailAll(org);
      const email = 'here@acme.test, gone@acme.test,busy@acme.test';
      await org.post('/customers', { customer: { external_id: 'acme', currency: 'USD', email } });
      const invoice = await wordsOf(org).oneOff(1000);
      const newest = async () => (await org.get('/mails')).body.mails[0];
      const first = await until(async () =>
        (await newest())?.attempts === 1 && (await newest()).error ? newest() : undefined,
      );
      expect(first).toMatchObject({
        status: 'pending',
        document_type: 'invoice',
        svc_document_subject_id: invoice.svc_id,
        sent_at: null,
        recipients: [
          { address: 'here@acme.test', kind: 'to', state: 'accepted', error: null },
          { address: 'gone@acme.test', kind: 'to', state: 'refused', error: expect.stringContaining('550 5.1.1') },
          { address: 'busy@acme.test', kind: 'to', state: 'deferred', error: expect.stringContaining('450 4.2.1') },
        ],
      });
      const { activity_logs: logs } = (await org.get('/activity_logs?activity_types[]=email.sent')).body;
      expect(logs[0].activity_object.status).toBe('failed');
      expect(JSON.parse(logs[0].activity_object.email).to).toEqual(['gone@acme.test']);

      await live.sql`update mails set next_attempt_at = created_at - interval '1 day'`;
      const producer = createProducer(live.redis, live.config.REDIS_PREFIX);
      await sweepMails({ sql: live.sql, producer });
      await producer.close();
      const second = await until(async () => ((await newest()).status === 'sent' ? newest() : undefined));
      expect(second.recipients.map(({ state }: { state: string }) => state)).toEqual([
        'accepted',
        'refused',
        'accepted',
      ]);
      expect(second).toMatchObject({ attempts: 2, next_attempt_at: null, sent_at: expect.any(String) });
      expect(server.mails.map(({ to }) => to)).toEqual([['here@acme.test'], ['busy@acme.test']]);
      expect(server.mails[0]!.data).toContain('Auto-Submitted: auto-generated');

      await org.post(`/invoices/${invoice.svc_id}/resend_email`, { to: ['only@acme.test'] });
      const refused = await until(async () => ((await newest()).status === 'failed' ? newest() : undefined));
      expect(refused).toMatchObject({
        attempts: 1,
        next_attempt_at: null,
        recipients: [{ address: 'only@acme.test', state: 'refused' }],
      });
    } finally {
      await live.stop();
      await server.close();
    }
  });

  test('a mail whose content the server refuses for good fails at once', async () => {
    const server = await openMailServer({ content: '552 5.3.4 too large' });
    const live = await startService({ settings: { SMTP_URL: server.url } });
    try {
      const org = await live.org();
      await mailAll(org);
      await org.post('/customers', { customer: { external_id: 'acme', currency: 'USD', email: 'a@acme.test' } });
      await wordsOf(org).oneOff(1000);
      const mail = await until(async () => {
        const { mails } = (await org.get('/mails')).body;
        return mails[0]?.status === 'failed' && mails[0];
      });
      expect(mail).toMatchObject({ attempts: 1, next_attempt_at: null, error: expect.stringContaining('552') });
    } finally {
      await live.stop();
      await server.close();
    }
  });

  test('without a mail server nothing is sent, and a request to send is refused', async () => {
    const org = await service.org();
    await mailAll(org);
    await org.post('/customers', { customer: { external_id: 'acme', currency: 'USD', email: 'a@acme.test' } });
    const invoice = await wordsOf(org).oneOff(1000);
    const unsent = () => service.sql`select from mails where subject_id = ${invoice.svc_id} and status = 'unsent'`;
    await until(async () => (await unsent()).length === 1);
    const again = await org.post(`/invoices/${invoice.svc_id}/resend_email`);
    expect(again.body).toMatchObject({ status: 403, code: 'feature_unavailable' });
  });
});
