import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { auditFull } from '../../../src/areas/reporting/audit-books/jobs.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { createProducer, type Producer } from '../../../src/platform/queue/producer.ts';
import { reactions } from '../../../src/reactions.ts';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// A story with everything that touches money leaves the auditor content, and each invariant of it is named when it is
// broken by hand (auditor.md).
let service: TestService;
let story: Story;
let producer: Producer;
let refunded: Invoice;

beforeAll(async () => {
  service = await startService();
  producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  story = await openStory(service, '2024-02-01T00:00:00Z');
  await tell();
}, 60_000);
afterAll(async () => {
  await producer.close();
  await service.stop();
});
beforeEach(() => service.sql`delete from audit_runs`);

async function tell(): Promise<void> {
  const { client } = story;
  await story.tax(20);
  await story.customer();
  await ok(
    client.post('/customers', { customer: { external_id: 'partner', currency: 'USD', account_type: 'partner' } }),
  );
  const metric = { name: 'Calls', code: 'calls', aggregation_type: 'sum_agg', field_name: 'calls' };
  const calls = (await ok(client.post('/billable_metrics', { billable_metric: metric }))).billable_metric.svc_id;
  const count = { name: 'Jobs', code: 'jobs', aggregation_type: 'count_agg' };
  const jobs = (await ok(client.post('/billable_metrics', { billable_metric: count }))).billable_metric.svc_id;
  await story.plan({
    amount_cents: 3000,
    charges: [
      { billable_metric_id: calls, charge_model: 'standard', properties: { amount: '0.37' } },
      { billable_metric_id: jobs, charge_model: 'standard', pay_in_advance: true, properties: { amount: '1.5' } },
    ],
  });
  await story.subscribe();
  await story.subscribe({ external_id: 'two' });
  for (const [code, fields] of [
    ['once', { coupon_type: 'fixed_amount', amount_cents: 4000, amount_currency: 'USD', frequency: 'once' }],
    ['thrice', { coupon_type: 'percentage', percentage_rate: '10', frequency: 'recurring', frequency_duration: 3 }],
  ] as const) {
    await ok(client.post('/coupons', { coupon: { name: code, code, expiration: 'no_expiration', ...fields } }));
    await ok(client.post('/applied_coupons', { applied_coupon: { external_customer_id: 'acme', coupon_code: code } }));
  }
  await send('c1', 'calls', '2024-02-01T00:00:00Z', { calls: 70 });
  await story.advanceTo('2024-02-10T08:00:00Z');
  await send('c2', 'calls', '2024-02-09T10:00:00Z', { calls: 55 });
  await send('j1', 'jobs', '2024-02-10T07:00:00Z', {});
  await story.invoices(1);
  await story.advanceTo('2024-03-02T00:00:00Z');
  await ok(
    client.post('/wallets', {
      wallet: {
        external_customer_id: 'acme',
        name: 'w',
        rate_amount: '1',
        currency: 'USD',
        granted_credits: '10',
        paid_credits: '20',
      },
    }),
  );
  const bought = (await story.invoices(3)).find(({ invoice_type }) => invoice_type === 'credit');
  await ok(story.pay(bought.svc_id, bought.total_amount_cents));
  await story.advanceTo('2024-04-02T00:00:00Z');
  refunded = await story.oneOff(777);
  await ok(story.pay(refunded.svc_id, 932));
  await ok(story.credit(refunded, 100, { refund_amount_cents: 120 }));
  const settled = await story.oneOff(333);
  await ok(story.credit(settled, 333, { offset_amount_cents: 400 }));
  const voided = await story.oneOff(1001);
  await ok(story.pay(voided.svc_id, 500));
  await ok(client.post(`/invoices/${voided.svc_id}/void`, { generate_credit_note: true, credit_amount: 333 }));
  const given = await story.oneOff(501);
  await ok(story.credit(given, 250, { credit_amount_cents: 300 }));
  const own = await story.oneOff(640, 'partner');
  await ok(story.pay(own.svc_id, 200));
  await story.advanceTo('2024-05-02T00:00:00Z');
}

const send = (id: string, code: string, at: string, properties: object) =>
  ok(
    story.client.post('/events', {
      event: {
        transaction_id: id,
        external_subscription_id: 'sub',
        code,
        timestamp: Date.parse(at) / 1000,
        properties,
      },
    }),
  );

async function audit(): Promise<string[]> {
  const log = createLog({ level: 'silent', process: 'test' });
  const deps = { sql: service.sql, redis: service.redis, producer, config: service.config, reactions, log };
  await auditFull.sweep(deps, Temporal.Instant.from('2024-05-02T00:00:00Z'));
  const { body } = await story.client.get('/audits/findings?per_page=100');
  return body.audit_findings.map(({ check, expected, actual, details }: Invoice) =>
    JSON.stringify({ check, expected, actual, details }),
  );
}

/** Changes rows that triggers and keys protect. */
const byHand = (statements: readonly string[]) =>
  service.sql.begin(async (tx) => {
    await tx.unsafe('set local session_replication_role = replica');
    for (const statement of statements) await tx.unsafe(statement);
  });

test('a story that touches everything with money leaves no finding', async () => {
  await until(async () => ((await service.sql`select from event_batches`).length === 0 ? true : undefined));
  expect(await audit()).toEqual([]);
  const used = await service.sql<{ kind: string }[]>`
    select 'bucket' as kind from usage_buckets union select 'coupon' from credits where applied_coupon_id is not null
    union select 'wallet' from wallet_transactions where transaction_status = 'invoiced'
    union select 'note' from credits where credit_note_id is not null
    union select 'in advance' from fees where event_transaction_id = 'j1'
    union select 'self-billed' from invoices where self_billed
    order by 1`;
  expect(used.map(({ kind }) => kind)).toEqual(['bucket', 'coupon', 'in advance', 'note', 'self-billed', 'wallet']);
});

const org = () => `organization_id = '${story.organizationId}'`;
const noteOfRefund = () => `invoice_id = '${refunded.svc_id}'`;
const BUDGET = '018e0000-0000-7000-8000-000000000001';
const HOLD = 'id, organization_id, wallet_id, amount_cents, available_cents, expires_at, created_at, updated_at';
const holdOf = (amount: number, available: number, endsAt: string) =>
  `gen_random_uuid(), organization_id, id, ${amount}, ${available}, '${endsAt}', '2024-05-01Z', '2024-05-01Z'
   from wallets where ${org()}`;
const shiftedLine = () =>
  `id = (select id from invoice_subscriptions where ${org()} and recurring order by charges_from_datetime desc limit 1)`;

test.each<[string, string, () => string[], () => string[]]>([
  [
    'A02',
    'an entry of the journal',
    () => [
      `update ledger_entries set amount_cents = amount_cents + 1 where ${noteOfRefund()} and account_code = 'cash'`,
    ],
    () => [
      `update ledger_entries set amount_cents = amount_cents - 1 where ${noteOfRefund()} and account_code = 'cash'`,
    ],
  ],
  [
    'A03',
    'the due of a self-billed invoice',
    () => [`update invoices set total_paid_amount_cents = total_paid_amount_cents + 1 where ${org()} and self_billed`],
    () => [`update invoices set total_paid_amount_cents = total_paid_amount_cents - 1 where ${org()} and self_billed`],
  ],
  [
    'A04',
    'a refund that was not booked',
    () => [`update credit_notes set refund_status = 'succeeded' where ${noteOfRefund()}`],
    () => [`update credit_notes set refund_status = 'pending' where ${noteOfRefund()}`],
  ],
  [
    'A07',
    'a paid total that differs from the payments',
    () => [`update payment_invoices set amount_cents = amount_cents + 1 where ${noteOfRefund()}`],
    () => [`update payment_invoices set amount_cents = amount_cents - 1 where ${noteOfRefund()}`],
  ],
  [
    'A07',
    'an offset without its settlement',
    () => [`update invoice_settlements set amount_cents = amount_cents + 1 where ${org()}`],
    () => [`update invoice_settlements set amount_cents = amount_cents - 1 where ${org()}`],
  ],
  [
    'A09',
    'a coupon of once that gave too much',
    () => [`update applied_coupons set amount_cents = 3999 where ${org()} and frequency = 'once'`],
    () => [`update applied_coupons set amount_cents = 4000 where ${org()} and frequency = 'once'`],
  ],
  [
    'A09',
    'a coupon with a period too many',
    () => [`update applied_coupons set frequency_duration = 4 where ${org()} and frequency = 'recurring'`],
    () => [`update applied_coupons set frequency_duration = 3 where ${org()} and frequency = 'recurring'`],
  ],
  [
    'A10',
    'a note of more than its fee',
    () => [
      `update credit_note_items set amount_cents = amount_cents + 1000 where fee_id = '${refunded.fees[0].svc_id}'`,
    ],
    () => [
      `update credit_note_items set amount_cents = amount_cents - 1000 where fee_id = '${refunded.fees[0].svc_id}'`,
    ],
  ],
  [
    'A12',
    'a day that no invoice bills',
    () => [
      `update invoice_subscriptions set charges_from_datetime = charges_from_datetime + interval '1 day' where ${shiftedLine()}`,
    ],
    () => [
      `update invoice_subscriptions set charges_from_datetime = charges_from_datetime - interval '1 day' where ${shiftedLine()}`,
    ],
  ],
  [
    'A13',
    'a coupon and a wallet past their end',
    () => [
      `update coupons set expiration = 'time_limit', expiration_at = '2024-04-30Z' where ${org()} and code = 'once'`,
      `update wallets set expiration_at = '2024-04-30Z' where ${org()}`,
    ],
    () => [
      `update coupons set expiration = 'no_expiration', expiration_at = null where ${org()} and code = 'once'`,
      `update wallets set expiration_at = null where ${org()}`,
    ],
  ],
  [
    'A13',
    'a gate past its end',
    () => [
      `insert into subscription_activation_rules (id, organization_id, subscription_id, rule_type, timeout_hours, status,
         expires_at, created_at, updated_at)
       select gen_random_uuid(), organization_id, id, 'payment', 1, 'pending', '2024-04-30Z', '2024-04-29Z', '2024-04-29Z'
       from subscriptions where ${org()} and external_id = 'two'`,
      `update subscriptions set status = 'incomplete' where ${org()} and external_id = 'two'`,
    ],
    () => [
      `delete from subscription_activation_rules where ${org()}`,
      `update subscriptions set status = 'active' where ${org()} and external_id = 'two'`,
    ],
  ],
  [
    'A14',
    'two subscriptions of one external id',
    () => [
      'drop index subscriptions_active_key',
      `update subscriptions set external_id = 'sub' where ${org()} and external_id = 'two'`,
    ],
    () => [
      `update subscriptions set external_id = 'two' where id = (select max(id::text)::uuid from subscriptions where ${org()})`,
      `create unique index subscriptions_active_key on subscriptions (organization_id, external_id) where status = 'active'`,
    ],
  ],
  [
    'A15',
    'a rollup',
    () => [`update usage_buckets set sum = sum + 1 where ${org()} and sum = 55`],
    () => [`update usage_buckets set sum = sum - 1 where ${org()} and sum = 56`],
  ],
  [
    'A16',
    'an event without its fee',
    () => [
      `update events set created_at = created_at - interval '11 minutes' where ${org()} and transaction_id = 'j1'`,
      `update fees set event_transaction_id = 'another' where ${org()} and event_transaction_id = 'j1'`,
    ],
    () => [`update fees set event_transaction_id = 'j1' where ${org()} and event_transaction_id = 'another'`],
  ],
  [
    'A20',
    'a payment under way for more than a week',
    () => [`update payments set payment_status = 'processing' where ${org()} and amount_cents = 932`],
    () => [`update payments set payment_status = 'succeeded' where ${org()} and amount_cents = 932`],
  ],
  [
    'A21',
    'a refund without a state',
    () => [`update credit_notes set refund_status = null where ${noteOfRefund()}`],
    () => [`update credit_notes set refund_status = 'pending' where ${noteOfRefund()}`],
  ],
  [
    'A22',
    'a hole in the feed',
    () => [`update webhook_events set sequence = 999999 where ${org()} and sequence = 2`],
    () => [`update webhook_events set sequence = 2 where ${org()} and sequence = 999999`],
  ],
  [
    'A23',
    'owed work that failed for good',
    () => [
      `insert into after_steps (id, organization_id, job, payload, created_at, enqueued_at, failed_at)
       values (gen_random_uuid(), '${story.organizationId}', 'x', '{}', '2024-01-01Z', '2024-01-01Z', '2024-01-01Z')`,
    ],
    () => [`delete from after_steps where ${org()}`],
  ],
  [
    'A23',
    'owed work that no worker understands',
    () => [
      `insert into after_steps (id, organization_id, job, payload, created_at, enqueued_at, unknown_since)
       values (gen_random_uuid(), '${story.organizationId}', 'x', '{}', '2024-01-01Z', now(), '2024-01-01Z')`,
    ],
    () => [`delete from after_steps where ${org()}`],
  ],
  [
    'A24',
    'a batch of events that no job works on',
    () => [
      `insert into event_batches (id, organization_ids, event_ids, created_at, enqueued_at)
       values (gen_random_uuid(), '{${story.organizationId}}', '{}', '2024-01-01Z', '2999-01-01Z')`,
    ],
    () => ['delete from event_batches'],
  ],
  [
    'A24',
    'itself when it cannot be run',
    () => ['alter table inbound_events rename to moved'],
    () => ['alter table moved rename to inbound_events'],
  ],
  [
    'A34',
    'a window of a budget that spent more than its entries say',
    () => [
      `insert into budgets (id, organization_id, code, name, scope, measure, currency, most, period, timezone, mode,
         alert_percents, on_outage, unknown_price, created_at, updated_at)
       values ('${BUDGET}', '${story.organizationId}', 'b', 'b', 'organization', 'amount', 'USD', 100, 'lifetime',
         'UTC', 'hard', '{50}', 'closed', 'deny', '2024-02-01Z', '2024-02-01Z')`,
      `insert into budget_windows (id, organization_id, budget_id, group_key, group_values, starts_at, spent, created_at)
       values (gen_random_uuid(), '${story.organizationId}', '${BUDGET}', '', '[]', '2024-02-01Z', 1, '2024-02-01Z')`,
    ],
    () => [`delete from budget_windows where ${org()}`, `delete from budgets where ${org()}`],
  ],
  [
    'A34',
    'holds of a budget that took more than its limit',
    () => [
      `insert into budgets (id, organization_id, code, name, scope, measure, currency, most, period, timezone, mode,
         alert_percents, on_outage, unknown_price, created_at, updated_at)
       values ('${BUDGET}', '${story.organizationId}', 'b', 'b', 'organization', 'amount', 'USD', 100, 'lifetime',
         'UTC', 'hard', '{50}', 'closed', 'deny', '2024-02-01Z', '2024-02-01Z')`,
      // 60 were settled of a hold of 70, and 41 are held.
      `insert into budget_windows (id, organization_id, budget_id, group_key, group_values, starts_at, spent, held,
         created_at)
       values ('${BUDGET}', '${story.organizationId}', '${BUDGET}', '', '[]', '2024-02-01Z', 60, 41, '2024-02-01Z')`,
      `insert into budget_entries (id, organization_id, window_id, amount, source, created_at, folded_at)
       values (gen_random_uuid(), '${story.organizationId}', '${BUDGET}', 60, 'settlement', '2024-02-01Z',
         '2024-02-01Z')`,
      `insert into budget_holds (id, organization_id, hold_key, status, expires_at, question_digest,
         external_subscription_id, created_at, closed_at)
       select gen_random_uuid(), '${story.organizationId}', status, status, '2999-01-01Z', '', 'one', '2024-02-01Z',
         case status when 'settled' then timestamptz '2024-02-01Z' end
       from unnest('{settled,open}'::text[]) status`,
      `insert into budget_hold_parts (hold_id, window_id, organization_id, held, settled, expires_at, is_open)
       select id, '${BUDGET}', organization_id, case status when 'open' then 41 else 70 end,
         case status when 'settled' then 60 end, expires_at, status = 'open'
       from budget_holds where ${org()}`,
    ],
    () => [
      `delete from budget_holds where ${org()}`,
      `delete from budget_entries where ${org()}`,
      `delete from budget_windows where ${org()}`,
      `delete from budgets where ${org()}`,
    ],
  ],
  [
    'A26',
    'a hold that stays open past its end',
    () => [`insert into wallet_holds (${HOLD}) select ${holdOf(100, 100, '2024-05-01T23:54:00Z')}`],
    () => [`delete from wallet_holds where ${org()}`],
  ],
  [
    'A26',
    'a hold of more than there was',
    () => [
      'alter table wallet_holds drop constraint wallet_holds_covered',
      `insert into wallet_holds (${HOLD}) select ${holdOf(101, 100, '2024-05-03T00:00:00Z')}`,
    ],
    () => [
      `delete from wallet_holds where ${org()}`,
      'alter table wallet_holds add constraint wallet_holds_covered check (amount_cents <= available_cents)',
    ],
  ],
  [
    'A26',
    'a sum that left its holds',
    () => [`update wallet_held set held_cents = held_cents + 1 where ${org()}`],
    () => [`update wallet_held set held_cents = held_cents - 1 where ${org()}`],
  ],
  [
    'A28',
    'a migration that was not applied',
    () => [`update schema_migrations set name = 'x' where name = '0015_create_reporting.sql'`],
    () => [`update schema_migrations set name = '0015_create_reporting.sql' where name = 'x'`],
  ],
  [
    'A28',
    'a clock that advances without a worker',
    // The live pool would take it up at once.
    () => [
      `update test_clocks set status = 'advancing' where ${org()}`,
      'create trigger not_now before update on test_clocks for each row execute function refuse_change()',
      `insert into test_clock_leases (organization_id, until) select organization_id, '2024-01-01Z' from test_clocks where ${org()}`,
    ],
    () => [
      'drop trigger not_now on test_clocks',
      `update test_clocks set status = 'ready' where ${org()}`,
      `delete from test_clock_leases where ${org()}`,
    ],
  ],
])('check %s finds %s', async (check, _what, breakIt, mend) => {
  await byHand(breakIt());
  const found = await audit();
  await byHand(mend());
  expect(found.map((finding) => JSON.parse(finding).check)).toContain(check);
  expect(await audit()).toEqual([]);
});

test('the auditor finds an event that gets no number (A22)', async () => {
  await service.sql.begin(async (tx) => {
    await tx.unsafe(`select from feed_heads where ${org()} for update`);
    await service.sql.unsafe(
      `insert into webhook_events (id, organization_id, webhook_type, object_type, occurred_at, payload, created_at)
       select '00000000-0000-7000-8000-000000000001', organization_id, webhook_type, object_type, '2024-01-01Z', payload, '2024-01-01Z'
       from webhook_events where organization_id = '${story.organizationId}' and webhook_type = 'customer.created' limit 1`,
    );
    const found = (await audit()).map((finding) => JSON.parse(finding));
    expect(found).toContainEqual({
      check: 'A22',
      expected: 'a number',
      actual: null,
      details: { webhook_type: 'customer.created' },
    });
  });
  await until(async () => ((await audit()).length === 0 ? true : undefined));
});
