import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { linkSecret } from '../../src/platform/keys/deployment-keys.ts';
import { formIn, portalPath, sendForm, visitPortal } from '../support/portal.ts';
import { keysOf, removeKeys } from '../support/redis-keys.ts';
import { startService, type TestService } from '../support/service.ts';
import { openStory, type Story } from '../support/story.ts';
import { until } from '../support/until.ts';

const DECLINED_CARD = '4000000000000002';
const GOOD_CARD = '4242424242424242';

let service: TestService;
let story: Story;
let path: string;
let walletId: string;

const allow = (powers: object, more: object = {}) =>
  story.client.put(`/billing_entities/${entityCode}/portal`, { portal: { allow: powers, ...more } });
let entityCode: string;

const visit = (below: string) => visitPortal(service.url, `${path}${below}`);
const formOf = async (below: string, ending: string) => formIn((await visit(below)).text, ending);
const send = async (below: string, ending: string, fields: Record<string, string> = {}) =>
  sendForm(service.url, `${path}${below}`, await formOf(below, ending), fields);
const transactions = async () =>
  (await story.client.get(`/wallets/${walletId}/wallet_transactions?transaction_status=purchased`)).body
    .wallet_transactions;
const card = (number: string) =>
  story.client.post('/customers/acme/payment_methods', { payment_method: { card_number: number } });

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-03-01T00:00:00Z');
  const { client } = story;
  entityCode = (await client.get('/billing_entities')).body.billing_entities[0].code;
  await client.post('/payment_providers', {
    payment_provider: { type: 'sandbox', code: 'sandbox', name: 'Sandbox' },
  });
  await story.customer({
    email: 'ada@example.com,books@example.com',
    country: 'DE',
    billing_configuration: {
      payment_provider: 'sandbox',
      payment_provider_code: 'sandbox',
      sync: true,
      sync_with_provider: true,
    },
  });
  const wallet = await client.post('/wallets', {
    wallet: { external_customer_id: 'acme', name: 'Credits', rate_amount: '2', currency: 'USD', granted_credits: '10' },
  });
  walletId = wallet.body.wallet.svc_id;
  path = await portalPath(client, 'acme');
});
afterAll(() => service.stop());
// A customer may send ten forms in a minute, and these tests send more.
beforeEach(async () => {
  const counted = await keysOf(service.redis, `${service.config.REDIS_PREFIX}:rl:portal_forms*`);
  await removeKeys(service.redis, counted);
});

describe('top-ups', () => {
  test('nobody is offered what the seller does not allow, nor can do it', async () => {
    expect((await visit(`/wallets/${walletId}`)).text).not.toContain('top_up');
    await allow({ top_up: true });
    const form = await formOf(`/wallets/${walletId}`, '/top_up');
    await allow({ top_up: false });
    const { status, text } = await sendForm(service.url, `${path}/wallets/${walletId}`, form, { amount: '20' });
    expect([status, text.includes('This cannot be done here')]).toEqual([403, true]);
    await allow({ top_up: true });
  });

  test.each([
    ['', 'Please fill this in.'],
    ['ten', 'Please type an amount, for example 50.00.'],
    ['1.234', 'Please type an amount, for example 50.00.'],
    ['0', 'The least amount is $0.01.'],
    ['10000.01', 'The greatest amount is $10,000.00.'],
  ])('an amount of “%s” comes back with its fault beside the field', async (amount, fault) => {
    const { status, text } = await send(`/wallets/${walletId}`, '/top_up', { amount });
    expect(status).toBe(422);
    expect(text).toContain(`<p class="fault" id="fault-amount">${fault}</p>`);
    expect(text).toContain(`value="${amount}" aria-invalid="true"`);
  });

  test('a top-up confirmed twice is one, another amount is another, the third unpaid one is refused (CO34)', async () => {
    const below = `/wallets/${walletId}`;
    const first = await formOf(below, '/top_up');
    const review = async (amount: string) => {
      const page = await sendForm(service.url, `${path}${below}`, first, { amount });
      expect(page.status).toBe(200);
      return { text: page.text, form: formIn(page.text, '/confirm') };
    };
    const twenty = await review('20,00');
    expect(twenty.text).toContain('10 credits');
    expect(twenty.text).toContain('You pay on the next page.');
    const confirm = (form: ReturnType<typeof formIn>) => sendForm(service.url, `${path}${below}/top_up`, form);
    const paid = await confirm(twenty.form);
    expect(paid.headers.refresh).toMatch(/^0; url=http/);
    expect((await confirm((await review('20,00')).form)).headers.refresh).toBe(paid.headers.refresh);
    expect(await transactions()).toHaveLength(1);
    await confirm((await review('30')).form);
    const made = await transactions();
    expect(made).toHaveLength(2);
    expect(made[1]).toMatchObject({
      status: 'pending',
      credit_amount: '10.0',
      amount: '20.0',
      invoice_requires_successful_payment: true,
      metadata: [{ key: 'bought_on', value: 'portal' }],
    });
    const third = await confirm((await review('40')).form);
    expect(third.status).toBe(422);
    expect(third.text).toContain('Two top-ups are not paid yet.');
    expect(await transactions()).toHaveLength(2);
  });

  test('the default method is charged; a refused card gives no credits and leaves a way to pay (CO34)', async () => {
    await service.sql`update wallet_transactions set status = 'settled' where wallet_id = ${walletId}`;
    await card(DECLINED_CARD);
    const below = `/wallets/${walletId}`;
    const page = await send(below, '/top_up', { amount: '10' });
    expect(page.text).toContain('It is charged to Card •••• 0002.');
    const answer = await sendForm(service.url, `${path}${below}/top_up`, formIn(page.text, '/confirm'));
    expect(answer.text).toContain('Your payment is under way.');
    await until(async () => (await transactions())[0].status === 'failed');
    const wallet = (await story.client.get(`/wallets/${walletId}`)).body.wallet;
    expect(wallet.credits_balance).toBe('10.0');
    const paid = await send(below, `${walletId}/pay`);
    expect(paid.headers.refresh).toMatch(/^0; url=http/);
  });

  test('the sixth top-up of a day is refused (CO34)', async () => {
    await service.sql`update wallet_transactions set status = 'settled' where wallet_id = ${walletId}`;
    await service.sql`
      insert into wallet_transactions select (jsonb_populate_record(bought,
        jsonb_build_object('id', gen_random_uuid(), 'invoice_id', null))).*
      from wallet_transactions bought, generate_series(1, 2)
      where bought.id = (select id from wallet_transactions where wallet_id = ${walletId}
        and transaction_status = 'purchased' order by id limit 1)`;
    const page = await send(`/wallets/${walletId}`, '/top_up', { amount: '10' });
    const answer = await sendForm(service.url, `${path}/wallets/${walletId}/top_up`, formIn(page.text, '/confirm'));
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('That is too often for today.');
  });
});

describe('payment methods', () => {
  test('a method is made the default one and removed; the last one is kept while something is overdue', async () => {
    await allow({ payment_methods: true });
    await card(GOOD_CARD);
    const shown = (await visit('/payment_methods')).text;
    expect(shown).toContain('•••• 4242');
    expect(shown).toContain('•••• 0002');
    const methods = async () =>
      (await story.client.get('/customers/acme/payment_methods')).body.payment_methods as { is_default: boolean }[];
    expect((await send('/payment_methods', '/default')).text).toContain('Your payment methods are saved.');
    expect((await methods()).map(({ is_default }) => is_default)).toEqual([false, true]);
    expect((await send('/payment_methods', '/remove')).status).toBe(200);
    expect(await methods()).toHaveLength(1);
    await service.sql`
      insert into invoices select (jsonb_populate_record(invoice, jsonb_build_object('id', gen_random_uuid(),
        'status', 'finalized', 'number', 'LATE-1', 'sequential_id', 901, 'billing_entity_sequential_id', null,
        'payment_overdue', true, 'payment_status', 'pending', 'total_paid_amount_cents', 0))).*
      from invoices invoice where invoice.id = (select id from invoices
        where organization_id = ${story.organizationId} order by id limit 1)`;
    const kept = await send('/payment_methods', '/remove');
    expect(kept.status).toBe(422);
    expect(kept.text).toContain('The last payment method cannot be removed while something is overdue.');
    expect(await methods()).toHaveLength(1);
    expect((await send('/payment_methods', 'payment_methods/new')).headers.refresh).toMatch(/^0; url=http/);
  });

  test('what is overdue is asked for once, and paid on a page', async () => {
    const requests = async () => (await story.client.get('/payment_requests')).body.payment_requests;
    const invoice = await send('', '/pay');
    expect(invoice.headers.refresh).toMatch(/^0; url=http/);
    await service.sql`
      insert into invoices select (jsonb_populate_record(invoice, jsonb_build_object('id', gen_random_uuid(),
        'number', 'LATE-2', 'sequential_id', 902))).* from invoices invoice where number = 'LATE-1'`;
    await service.sql`update invoices set ready_for_payment_processing = true where number like 'LATE-%'`;
    const first = await send('', '/pay_overdue');
    expect(first.headers.refresh).toMatch(/^0; url=http/);
    await send('', '/pay_overdue');
    expect(await requests()).toHaveLength(1);
    expect((await requests())[0].invoices).toHaveLength(2);
  });
});

describe('billing data', () => {
  test('only listed fields change, and a former address is told', async () => {
    await allow({ billing_data: true }, { billing_data_fields: ['email', 'tax_identification_number'] });
    const page = (await visit('/details')).text;
    expect(page).not.toContain('name="city"');
    const { status, text } = await send('/details', 'details', { email: 'new@example.com', city: 'Berlin' });
    expect(status).toBe(200);
    expect(text).toContain('Your changes are saved.');
    const { customer } = (await story.client.get('/customers/acme')).body;
    expect([customer.email, customer.city]).toEqual(['new@example.com', null]);
    const mails = (await story.client.get('/sandbox/mails')).body.mails as { to: string[]; subject: string }[];
    const told = mails.find(({ subject }) => subject.includes('billing details'))!;
    expect(told.to).toEqual(['ada@example.com', 'books@example.com']);
    const [activity] = await service.sql`
      select activity_source, api_key_id, activity_object ->> 'portal' as portal from activity_logs
      where organization_id = ${story.organizationId} and activity_type = 'customer.updated'
      order by logged_at desc, id desc limit 1`;
    expect({ ...activity }).toEqual({ activity_source: 'front', api_key_id: null, portal: 'true' });
  });

  test.each([
    ['email', 'no address', 'Please type email addresses, with commas between them.'],
    ['tax_identification_number', 'DE12345', 'This is not a VAT number of the country.'],
  ])('a wrong %s comes back with its fault', async (field, value, fault) => {
    const { status, text } = await send('/details', 'details', { [field]: value });
    expect(status).toBe(422);
    expect(text).toContain(`<p class="fault" id="fault-${field}">${fault}</p>`);
    expect(text).toContain(`value="${value}"`);
  });

  test('a language holds for a visit, or is stored', async () => {
    expect((await visit('?lang=de')).text).toContain('<html lang="de">');
    expect((await visit('?lang=de')).text).toContain('details?lang=de"');
    expect((await visit('?lang=xx')).text).toContain('<html lang="en">');
    const { text } = await send('/details', 'language', { locale: 'fr' });
    expect(text).toContain('<html lang="fr">');
    expect(text).toContain('Vos modifications sont enregistrées.');
    expect((await visit('')).text).toContain('<html lang="fr">');
    await send('/details', 'language', { locale: 'en' });
  });
});

describe('forms', () => {
  test('a nonce of others, a changed one and none are refused', async () => {
    const form = await formOf('/details', 'language');
    const nonce = form.hidden.nonce!;
    const changed = `${nonce.startsWith('a') ? 'b' : 'a'}${nonce.slice(1)}`;
    for (const each of [changed, '', `${nonce}x`]) {
      const answer = await sendForm(
        service.url,
        `${path}/details`,
        { ...form, hidden: { nonce: each } },
        { locale: 'de' },
      );
      expect(answer.status).toBe(422);
      expect(answer.text).toContain('This page was open for too long.');
    }
  });

  test('a link that may only read has no form', async () => {
    const reading = await portalPath(story.client, 'acme', '?scope=read');
    for (const below of ['', '/invoices', '/payment_methods', '/details', `/wallets/${walletId}`])
      expect((await visitPortal(service.url, `${reading}${below}`)).text).not.toContain('method="post"');
  });

  test('the claims of a link that may only read are those of the rule (CO33)', async () => {
    const reading = await portalPath(story.client, 'acme', '?scope=read');
    const [payload] = reading.split('/').at(-1)!.split('.');
    const claims = JSON.parse(Buffer.from(payload!, 'base64url').toString());
    const sub = '0198f0c0-0000-7000-8000-000000000001';
    const ofRule = { ...claims, sub, exp: 1795309200 };
    expect(Buffer.from(JSON.stringify(ofRule)).toString('base64url')).toBe(
      'eyJzdWIiOiIwMTk4ZjBjMC0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDEiLCJleHAiOjE3OTUzMDkyMDAsImF1ZCI6InBvcnRhbCIsInNjb3BlIjoicmVhZCJ9',
    );
  });
});

describe('links that have expired', () => {
  async function expired(externalId: string): Promise<string> {
    const { customer } = (await story.client.get(`/customers/${externalId}`)).body;
    const claims = { sub: customer.svc_id, exp: Math.floor(Date.now() / 1000) - 60, aud: 'portal' };
    const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
    const secret = await linkSecret({ db: service.sql, config: service.config });
    return `/customer-portal/${payload}.${createHmac('sha256', secret).update(payload).digest('base64url')}`;
  }
  const links = async () =>
    ((await story.client.get('/sandbox/mails')).body.mails as { subject: string; text: string }[]).filter(
      ({ subject }) => subject.startsWith('Your link'),
    );

  test('an expired link names the issuer and mails a new one, once in five minutes, with the same answer', async () => {
    const late = await expired('acme');
    const page = await visitPortal(service.url, `${late}/invoices`);
    expect(page.status).toBe(410);
    expect(page.text).toContain('This link has expired');
    expect(page.text).not.toContain('LATE-1');
    const again = () => sendForm(service.url, `${late}/invoices`, formIn(page.text, 'link'));
    const answers = [await again(), await again()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[0]!.text).toBe(answers[1]!.text);
    const [mail, ...others] = await links();
    expect(others).toEqual([]);
    const [, link] = /(http\S+customer-portal\S+)/.exec(mail!.text)!;
    expect((await visitPortal(service.url, new URL(link!).pathname)).status).toBe(200);
    const [stored] = await service.sql`select body, html from mails where subject = ${mail!.subject}`;
    expect(`${stored!.body}${stored!.html}`).not.toContain('customer-portal');
    expect(
      (await sendForm(service.url, `${late}`, { action: `${late.split('/').at(-1)}/pay_overdue`, hidden: {} })).status,
    ).not.toBe(200);
  });

  test('who has no address gets the same answer', async () => {
    await story.customer({ external_id: 'silent', email: null });
    const late = await expired('silent');
    const form = formIn((await visitPortal(service.url, late)).text, 'link');
    expect((await sendForm(service.url, late, form)).text).toContain('Please look into your mail');
    expect(await links()).toHaveLength(1);
  });
});

test('a token reaches the records of its customer only', async () => {
  const { client } = story;
  await allow({ pay: true, top_up: true, payment_methods: true, billing_data: true });
  await client.post('/billable_metrics', {
    billable_metric: { name: 'Calls', code: 'calls', aggregation_type: 'count_agg' },
  });
  await story.plan({ name: 'Plan', amount_cents: 100 });
  await story.subscribe({ name: 'Main' });
  await story.customer({ external_id: 'stranger' });
  const [own] = await service.sql`
    select customer.id,
      (select id from subscriptions s where s.customer_id = customer.id limit 1) as subscription,
      (select id from invoices i where i.customer_id = customer.id and i.status = 'finalized' limit 1) as invoice,
      (select id from payment_methods m where m.customer_id = customer.id and m.deleted_at is null limit 1) as method,
      (select id from wallet_transactions t where t.customer_id = customer.id limit 1) as transaction
    from customers customer where customer.external_id = 'acme' and customer.organization_id = ${story.organizationId}`;
  const strange = await portalPath(client, 'stranger');
  const form = formIn((await visitPortal(service.url, `${strange}/details`)).text, 'language');
  const reads = [
    `/usage/${own!.subscription}`,
    `/wallets/${walletId}`,
    `/invoices/${own!.invoice}/pdf`,
    `/credit_notes/${own!.invoice}/pdf`,
    `/payment_receipts/${own!.invoice}/pdf`,
  ];
  const writes: [string, Record<string, string>][] = [
    [`/invoices/${own!.invoice}/pay`, {}],
    [`/wallets/${walletId}/top_up`, { amount: '10' }],
    [`/wallets/${walletId}/top_up/confirm`, { amount: '10' }],
    [`/wallets/${walletId}/pay`, { transaction: own!.transaction }],
    [`/payment_methods/${own!.method}/default`, {}],
    [`/payment_methods/${own!.method}/remove`, {}],
  ];
  for (const below of reads) {
    const { status } = await visitPortal(service.url, `${strange}${below}`);
    expect([below, status]).toEqual([below, 404]);
  }
  const before = await transactions();
  for (const [below, fields] of writes) {
    const { status } = await until(async () => {
      const answer = await sendForm(
        service.url,
        strange,
        { action: `${strange.split('/').at(-1)}${below}`, hidden: form.hidden },
        fields,
      );
      return answer;
    });
    expect([below, status]).toEqual([below, 404]);
  }
  expect(await transactions()).toEqual(before);
  // Whatever id stands in a path, no page of a stranger shows a record of the customer.
  const ids = [...Object.values(own!), walletId].filter((id): id is string => typeof id === 'string');
  const paths = ['usage', 'wallets', 'invoices', 'credit_notes', 'payment_receipts'];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), fc.constantFrom(...ids, 'x', '%00'), async (first, id) => {
      for (const below of [`/${first}/${id}`, `/${first}/${id}/pdf`]) {
        const { status, text } = await visitPortal(service.url, `${strange}${below}`);
        expect(status).toBe(404);
        for (const each of ids.filter((known) => known !== id)) expect(text).not.toContain(each);
      }
    }),
    { numRuns: 20 },
  );
});

describe('alerts', () => {
  test('a customer adds alerts of its own subscription, sees them and removes them', async () => {
    const { client } = story;
    const metric = await story.metric('counted', { aggregation_type: 'sum_agg', field_name: 'n' });
    const charges = [{ billable_metric_id: metric.svc_id, charge_model: 'standard', properties: { amount: '1' } }];
    await story.plan({ code: 'alerted', name: 'Alerted', amount_cents: 0, charges });
    await story.subscribe({ external_id: 'alerted', plan_code: 'alerted' });
    expect((await visit('/alerts')).status).toBe(404);
    await allow({ alerts: true });

    const added = await send('/alerts', 'alerts', { metric: 'counted', amount: '12,50' });
    expect([added.status, added.text.includes('From $12.50')]).toEqual([200, true]);
    const stored = (await client.get('/subscriptions/alerted/alerts')).body.alerts;
    expect(stored).toMatchObject([
      {
        alert_type: 'billable_metric_current_usage_amount',
        code: expect.stringMatching(/^portal-/),
        thresholds: [{ value: '1250.0', recurring: false }],
        billable_metric: { code: 'counted' },
      },
    ]);
    const again = await send('/alerts', 'alerts', { metric: 'counted', amount: '20' });
    expect([again.status, again.text.includes('There is already an alert for this usage.')]).toEqual([422, true]);
    const wrong = await send('/alerts', 'alerts', { metric: '', amount: 'much' });
    expect([wrong.status, wrong.text.includes('Please type an amount, for example 50.00.')]).toEqual([422, true]);

    const removed = await send('/alerts', '/remove');
    expect([removed.status, removed.text.includes('From $12.50')]).toEqual([200, false]);
    expect((await client.get('/subscriptions/alerted/alerts')).body.alerts).toEqual([]);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toMatch(/meterstone_portal_commands_total\{name="portalAddAlert",status="200"[^}]*\} [1-9]/);
  });

  test('an alert of the seller is neither shown nor removed by its customer', async () => {
    const alert = { alert_type: 'current_usage_amount', code: 'sellers', thresholds: [{ value: '777700' }] };
    const { body } = await story.client.post('/subscriptions/alerted/alerts', { alert });
    const page = await visit('/alerts');
    expect(page.text).not.toContain('7,777');
    await send('/alerts', 'alerts', { metric: 'counted', amount: '5' });
    const form = await formOf('/alerts', '/remove');
    const other = { ...form, action: form.action.replace(/alerts\/[^/]+\//, `alerts/${body.alert.svc_id}/`) };
    expect((await sendForm(service.url, `${path}/alerts`, other)).status).toBe(404);
  });
});
