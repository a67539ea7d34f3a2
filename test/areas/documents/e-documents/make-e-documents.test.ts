import type { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eDocumentHandlers } from '../../../../src/areas/documents/e-documents/jobs.ts';
import { findEDocument } from '../../../../src/areas/documents/e-documents/queries.ts';
import { markFailed } from '../../../../src/areas/documents/e-documents/writes.ts';
import { readEInvoice } from '../../../../src/areas/documents/render-documents/document-subjects.ts';
import { documentHandlers, sweepDocuments } from '../../../../src/areas/documents/render-documents/jobs.ts';
import { realNow } from '../../../../src/platform/clock/real-clock.ts';
import type { Renderer } from '../../../../src/platform/documents/renderer.ts';
import type { OrganizationId } from '../../../../src/platform/ids.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { createMetrics } from '../../../../src/platform/metrics/metrics.ts';
import { createProducer, type Producer } from '../../../../src/platform/queue/producer.ts';
import type { JobInfo } from '../../../../src/platform/queue/worker.ts';
import { startService, type TestService, UNSCHEDULED } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';
import { openSeller, type SellerStory } from './seller-story.ts';

// When documents are made and what happens when they cannot be: docs/rules/e-documents.md "when". No pool draws here,
// so that the tests see what waits and run the jobs themselves.
let service: TestService;
let seller: SellerStory;
let producer: Producer;
let organizationId: OrganizationId;

beforeAll(async () => {
  service = await startService({ pools: UNSCHEDULED.filter((name) => name !== 'documents') });
  seller = await openSeller(service, '2026-03-01T10:00:00Z');
  producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  organizationId = seller.organizationId as OrganizationId;
});
afterAll(async () => {
  await producer.close();
  await service.stop();
});

const waiting = () => producer.queue('documents').getJobs(['wait', 'prioritized', 'delayed']);
const jobsOf = async (id: string) => (await waiting()).filter(({ data }) => data.e_document_id === id);

const broken: Renderer = {
  render: () => Promise.reject(new Error('the font is gone')),
  close: async () => {},
};
const metrics = createMetrics('test');
const deps = () => ({
  sql: service.sql,
  config: service.config,
  log: createLog({ level: 'silent', process: 'test' }),
  reactions: {} as never,
  producer,
  renderer: broken,
  slowRenderer: broken,
  metrics,
});
const attempt = (number: number): JobInfo => ({
  id: 'x',
  attempt: number,
  lastAttempt: number === 8,
  addedAtMs: 0,
  comeBack: () => Promise.reject(new Error('not asked for')),
});

describe('the document of an invoice that became final', () => {
  test('it waits behind what was asked for, until somebody asks for it', async () => {
    await seller.buyer('behind', { e_document_profile: 'en16931_ubl' });
    const invoice = await seller.hours('behind');
    const { svc_id: id } = await seller.document('behind', 'pending');
    const [job] = await until(async () => ((await jobsOf(id)).length > 0 ? jobsOf(id) : undefined));
    expect(job!.opts.priority).toBe(10);
    const asked = await ok(
      seller.client.post(`/invoices/${invoice.svc_id}/e_documents`, { e_document: { profile: 'en16931_ubl' } }),
    );
    expect(asked.e_document.svc_id).toBe(id);
    const jobs = await until(async () => ((await jobsOf(id)).length > 1 ? jobsOf(id) : undefined));
    expect(jobs.map(({ opts }) => opts.priority ?? 0).sort()).toEqual([0, 10]);
  });

  test('an invoice without fees has none, and nobody hears of it', async () => {
    await seller.buyer('empty');
    const invoice = await seller.hours('empty');
    await service.sql`update fees set deleted_at = now() where invoice_id = ${invoice.svc_id}`;
    await seller.buyer('empty', { e_document_profile: 'en16931_ubl' });
    const { makeChosenEDocument } = await import('../../../../src/areas/documents/e-documents/commands.ts');
    const owed: object[] = [];
    const ctx = { db: service.sql, organizationId, now: realNow, after: (work: object) => owed.push(work) };
    await makeChosenEDocument(ctx as never, { kind: 'invoice', subject_id: invoice.svc_id });
    expect(owed).toEqual([]);
    expect(await seller.documents('external_customer_id=empty')).toEqual([]);
  });
});

describe('a document that cannot be made', () => {
  test('it has failed after the last attempt, and is tried again when asked', async () => {
    await seller.buyer('broken', { e_document_profile: 'facturx' });
    await seller.hours('broken');
    const { svc_id: id } = await seller.document('broken', 'pending');
    const run = eDocumentHandlers(deps())['e-document.render'];
    const payload = { organization_id: organizationId, e_document_id: id } as never;
    await expect(run(payload, attempt(1))).rejects.toThrow('the font is gone');
    expect((await seller.document('broken', 'pending')).svc_id).toBe(id);
    await expect(run(payload, attempt(8))).rejects.toThrow('the font is gone');
    const failed = await seller.document('broken', 'failed');
    const { values } = await metrics.eDocuments.get();
    expect(values).toMatchObject([{ value: 1, labels: { profile: 'facturx', status: 'failed' } }]);
    expect(failed.problems).toMatchObject([{ rule: 'document_not_made', severity: 'error', resource: 'invoice' }]);
    const { e_document } = await ok(seller.client.post(`/e_documents/${id}/retry`));
    expect(e_document).toMatchObject({ status: 'pending', problems: [] });
  });

  test('a try that began before the fact was repaired does not undo the later one', async () => {
    await seller.buyer('late', { e_document_profile: 'en16931_ubl' });
    await seller.hours('late');
    const { svc_id: id } = await seller.document('late', 'pending');
    const scope = { db: service.sql, organizationId };
    const begun = (await findEDocument(scope, id))!;
    await service.sql`update e_documents set enqueued_at = enqueued_at + interval '1 second' where id = ${id}`;
    expect(await markFailed(scope, begun, { problems: [], now: realNow() })).toBe(false);
    expect((await seller.document('late', 'pending')).svc_id).toBe(id);
    const now = (await findEDocument(scope, id))!;
    expect(await markFailed(scope, now, { problems: [], now: realNow() })).toBe(true);
  });

  test('a page is given up after the last attempt, its mail fails, and asking for it tries again', async () => {
    await seller.entity({ email_settings: ['invoice.finalized'] });
    await seller.buyer('page');
    const invoice = await seller.hours('page');
    const mail = await until(async () => {
      const [row] = await service.sql<{ id: string; document_id: string }[]>`
        select id, document_id from mails where subject_id = ${invoice.svc_id}`;
      return row;
    });
    const heard: object[] = [];
    const reactions = new Map([['mail.failed', [async (_ctx: object, payload: object) => heard.push(payload)]]]);
    const run = documentHandlers({ ...deps(), reactions: reactions as never, hybridPage: async () => 'none' })[
      'document.render'
    ];
    const payload = { organization_id: organizationId, document_id: mail.document_id } as never;
    await expect(run(payload, attempt(8))).rejects.toThrow('the font is gone');
    const [row] = await service.sql`
      select mail.status, mail.error, document.given_up_at is not null as given_up
      from mails mail join documents document on document.id = mail.document_id where mail.id = ${mail.id}`;
    expect(row).toEqual({ status: 'failed', error: 'The document of the mail cannot be drawn', given_up: true });
    expect(heard).toMatchObject([{ mail: { id: mail.id, recipients: ['page@client.example'] } }]);

    const jobs = async () => (await waiting()).filter(({ data }) => data.document_id === mail.document_id).length;
    const before = await jobs();
    const later = realNow().add({ hours: 1 });
    await sweepDocuments({ sql: service.sql, producer }, later, later as Temporal.Instant);
    expect(await jobs()).toBe(before);
    await ok(seller.client.post(`/invoices/${invoice.svc_id}/download`));
    expect(await until(async () => ((await jobs()) > before ? jobs() : undefined))).toBe(before + 1);
  });
});

test('what was handed out changes in no column and cannot be emptied (FI44)', async () => {
  const [pending] = await seller.documents('statuses[]=pending');
  const id = pending!.svc_id;
  await service.sql`
    update e_documents set status = 'ready', content = 'x', sha256 = 'y', size = 1, ready_at = now() where id = ${id}`;
  for (const column of ['number', 'file_name', 'issued_on', 'is_chosen', 'problems', 'engine_version', 'updated_at']) {
    const value = { issued_on: '2020-01-01', is_chosen: null, engine_version: 7, updated_at: '2020-01-01' }[column];
    const change = column === 'is_chosen' ? service.sql`not is_chosen` : service.sql`${value ?? '{"x":1}'}`;
    await expect(
      service.sql`update e_documents set ${service.sql(column)} = ${change} where id = ${id}`.execute(),
      column,
    ).rejects.toThrow('never changes');
  }
  await expect(service.sql`truncate e_documents cascade`.execute()).rejects.toThrow('never changed or deleted');
  await expect(service.sql`truncate ledger_entries cascade`.execute()).rejects.toThrow('never changed or deleted');
});

test('credits that are paid first keep the seller of the day on which their invoice became final', async () => {
  await ok(
    seller.client.post('/payment_providers', { payment_provider: { type: 'sandbox', code: 'test', name: 'Test' } }),
  );
  await seller.buyer('payer', { billing_configuration: { payment_provider: 'stripe', sync_with_provider: true } });
  await ok(
    seller.client.post('/customers/payer/payment_methods', { payment_method: { card_number: '4242424242424242' } }),
  );
  const { wallet } = await ok(
    seller.client.post('/wallets', {
      wallet: { external_customer_id: 'payer', rate_amount: '1', currency: 'EUR', name: 'Credits' },
    }),
  );
  const { wallet_transactions } = await ok(
    seller.client.post('/wallet_transactions', {
      wallet_transaction: { wallet_id: wallet.svc_id, paid_credits: '20', invoice_requires_successful_payment: true },
    }),
  );
  const id = wallet_transactions[0].svc_invoice_id;
  const row = await until(async () => {
    const [found] = await service.sql<{ status: string; issuer_snapshot: { legal_name: string } | null }[]>`
      select status, issuer_snapshot from invoices where id = ${id}`;
    return found?.status === 'finalized' ? found : undefined;
  });
  expect(row.issuer_snapshot).toMatchObject({ legal_name: 'Muster GmbH', city: 'Berlin', country: 'DE' });
});

test('a customer whom a provider charges is asked for no transfer, and told how it is charged', async () => {
  await seller.entity({ bank_accounts: [{ iban: 'DE89370400440532013000' }] });
  const invoice = await seller.hours('payer');
  const facts = await readEInvoice({ db: service.sql, organizationId }, invoice.svc_id, 'en16931_ubl');
  expect(facts.payment).toEqual({ code: '1', reference: invoice.number });
  expect(facts.terms).toContain('It will be charged to the stored payment method');
  await seller.buyer('payer', { billing_configuration: { payment_provider: null } });
  const frozen = await readEInvoice({ db: service.sql, organizationId }, invoice.svc_id, 'en16931_ubl');
  expect(frozen.payment).toEqual({ code: '1', reference: invoice.number });
  await seller.buyer('transfer');
  const other = await seller.hours('transfer');
  const byTransfer = await readEInvoice({ db: service.sql, organizationId }, other.svc_id, 'en16931_ubl');
  expect(byTransfer.payment).toMatchObject({ code: '58', account: { id: 'DE89370400440532013000' } });
});

test('an invoice of a subscription that is paid by hand is asked for by transfer', async () => {
  await seller.buyer('payer', { billing_configuration: { payment_provider: 'stripe', sync_with_provider: true } });
  const plan = { name: 'Flat', code: 'flat', interval: 'monthly', amount_cents: 20_000, amount_currency: 'EUR' };
  await ok(seller.client.post('/plans', { plan: { ...plan, pay_in_advance: true } }));
  const payment_method = { payment_method_type: 'manual' };
  const subscription = { external_customer_id: 'payer', plan_code: 'flat', external_id: 'by-hand', payment_method };
  const made = await ok(seller.client.post('/subscriptions', { subscription }));
  const id = await until(async () => {
    const [row] = await service.sql<{ id: string }[]>`
      select invoice.id from invoices invoice
      join invoice_subscriptions line
        on line.organization_id = invoice.organization_id and line.invoice_id = invoice.id
      where invoice.organization_id = ${organizationId} and line.subscription_id = ${made.subscription.svc_id}
        and invoice.status = 'finalized'`;
    return row?.id;
  });
  const facts = await readEInvoice({ db: service.sql, organizationId }, id as never, 'en16931_ubl');
  // 200.00 and 19 %, less the 20.00 of the wallet.
  expect(facts.totals.payableCents).toBe(21_800);
  expect(facts.payment).toMatchObject({ code: '58', account: { id: 'DE89370400440532013000' } });
  expect(facts.terms).not.toContain('It will be charged');
});
