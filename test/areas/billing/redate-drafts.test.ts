import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ pools: ['writes', 'billing'] });
});
afterAll(() => service.stop());

type Org = Awaited<ReturnType<TestService['org']>>;

/** Two drafts of a customer billed on 2099-03-01: `number` p is periodic, s is the first of a subscription. */
const draft = (customerId: string) => service.sql`
  with plan as (
    insert into plans (id, organization_id, code, name, interval, pay_in_advance, amount_cents, amount_currency,
      created_at,
      updated_at)
    select gen_random_uuid(), organization_id, external_id, 'P', 'monthly', false, 0, 'EUR', created_at, created_at
    from customers where id = ${customerId} returning *
  ), subscription as (
    insert into subscriptions (id, organization_id, customer_id, plan_id, external_id, status, subscription_at,
      started_at,
      created_at, updated_at)
    select gen_random_uuid(), organization_id, ${customerId}::uuid, id, code, 'active', created_at, created_at,
      created_at,
      created_at
    from plan returning *
  ), invoice as (
    insert into invoices (id, organization_id, billing_entity_id, customer_id, invoice_type, status, number, currency,
      timezone, issuing_date, expected_finalization_date, payment_due_date, net_payment_term, created_at, updated_at)
    select gen_random_uuid(), customer.organization_id, customer.billing_entity_id, customer.id, 'subscription',
      'draft',
      number, 'EUR', 'UTC', '2099-03-01', '2099-03-01', '2099-03-01', 0, customer.created_at, customer.created_at
    from customers customer, subscription, unnest(array['p', 's']) as number where customer.id = ${customerId}
    returning *
  )
  insert into invoice_subscriptions (id, organization_id, invoice_id, subscription_id, invoicing_reason, recurring,
    billed_at, billed_on, created_at)
  select gen_random_uuid(), invoice.organization_id, invoice.id, subscription.id,
    case number when 'p' then 'subscription_periodic' else 'subscription_starting' end, number = 'p',
    invoice.created_at,
    '2099-03-01', invoice.created_at
  from invoice, subscription`;

const dates = (org: Org, externalId: string) => service.sql`
  select number, issuing_date::text as issued, expected_finalization_date::text as final, payment_due_date::text as due
  from invoices invoice join customers customer on customer.id = invoice.customer_id
  where invoice.organization_id = ${org.organization.organization_id} and customer.external_id = ${externalId}
  order by number`;

const settled = (org: Org) =>
  until(async () => {
    const [row] = await service.sql<{ open: number }[]>`
      select count(*) as open from after_steps where organization_id = ${org.organization.organization_id}`;
    return row!.open === 0;
  });

const customerOf = async (org: Org, customer: object): Promise<string> =>
  (await org.post('/customers', { customer })).body.customer.svc_id;

// Golden table of invoices.md#dates, a run on the first of March, net 30.
test.each([
  ['next_period_start', 'align_with_finalization_date', 3, '2099-03-04', '2099-03-04', '2099-04-03'],
  ['next_period_start', 'keep_anchor', 3, '2099-03-01', '2099-03-04', '2099-03-31'],
  ['current_period_end', 'keep_anchor', 0, '2099-02-28', '2099-03-01', '2099-03-30'],
  ['current_period_end', 'keep_anchor', 3, '2099-02-28', '2099-03-04', '2099-03-30'],
  ['current_period_end', 'align_with_finalization_date', 0, '2099-02-28', '2099-03-01', '2099-03-30'],
  ['current_period_end', 'align_with_finalization_date', 3, '2099-03-04', '2099-03-04', '2099-04-03'],
])(
  'a periodic draft (%s, %s, grace %i) moves to %s, is final on %s and due on %s',
  async (anchor, adjustment, grace, issued, final, due) => {
    const org = await service.org();
    await draft(await customerOf(org, { external_id: 'c', net_payment_term: 30 }));
    await org.post('/customers', {
      customer: {
        external_id: 'c',
        billing_configuration: {
          invoice_grace_period: grace,
          subscription_invoice_issuing_date_anchor: anchor,
          subscription_invoice_issuing_date_adjustment: adjustment,
        },
      },
    });
    await settled(org);
    const [periodic] = await dates(org, 'c');
    expect(periodic).toEqual({ number: 'p', issued, final, due });
  },
);

test('a new setting of a billing entity moves the drafts that inherit it, and others keep their own grace period', async () => {
  const org = await service.org();
  await draft(await customerOf(org, { external_id: 'inherits' }));
  await draft(await customerOf(org, { external_id: 'own', billing_configuration: { invoice_grace_period: 1 } }));
  await org.put('/billing_entities/acme', {
    billing_entity: { net_payment_term: 10, billing_configuration: { invoice_grace_period: 5 } },
  });
  await settled(org);
  const moved = { issued: '2099-03-06', final: '2099-03-06', due: '2099-03-16' };
  expect(await dates(org, 'inherits')).toMatchObject([moved, moved]);
  expect(await dates(org, 'own')).toMatchObject([
    { issued: '2099-03-02' },
    { issued: '2099-03-02', final: '2099-03-02' },
  ]);

  await org.put('/organizations', { organization: { billing_configuration: { invoice_grace_period: 0 } } });
  await settled(org);
  expect(await dates(org, 'inherits')).toMatchObject([
    { issued: '2099-03-01', due: '2099-03-11' },
    { final: '2099-03-01' },
  ]);
});

test('an update that changes no date setting leaves no work', async () => {
  const org = await service.org();
  const customer = { external_id: 'c', billing_configuration: { invoice_grace_period: 2 } };
  await customerOf(org, customer);
  await service.sql`delete from after_steps where organization_id = ${org.organization.organization_id}`;
  await customerOf(org, customer);
  await org.put('/billing_entities/acme', {
    billing_entity: { name: 'x', billing_configuration: { invoice_grace_period: 0 } },
  });
  const [row] = await service.sql`
    select count(*) as open from after_steps where organization_id = ${org.organization.organization_id}`;
  expect(row).toEqual({ open: 0 });
});
