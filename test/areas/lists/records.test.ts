import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';
import { ALL, expectLists, unknown } from './reading.ts';

// Filters and order of the catalog, of subscriptions and wallets (lists.md#filters-and-order). Business time stands
// still, so that ids decide wherever times do.
let service: TestService;
let story: Story;

const made = (path: string, body: object) => ok(story.client.post(path, body));
const codeOf = ({ code }: { code: string }) => code;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-05-01T08:00:00Z');
  await made('/billing_entities', { billing_entity: { name: 'Branch', code: 'branch' } });
  await story.customer();
  await story.customer({ external_id: 'zed', currency: 'EUR', billing_entity_code: 'branch' });
});
afterAll(() => service.stop());

test('lists of the catalog show the newest record first', async () => {
  for (const code of ['b', 'a', 'c']) {
    await made('/add_ons', { add_on: { name: 'Item', code, amount_cents: 1, amount_currency: 'USD' } });
    await made('/billable_metrics', { billable_metric: { name: 'Calls', code, aggregation_type: 'count_agg' } });
    await story.plan({ code, amount_cents: 1 });
    await made('/billing_entities', { billing_entity: { name: 'Entity', code } });
  }
  for (const path of ['/add_ons', '/billable_metrics', '/plans']) {
    await ok(story.client.delete(`${path}/a`));
    await until(async () => (await story.client.get(`${path}/a`)).status === 404 || undefined);
    await expectLists(
      story.client,
      path,
      codeOf,
      ['c', 'b'],
      [
        ['page=2&per_page=1', ['b']],
        ['code=b&status[]=x', unknown('code', 'status')],
        ...(path === '/add_ons'
          ? []
          : ([
              ['search_term=C', path === '/plans' ? ['c'] : ALL],
              ['search_term=%25', []],
            ] as const)),
      ],
    );
  }
  await expectLists(
    story.client,
    '/billing_entities',
    codeOf,
    [own(), 'branch', 'b', 'a', 'c'],
    [['page=2&per_page=1', ALL]],
  );
});
const own = () => 'acme';

test('GET /taxes sorts by name and GET /coupons by state and end', async () => {
  for (const [code, name] of [
    ['t1', 'b'],
    ['t2', 'a'],
    ['t3', 'b'],
  ])
    await made('/taxes', { tax: { name, code, rate: 10 } });
  await expectLists(story.client, '/taxes', codeOf, ['t2', 't3', 't1'], [['page=3&per_page=1', ['t1']]]);

  const ending = (day: string) => ({ expiration: 'time_limit', expiration_at: `2024-0${day}T00:00:00Z` });
  for (const [code, fields] of [
    ['forever', { expiration: 'no_expiration' }],
    ['late', ending('8-01')],
    ['early', ending('7-01')],
    ['over', { expiration: 'no_expiration' }],
    ['twin', ending('7-01')],
  ] as const)
    await made('/coupons', {
      coupon: { name: 'C', code, coupon_type: 'percentage', percentage_rate: 10, frequency: 'forever', ...fields },
    });
  await service.sql`
    update coupons set status = 'terminated' where organization_id = ${story.organizationId} and code = 'over'`;
  await expectLists(
    story.client,
    '/coupons',
    codeOf,
    ['forever', 'twin', 'early', 'late', 'over'],
    [
      ['status=active', unknown('status')],
      ['page=2&per_page=2', ['early', 'late']],
    ],
  );
});

test('GET /applied_coupons takes every filter and order of the rules', async () => {
  await story.customer({ external_id: 'gone' });
  for (const [code, customer] of [
    ['x', 'acme'],
    ['y', 'acme'],
    ['z', 'zed'],
    ['v', 'gone'],
  ]) {
    await made('/coupons', {
      coupon: {
        name: 'C',
        code,
        coupon_type: 'percentage',
        percentage_rate: 10,
        frequency: 'forever',
        expiration: 'no_expiration',
      },
    });
    await made('/applied_coupons', { applied_coupon: { external_customer_id: customer, coupon_code: code } });
  }
  await ok(story.client.delete('/customers/gone'));
  const coupon = (row: { coupon_code: string }) => row.coupon_code;
  const [last] = (await ok(story.client.get('/applied_coupons?coupon_code=y'))).applied_coupons;
  await ok(story.client.delete(`/customers/acme/applied_coupons/${last.svc_id}`));
  await expectLists(
    story.client,
    '/applied_coupons',
    coupon,
    ['z', 'y', 'x'],
    [
      ['status=active', ['z', 'x']],
      ['status=terminated', ['y']],
      ['status=lost', ALL],
      ['external_customer_id=zed', ['z']],
      ['external_customer_id=gone', []],
      ['coupon_code[]=x&coupon_code[]=z', ['z', 'x']],
      ['coupon_code=x', ['x']],
      ['coupon_code[]=v', []],
    ],
  );
  await expectLists(
    story.client,
    '/customers/acme/applied_coupons',
    coupon,
    ['y', 'x'],
    [
      ['external_customer_id=zed', unknown('external_customer_id')],
      ['status=active', ['x']],
    ],
  );
});

test('GET /features takes every filter and order of the rules', async () => {
  for (const feature of [
    { code: 'seats_max', name: 'Seats' },
    { code: 'sso', name: 'Single sign-on' },
    { code: 'api', description: '100% of the seats' },
  ])
    await made('/features', { feature });
  await expectLists(
    story.client,
    '/features',
    codeOf,
    ['api', 'sso', 'seats_max'],
    [
      ['search_term=%20SEATS%20', ['api', 'seats_max']],
      ['search_term=_', ['seats_max']],
      ['search_term=100%25', ['api']],
      ['search_term=sso', ['sso']],
      ['search_term=none', []],
    ],
  );
});

test('GET /webhook_endpoints sorts by URL', async () => {
  for (const path of ['b', 'a', 'c'])
    await made('/webhook_endpoints', { webhook_endpoint: { webhook_url: `https://hooks.test/${path}` } });
  const url = (row: { webhook_url: string }) => row.webhook_url.slice(-1);
  await expectLists(story.client, '/webhook_endpoints', url, ['a', 'b', 'c'], [['page=2&per_page=2', ['c']]]);
});

test('GET /subscriptions takes every filter and order of the rules', async () => {
  await story.plan({ code: 'dollars', amount_cents: 100 });
  await story.plan({ code: 'euros', amount_cents: 100, amount_currency: 'EUR' });
  await story.subscribe({ external_id: 's1', plan_code: 'dollars' });
  await story.subscribe({ external_id: 's2', plan_code: 'dollars', subscription_at: '2024-06-01' });
  await story.subscribe({ external_id: 's3', plan_code: 'dollars', plan_overrides: { amount_cents: 5 } });
  await story.subscribe({ external_id: 's4', plan_code: 'euros', external_customer_id: 'zed' });
  await story.subscribe({ external_id: 's5', plan_code: 'dollars', subscription_at: '2024-01-01' });
  await ok(story.client.delete('/subscriptions/s5'));
  const id = (row: { external_id: string }) => row.external_id;
  await expectLists(
    story.client,
    '/subscriptions',
    id,
    ['s4', 's3', 's1'],
    [
      ['external_customer_id=zed', ['s4']],
      ['external_customer_id=none', []],
      ['external_id=s3', ['s3']],
      ['external_id=s2', []],
      ['external_id=s2&status[]=pending', ['s2']],
      ['plan_code=dollars', ['s3', 's1']],
      ['search_term=S1', ['s1']],
      ['search_term=_1', []],
      ['status=pending', ['s2']],
      ['status[]=terminated&status[]=active', ['s4', 's3', 's1', 's5']],
      ['status[]=lost&status[]=pending', ['s2', 's4', 's3', 's1', 's5']],
      ['currency=EUR', ['s4']],
      ['overridden=true', ['s3']],
      ['overriden=1', ['s3']],
      ['overridden=false', ['s4', 's1']],
      ['overridden=perhaps', ALL],
      ['billing_entity_codes[]=branch', ['s4']],
      ['billing_entity_codes[]=none', { 404: 'billing_entity' }],
      ['page=2&per_page=2', ['s1']],
    ],
  );
  await expectLists(
    story.client,
    '/customers/acme/subscriptions',
    id,
    ['s3', 's1'],
    [
      ['external_customer_id=zed', unknown('external_customer_id')],
      ['status=pending', ['s2']],
    ],
  );
});

test('wallets, their transactions and what these are traced to are listed by the rules', async () => {
  const { client } = story;
  const wallet = (customer: string, code: string, currency: string, fields: object = {}) =>
    made('/wallets', {
      wallet: { external_customer_id: customer, name: code, code, currency, rate_amount: '1', ...fields },
    });
  const first = (await wallet('acme', 'w1', 'USD', { granted_credits: '10' })).wallet;
  await wallet('acme', 'w2', 'USD');
  await wallet('zed', 'w3', 'EUR');
  await expectLists(
    client,
    '/wallets',
    codeOf,
    ['w3', 'w2', 'w1'],
    [
      ['external_customer_id=acme', ['w2', 'w1']],
      ['external_customer_id=none', { 404: 'customer' }],
      ['currency=EUR', ['w3']],
      ['statuses[]=active', ALL],
      ['statuses[]=terminated', []],
      ['statuses[]=lost', { statuses: 'value_is_invalid' }],
      ['billing_entity_codes[]=branch', ['w3']],
      ['billing_entity_codes[]=none', { 404: 'billing_entity' }],
    ],
  );
  await expectLists(
    client,
    '/customers/acme/wallets',
    codeOf,
    ['w2', 'w1'],
    [
      ['external_customer_id=zed', ALL],
      ['currency=EUR', []],
    ],
  );

  const path = `/wallets/${first.svc_id}/wallet_transactions`;
  await until(async () => (await ok(client.get(`${path}?status=settled`))).meta.total_count === 1 || undefined);
  const move = (fields: object) =>
    made('/wallet_transactions', { wallet_transaction: { wallet_id: first.svc_id, ...fields } });
  await move({ paid_credits: '5', metadata: [{ key: 'tier', value: 'gold' }] });
  const [out] = (await move({ voided_credits: '3' })).wallet_transactions;
  const credits = (row: { credit_amount: string }) => row.credit_amount;
  await expectLists(
    client,
    path,
    credits,
    ['3.0', '5.0', '10.0'],
    [
      ['status=settled', ['3.0', '10.0']],
      ['status=pending', ['5.0']],
      ['status=lost', ALL],
      ['transaction_type=outbound', ['3.0']],
      ['transaction_type=sideways', ALL],
      ['transaction_status=granted', ['10.0']],
      ['transaction_status=invoiced', []],
      ['transaction_status=lost', ALL],
      ['metadata[tier]=gold', ['5.0']],
      ['metadata[tier]=tin', []],
      ['metadata[tier]=gold&metadata[other]=x', []],
      ['metadata[%00]=x', []],
      ['metadata=x', ALL],
    ],
  );
  const [granted] = (await ok(client.get(`${path}?transaction_status=granted`))).wallet_transactions;
  const behind = { current_page: 2, next_page: null, prev_page: 1, total_pages: 1, total_count: 1 };
  for (const [of, list] of [
    [granted, 'consumptions'],
    [out, 'fundings'],
  ]) {
    const traced = `/wallet_transactions/${of.svc_id}/${list}`;
    await expectLists(client, traced, credits, ['3.0'], [['page=2', []]]);
    expect((await ok(client.get(`${traced}?page=2`))).meta).toEqual(behind);
  }
});
