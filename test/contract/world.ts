import type { Sql } from '../../src/platform/db/connect.ts';
import { newId } from '../../src/platform/ids.ts';
import type { Operation } from '../../src/platform/operation.ts';
import type { Client } from '../support/client.ts';
import { until } from '../support/until.ts';
import { QUERIES } from './bodies.ts';

/** Values of path parameters by the first part of the path. */
export type World = Record<string, Record<string, string>>;

const SOMEBODY = 'somebody';
const POLL_MS = 60_000;

/** Fills a sandbox organization with one record of each kind, and tells what identifies them in paths. */
export async function buildWorld(client: Client, sql: Sql): Promise<World> {
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const made = async (path: string, body: object): Promise<any> => {
    const answer = await client.post(path, body);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    return answer.body;
  };
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const found = (path: string, root: string, fits: (row: any) => boolean = () => true): Promise<any> =>
    until(async () => (await client.get(path)).body[root]?.find(fits), POLL_MS);

  await made('/test_clock', { test_clock: { frozen_time: '2024-01-01T00:00:00Z' } });
  await made('/taxes', { tax: { name: 'Tax', code: 'tax', rate: '10' } });
  const { add_on } = await made('/add_ons', {
    add_on: { name: 'Seat', code: 'seat', amount_cents: 1000, amount_currency: 'EUR' },
  });
  await made('/pricing_units', { pricing_unit: { name: 'Token', code: 'token', short_name: 'TK' } });
  await made('/invoice_custom_sections', { invoice_custom_section: { name: 'Terms', code: 'terms' } });
  await made('/billing_entities', { billing_entity: { name: 'Branch', code: 'branch' } });
  await made('/billing_entities', {
    billing_entity: { name: 'Stated', code: 'stated', country: 'DE', tax_identification_number: 'DE123456789' },
  });
  const { billable_metric } = await made('/billable_metrics', {
    billable_metric: {
      name: 'Calls',
      code: 'calls',
      aggregation_type: 'sum_agg',
      field_name: 'n',
      filters: [{ key: 'region', values: ['eu', 'us'] }],
    },
  });
  await made('/coupons', {
    coupon: {
      name: 'Coupon',
      code: 'coupon',
      coupon_type: 'percentage',
      percentage_rate: '10',
      frequency: 'forever',
      expiration: 'no_expiration',
    },
  });
  await made('/dunning_campaigns', {
    dunning_campaign: {
      name: 'Campaign',
      code: 'campaign',
      days_between_attempts: 1,
      max_attempts: 2,
      thresholds: [{ amount_cents: 1, currency: 'EUR' }],
      applied_to_organization: false,
    },
  });
  const { payment_provider } = await made('/payment_providers', {
    payment_provider: { type: 'sandbox', code: 'provider', name: 'Provider', emulates: 'stripe' },
  });
  await made('/integrations', {
    integration: { type: 'anrok', code: 'engine', name: 'Engine', api_key: 'sandbox' },
  });
  await made('/plans', {
    plan: {
      name: 'Plan',
      code: 'plan',
      interval: 'monthly',
      amount_cents: 5000,
      amount_currency: 'EUR',
      pay_in_advance: true,
      metadata: { color: 'red' },
      charges: [
        {
          billable_metric_id: billable_metric.svc_id,
          code: 'calls',
          charge_model: 'standard',
          properties: { amount: '1' },
          filters: [{ values: { region: ['eu'] }, properties: { amount: '2' } }],
        },
      ],
      fixed_charges: [
        { add_on_code: 'seat', code: 'seats', charge_model: 'standard', units: 2, properties: { amount: '10' } },
      ],
    },
  });
  const filter = await found('/plans/plan/charges/calls/filters', 'filters');
  await made('/customers', {
    customer: {
      external_id: SOMEBODY,
      name: 'Somebody',
      email: 'somebody@example.com',
      currency: 'EUR',
      tax_codes: ['tax'],
      billing_configuration: {
        payment_provider: payment_provider.emulates,
        payment_provider_code: 'provider',
        sync_with_provider: true,
      },
    },
  });
  const { payment_method } = await made(`/customers/${SOMEBODY}/payment_methods`, {
    payment_method: { card_number: '4242424242424242' },
  });
  await made('/subscriptions', {
    subscription: { external_customer_id: SOMEBODY, external_id: 'running', plan_code: 'plan' },
  });
  // Before there is a coupon or a credit that it could bear.
  const paid = await found(
    `/customers/${SOMEBODY}/invoices`,
    'invoices',
    ({ payment_status }) => payment_status === 'succeeded',
  );
  await made('/subscriptions/running/alerts', {
    alert: { alert_type: 'current_usage_amount', code: 'alert', thresholds: [{ code: 'first', value: 100 }] },
  });
  await made('/events', {
    event: {
      transaction_id: 'event',
      external_subscription_id: 'running',
      code: 'calls',
      properties: { n: 3, region: 'eu' },
    },
  });
  await made('/events', {
    event: { transaction_id: 'stray', external_subscription_id: 'nobody', code: 'calls', properties: { n: 3 } },
  });
  const { correction } = await made('/events/corrections', {
    correction: {
      kind: 'amend',
      reason: 'meter was off',
      external_subscription_id: 'running',
      transaction_id: 'event',
      properties: { n: 4, region: 'eu' },
    },
  });
  await made('/features', {
    feature: { code: 'seats', name: 'Seats', privileges: [{ code: 'max', value_type: 'integer' }] },
  });
  await made('/plans/plan/entitlements', { entitlements: { seats: { max: 10 } } });
  const { applied_coupon } = await made('/applied_coupons', {
    applied_coupon: { external_customer_id: SOMEBODY, coupon_code: 'coupon' },
  });
  const { wallet } = await made('/wallets', {
    wallet: {
      external_customer_id: SOMEBODY,
      name: 'Wallet',
      code: 'wallet',
      rate_amount: '1',
      currency: 'EUR',
      granted_credits: '10',
      metadata: { color: 'red' },
    },
  });
  await made(`/customers/${SOMEBODY}/wallets/wallet/alerts`, {
    alert: { alert_type: 'wallet_balance_amount', code: 'wallet', thresholds: [{ code: 'low', value: 100 }] },
  });
  const walletTransaction = await found(
    `/wallets/${wallet.svc_id}/wallet_transactions`,
    'wallet_transactions',
    ({ status }) => status === 'settled',
  );
  const invoice = (await client.get(`/invoices/${paid.svc_id}`)).body.invoice;
  const { credit_note } = await made('/credit_notes', {
    credit_note: {
      invoice_id: invoice.svc_id,
      reason: 'other',
      credit_amount_cents: 100,
      refund_amount_cents: 0,
      metadata: { color: 'red' },
      items: [{ fee_id: invoice.fees[0].svc_id, amount_cents: 91 }],
    },
  });
  const { hold } = await made(`/wallets/${wallet.svc_id}/holds`, { hold: { amount_cents: 100 } });
  const { quote } = await made('/quotes', {
    quote: {
      external_customer_id: SOMEBODY,
      order_type: 'one_off',
      currency: 'EUR',
      billing_items: {
        addOns: [
          {
            id: add_on.svc_id,
            localId: 'seat',
            type: 'add_on',
            payload: { code: 'seat', units: 1, unitAmountCents: 1000, totalAmountCents: 1000 },
          },
        ],
      },
    },
  });
  const quoteVersion = await found(`/quotes/${quote.svc_id}/versions`, 'quote_versions');
  await made(`/quote_versions/${quoteVersion.svc_id}/approve`, {});
  const form = await found('/order_forms', 'order_forms');
  await made(`/order_forms/${form.svc_id}/mark_as_signed`, {});
  const order = await found('/orders', 'orders');
  const { api_key } = await made('/api_keys', { api_key: { name: 'Second' } });
  const activity = await found('/activity_logs', 'activity_logs');
  const request = await found('/api_logs', 'api_logs');
  const security = await found('/security_logs?to_date=2100-01-01', 'security_logs');
  const { webhook_endpoint } = await made('/webhook_endpoints', {
    webhook_endpoint: { webhook_url: 'http://127.0.0.1:4999/hooks' },
  });
  await made(`/webhook_endpoints/${webhook_endpoint.svc_id}/test`, {});
  const webhook = await found(`/webhook_endpoints/${webhook_endpoint.svc_id}/webhooks`, 'webhooks');
  const event = await found('/webhook_events', 'webhook_events');
  await made('/customers', {
    customer: {
      external_id: 'stated',
      currency: 'EUR',
      country: 'FR',
      billing_entity_code: 'stated',
      tax_codes: ['tax'],
    },
  });
  const stated = await made('/invoices', {
    invoice: { external_customer_id: 'stated', currency: 'EUR', fees: [{ add_on_code: 'seat', units: 1 }] },
  });
  const { e_document } = await made(`/invoices/${stated.invoice.svc_id}/e_documents`, {
    e_document: { profile: 'en16931_ubl' },
  });
  const { verification } = await made(`/invoices/${invoice.svc_id}/verify`, {});
  const { audit } = await made('/audits', {});
  const { heal } = await made('/events/unmatched/heal', {});
  const rerating = { from: '2020-01-01', to: '2020-02-01', reason: 'corrected prices' };
  const { rerate } = await made('/price_book/rerate', { rerate: rerating });
  const { run } = await made('/invoices/retry_all', {});
  const payment = await found('/payments', 'payments', ({ payment_status }) => payment_status === 'succeeded');
  const receipt = await found('/payment_receipts', 'payment_receipts');
  const entry = await found('/ledger/entries', 'ledger_entries');
  await made('/customers', {
    customer: {
      external_id: 'careful',
      currency: 'EUR',
      billing_configuration: {
        payment_provider: payment_provider.emulates,
        payment_provider_code: 'provider',
        sync_with_provider: true,
      },
    },
  });
  await made('/customers/careful/payment_methods', { payment_method: { card_number: '4000000000003220' } });
  await made('/invoices', {
    invoice: { external_customer_id: 'careful', currency: 'EUR', fees: [{ add_on_code: add_on.code }] },
  });
  const asked = await found('/payments?external_customer_id=careful', 'payments', (row) => row.next_action?.type);
  await made(`/sandbox/payments/${asked.svc_id}/confirm`, { outcome: 'succeeded' });
  const { provider_reconciliation } = await made('/provider_reconciliations', {});
  // Doubles hold nothing of their own, so that nothing differs at them.
  const drift = newId();
  await sql`
    insert into provider_drifts (id, organization_id, connection_id, kind, severity, status, provider_object_id, ours,
      theirs, first_seen_at, last_seen_at)
    select ${drift}, organization_id, id, 'payment_missing_there', 'error', 'open', 'pi_gone', '{}', null, now(), now()
    from payment_providers where id = ${payment_provider.svc_id}`;
  const letter = await enterStream(sql, payment_provider.svc_id);
  await made('/budgets', {
    budget: {
      code: 'ceiling',
      name: 'Ceiling',
      scope: 'organization',
      measure: 'units',
      billable_metric_code: 'calls',
      limit: '1000',
      period: 'lifetime',
      group_by: ['user'],
    },
  });
  const price = { provider: 'openai', model: 'alpha', kind: 'input', cost: '2.5', valid_from: '2020-01-01T00:00:00Z' };
  const { entries } = await made('/price_book/entries', { entries: [price] });
  await made('/ai/usage', {
    ai_usage: {
      external_subscription_id: 'running',
      transaction_id: 'call',
      provider: 'openai',
      model: 'alpha',
      parts: { input: 3 },
    },
  });
  const { decision } = await made('/budget_decisions', {
    decision: {
      hold_key: 'held',
      external_subscription_id: 'running',
      code: 'calls',
      properties: { user: 'u1' },
      units: '1',
    },
  });
  const session = await signIn(sql, api_key.svc_id);
  const inboundEvent = await found('/inbound_events', 'inbound_events');
  await made('/customers', { customer: { external_id: 'late', currency: 'EUR', email: 'late@example.com' } });
  const { invoice: unpaid } = await made('/invoices', {
    invoice: { external_customer_id: 'late', currency: 'EUR', fees: [{ add_on_code: 'seat', units: 1 }] },
  });
  await made('/mail_templates/invoice/test', { mail_template: { locale: 'en', to: 'me@example.com' } });
  const mail = await found('/mails', 'mails');
  await made('/test_clock/advance', { test_clock: { frozen_time: '2024-01-03T00:00:00Z' } });
  await found(`/customers/late/invoices`, 'invoices', ({ payment_overdue }) => payment_overdue);
  await until(async () => (await client.get('/test_clock')).body.test_clock.status === 'ready' || undefined, POLL_MS);
  const { payment_request } = await made('/payment_requests', {
    payment_request: { external_customer_id: 'late', svc_invoice_ids: [unpaid.svc_id] },
  });
  const walletOf = { code: 'wallet', wallet_code: 'wallet', key: 'color' };

  return {
    activity_logs: { activity_id: activity.activity_id },
    add_ons: { code: 'seat' },
    ai: { transaction_id: 'call', external_id: SOMEBODY },
    api_keys: { svc_id: api_key.svc_id },
    api_logs: { request_id: request.request_id },
    audits: { svc_id: audit.svc_id },
    billable_metrics: { code: 'calls' },
    billing_entities: { code: 'branch' },
    budget_holds: { svc_id: decision.svc_hold_id },
    budgets: { code: 'ceiling' },
    console_sessions: { svc_id: session },
    coupons: { code: 'coupon' },
    credit_notes: { svc_id: credit_note.svc_id, key: 'color' },
    customers: {
      external_id: SOMEBODY,
      external_customer_id: SOMEBODY,
      applied_coupon_id: applied_coupon.svc_id,
      svc_id: payment_method.svc_id,
      ...walletOf,
    },
    dunning_campaigns: { code: 'campaign' },
    e_documents: { svc_id: e_document.svc_id },
    events: { transaction_id: 'event', svc_id: correction.svc_id, heal_id: heal.svc_id },
    features: { code: 'seats', privilege_code: 'max' },
    fees: { svc_id: invoice.fees[0].svc_id },
    inbound_events: { svc_id: inboundEvent.svc_id },
    ingestion: { code: 'stream', svc_id: letter },
    provider_drifts: { svc_id: drift },
    provider_reconciliations: { svc_id: provider_reconciliation.svc_id },
    invoice_custom_sections: { code: 'terms' },
    invoices: { svc_id: invoice.svc_id, fee_id: invoice.fees[0].svc_id, run_id: run.svc_id },
    mail_templates: { name: 'invoice', locale: 'de' },
    mails: { svc_id: mail.svc_id },
    ledger: { svc_id: entry.svc_transaction_id },
    order_forms: { svc_id: form.svc_id },
    orders: { svc_id: order.svc_id },
    payment_providers: { code: 'provider' },
    integrations: { code: 'engine' },
    payment_requests: { svc_id: payment_request.svc_id },
    payment_receipts: { svc_id: receipt.svc_id },
    payments: { svc_id: payment.svc_id },
    plans: {
      code: 'plan',
      charge_code: 'calls',
      filter_id: filter.svc_id,
      fixed_charge_code: 'seats',
      key: 'color',
      feature_code: 'seats',
      privilege_code: 'max',
    },
    price_book: { svc_id: entries[0].svc_id, rerate_id: rerate.svc_id },
    pricing_units: { code: 'token' },
    quote_versions: { svc_id: quoteVersion.svc_id },
    quotes: { svc_id: quote.svc_id },
    sandbox: { svc_id: payment.svc_id, token: 'nothing' },
    security_logs: { log_id: security.log_id },
    subscriptions: {
      external_id: 'running',
      feature_code: 'seats',
      privilege_code: 'max',
      charge_code: 'calls',
      filter_id: filter.svc_id,
      fixed_charge_code: 'seats',
      code: 'alert',
    },
    taxes: { code: 'tax' },
    verifications: { svc_id: verification.svc_id },
    wallet_transactions: { svc_id: walletTransaction.svc_id },
    wallets: { svc_id: wallet.svc_id, key: 'color', hold_id: hold.svc_id },
    webhook_endpoints: { svc_id: webhook_endpoint.svc_id },
    webhook_events: { svc_id: event.svc_id },
    webhooks: { svc_id: webhook.svc_id },
  };
}

/** Values of an operation's path parameters. */
export function paramsOf({ path }: Operation, world: World): Record<string, string> {
  const values = world[path.split('/')[1]!] ?? {};
  return Object.fromEntries(
    [...path.matchAll(/:(\w+)/g)].map(([, name]) => {
      const value = values[name!];
      if (value === undefined) throw new Error(`the world knows no ${name} for ${path}`);
      return [name!, value];
    }),
  );
}

/** Where an operation is called on the world's records, with the query that it needs. */
export function pathOf(operation: Operation, world: World): string {
  const params = paramsOf(operation, world);
  const path = operation.path.replaceAll(/:(\w+)/g, (_, name: string) => params[name]!);
  return QUERIES[operation.name] === undefined ? path : `${path}?${QUERIES[operation.name]}`;
}

/** A stream of the organization that has a connection, with a message that could not become an event: its id. */
async function enterStream(sql: Sql, connectionId: string): Promise<string> {
  const id = newId();
  await sql`
    with owner as (select organization_id from payment_providers where id = ${connectionId}), connector as (
      insert into ingest_connectors (organization_id, code, kind, created_at)
      select organization_id, 'stream', 'kafka', now() from owner
    )
    insert into ingest_dead_letters (organization_id, id, connector, position, part, payload, payload_digest, is_cut,
      headers, source_time, error_code, error_message, attempts, status, failed_at)
    select organization_id, ${id}, 'stream', 'calls/0/1', 0, '{}', '', false, '{}', now(), 'value_is_mandatory',
      'code: value_is_mandatory', 1, 'open', now()
    from owner`;
  return id;
}

/** A browser that is signed in to the console with a key: the id of its session. */
async function signIn(sql: Sql, keyId: string): Promise<string> {
  const id = newId();
  await sql`
    with made as (
      insert into console_sessions (id, token_digest, csrf_key, remote_address, created_at, last_seen_at, expires_at)
      values (${id}, sha256(${id}::text::bytea), sha256('csrf'::bytea), '127.0.0.1', now(), now(), now() + interval '1 hour')
    )
    insert into console_identities (session_id, organization_id, kind, api_key_id, created_at)
    select ${id}, organization_id, 'key', id, now() from api_keys where id = ${keyId}`;
  return id;
}
