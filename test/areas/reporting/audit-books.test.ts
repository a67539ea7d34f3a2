import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { auditFull, auditRecent } from '../../../src/areas/reporting/audit-books/jobs.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { createProducer, type Producer } from '../../../src/platform/queue/producer.ts';
import { reactions } from '../../../src/reactions.ts';
import { type HookReceiver, openHookReceiver } from '../../support/hook-receiver.ts';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

// The auditor: each invariant is broken by hand and named (auditor.md).
let service: TestService;
let story: Story;
let invoice: Invoice;
let producer: Producer;
let hooks: HookReceiver;

beforeAll(async () => {
  service = await startService();
  hooks = await openHookReceiver();
  producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.client.post('/webhook_endpoints', {
    webhook_endpoint: { webhook_url: `${hooks.url}/audits`, signature_algo: 'hmac', event_types: ['audit.failed'] },
  });
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await story.customer();
  await story.plan({ amount_cents: 10000 });
  await story.subscribe();
  await story.advanceTo('2024-04-02T00:00:00Z');
  [invoice] = await story.invoices(2);
});
afterAll(async () => {
  await producer.close();
  await hooks.close();
  await service.stop();
});
beforeEach(() => service.sql`delete from audit_runs`);

const sweep = async (mode: 'recent' | 'full' = 'full') => {
  const deps = {
    sql: service.sql,
    redis: service.redis,
    producer,
    config: service.config,
    reactions,
    log: createLog({ level: 'silent', process: 'test' }),
  };
  await (mode === 'full' ? auditFull : auditRecent).sweep(deps, Temporal.Instant.from('2024-04-02T00:00:00Z'));
};

const findings = async (query = ''): Promise<Invoice[]> =>
  (await story.client.get(`/audits/findings?per_page=100${query}`)).body.audit_findings;
const named = async () => (await findings()).map(({ check }) => check).sort();

/** Changes rows that a trigger protects. */
const byHand = (statement: string) =>
  service.sql.begin(async (tx) => {
    await tx.unsafe('set local session_replication_role = replica');
    await tx.unsafe(statement);
  });

test('untouched books have no finding by any check', async () => {
  await sweep('full');
  expect(await findings()).toEqual([]);
  const { audits } = (await story.client.get('/audits?mode=full')).body;
  expect(audits[0]).toMatchObject({ status: 'succeeded', findings_count: 0, progress: { percent: 100 } });
  expect(audits[0].checks.map(({ code }: Invoice) => code)).toContain('A27-verify');
});

test('a finding is announced once, may be acknowledged, and is resolved when its cause is gone (AU1 to AU3)', async () => {
  const id = invoice.svc_id;
  await service.sql`update invoices set total_paid_amount_cents = 100 where id = ${id}`;
  await sweep('recent');
  const [finding] = await findings('&checks[]=A03');
  expect(finding).toMatchObject({
    check: 'A03',
    status: 'open',
    resource_type: 'Invoice',
    svc_resource_id: id,
    expected: '11900',
    actual: '12000',
    note: null,
  });
  const told = () => hooks.hooks.filter(({ body }: Invoice) => body.includes('audit.failed'));
  await until(() => (told().length === 1 ? true : undefined));
  expect(JSON.parse(told()[0]!.body)).toMatchObject({
    webhook_type: 'audit.failed',
    object_type: 'audit',
    audit: {
      mode: 'incremental',
      findings_count: 2,
      new_findings_count: 2,
      checks: [
        { code: 'A03', count: 1 },
        { code: 'A07', count: 1 },
      ],
    },
  });
  await sweep('recent');
  const runs = (await story.client.get('/audits?has_findings=true')).body.audits;
  expect(runs[0]).toMatchObject({ findings_count: 2, new_findings_count: 0 });
  const noted = await story.client.put(`/audits/findings/${finding.svc_id}`, {
    audit_finding: { status: 'acknowledged', note: 'known' },
  });
  expect(noted.body.audit_finding).toMatchObject({ status: 'acknowledged', note: 'known' });
  const metrics = await fetch(`${service.url}/metrics`).then((answer) => answer.text());
  expect(metrics).toMatch(/meterstone_audit_findings_open\{check="A03"[^}]*\} 1/);

  await service.sql`update invoices set total_paid_amount_cents = 0 where id = ${id}`;
  await sweep('recent');
  expect(await findings()).toEqual([]);
  expect((await findings('&statuses[]=resolved&checks[]=A03'))[0]).toMatchObject({
    svc_id: finding.svc_id,
    status: 'resolved',
  });
  expect(told()).toHaveLength(1);
});

const org = () => story.organizationId;
const id = () => invoice.svc_id as string;

test.each<[string, () => string, () => string]>([
  [
    'A01',
    () => `update ledger_entries set amount_cents = amount_cents + 1 where invoice_id = '${id()}' and tax_code = 'vat'`,
    () => `update ledger_entries set amount_cents = amount_cents - 1 where invoice_id = '${id()}' and tax_code = 'vat'`,
  ],
  [
    'A07',
    () => `update invoices set fees_amount_cents = fees_amount_cents + 1 where id = '${id()}'`,
    () => `update invoices set fees_amount_cents = fees_amount_cents - 1 where id = '${id()}'`,
  ],
  [
    'A08',
    () => `update invoice_applied_taxes set amount_cents = amount_cents + 7 where invoice_id = '${id()}'`,
    () => `update invoice_applied_taxes set amount_cents = amount_cents - 7 where invoice_id = '${id()}'`,
  ],
  [
    'A08',
    () => `update fees set precise_coupons_amount_cents = 500 where invoice_id = '${id()}'`,
    () => `update fees set precise_coupons_amount_cents = 0 where invoice_id = '${id()}'`,
  ],
  [
    'A11',
    () =>
      `update invoice_subscriptions set charges_to_datetime = charges_to_datetime + interval '1 day' where invoice_id = '${id()}'`,
    () =>
      `update invoice_subscriptions set charges_to_datetime = charges_to_datetime - interval '1 day' where invoice_id = '${id()}'`,
  ],
  [
    'A11',
    () =>
      `update invoice_subscriptions set fixed_charges_to_datetime = fixed_charges_to_datetime + interval '1 day' where invoice_id = '${id()}'`,
    () =>
      `update invoice_subscriptions set fixed_charges_to_datetime = fixed_charges_to_datetime - interval '1 day' where invoice_id = '${id()}'`,
  ],
  [
    'A13',
    () =>
      `update subscriptions set next_billing_at = next_billing_at - interval '40 days' where organization_id = '${org()}'`,
    () =>
      `update subscriptions set next_billing_at = next_billing_at + interval '40 days' where organization_id = '${org()}'`,
  ],
  [
    'A18',
    () => `update invoices set payment_status = 'succeeded' where id = '${id()}'`,
    () => `update invoices set payment_status = 'pending' where id = '${id()}'`,
  ],
  [
    'A19',
    () => `update invoices set sequential_id = 7 where id = '${id()}'`,
    () => `update invoices set sequential_id = 1 where id = '${id()}'`,
  ],
  [
    'A25',
    () => `update taxes set organization_id = gen_random_uuid() where organization_id = '${org()}'`,
    () => `update taxes set organization_id = '${org()}'`,
  ],
  [
    'A27',
    () =>
      `update fee_inputs set fee_id = gen_random_uuid() where fee_id in (select id from fees where invoice_id = '${id()}')`,
    () =>
      `update fee_inputs set fee_id = (select id from fees where invoice_id = '${id()}') where fee_id not in (select id from fees)`,
  ],
  [
    'A27-verify',
    () => `update fees set taxes_amount_cents = taxes_amount_cents + 1 where invoice_id = '${id()}'`,
    () => `update fees set taxes_amount_cents = taxes_amount_cents - 1 where invoice_id = '${id()}'`,
  ],
])('%s is found when it is broken by hand and resolved when it is repaired', async (check, breakIt, mend) => {
  await byHand(breakIt());
  await sweep('full');
  expect(await named()).toContain(check);
  await byHand(mend());
  await sweep('full');
  expect(await named()).toEqual([]);
});

test('lines without a usage window, as of plans that bill only fixed charges monthly, overlap with nothing', async () => {
  await byHand(
    `update invoice_subscriptions set charges_from_datetime = null, charges_to_datetime = null where organization_id = '${org()}'`,
  );
  await sweep('full');
  expect(await named()).not.toContain('A11');
  await byHand(
    `update invoice_subscriptions set charges_from_datetime = fixed_charges_from_datetime,
       charges_to_datetime = fixed_charges_to_datetime where organization_id = '${org()}'`,
  );
  await sweep('full');
  expect(await named()).toEqual([]);
});

test('the journal proves credit notes and wallets (A04, A05, A06)', async () => {
  const wallet = await story.client.post('/wallets', {
    wallet: { external_customer_id: 'acme', name: 'w', rate_amount: '1', currency: 'USD', granted_credits: '10' },
  });
  expect(wallet.status).toBe(200);
  const walletId = wallet.body.wallet.svc_id;
  await until(async () => {
    const { body } = await story.client.get(`/wallets/${walletId}`);
    return body.wallet.balance_cents === 1000 ? true : undefined;
  });
  await sweep('recent');
  expect(await named()).toEqual([]);
  await service.sql`update wallets set balance_cents = 1001 where id = ${walletId}`;
  await sweep('recent');
  expect(await named()).toEqual(['A05', 'A06']);
  expect((await findings('&checks[]=A05'))[0]).toMatchObject({ expected: '1001', actual: '1000' });
  await service.sql`update wallets set balance_cents = 1000 where id = ${walletId}`;

  await service.sql`update invoices set payment_status = 'succeeded', total_paid_amount_cents = total_amount_cents
    where id = ${id()}`;
  const note = await story.client.post('/credit_notes', {
    credit_note: {
      invoice_id: id(),
      reason: 'other',
      credit_amount_cents: 120,
      items: [{ fee_id: invoice.fees[0].svc_id, amount_cents: 100 }],
    },
  });
  expect(note.status).toBe(200);
  await service.sql`update invoices set payment_status = 'pending', total_paid_amount_cents = 0 where id = ${id()}`;
  await sweep('recent');
  expect(await named()).toEqual([]);
  await service.sql`update credit_notes set balance_amount_cents = balance_amount_cents - 1
    where id = ${note.body.credit_note.svc_id}`;
  await sweep('recent');
  expect(await named()).toEqual(['A04']);
  await service.sql`update credit_notes set balance_amount_cents = balance_amount_cents + 1
    where id = ${note.body.credit_note.svc_id}`;
  await sweep('recent');
});

test('the database refuses changes of the journal (AU4)', async () => {
  await expect(service.sql`delete from ledger_entries where invoice_id = ${id()}`).rejects.toThrow(/never changed/);
});

test('an audit on request runs the named checks, once in ten minutes', async () => {
  const asked = await story.client.post('/audits', { audit: { checks: ['A01', 'A02'] } });
  expect(asked.body.audit).toMatchObject({ mode: 'manual', status: 'running' });
  const done = await until(async () => {
    const { audit } = (await story.client.get(`/audits/${asked.body.audit.svc_id}`)).body;
    return audit.status === 'succeeded' ? audit : undefined;
  });
  expect(done.checks.map(({ code }: Invoice) => code)).toEqual(['A01', 'A02']);
  const again = await story.client.post('/audits');
  expect(again.body).toMatchObject({ status: 422, error_details: { base: ['value_is_out_of_range'] } });
  expect((await story.client.get('/audits/x')).body).toMatchObject({ status: 404, resource: 'audit' });
});
