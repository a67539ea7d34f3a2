import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok, type Shown } from '../../../support/words.ts';

// The tax engine of sandboxes, with a clock: tax-engines.md#the-double-of-sandboxes.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

beforeEach(async () => {
  story = await openStory(service, '2030-01-01T00:00:00Z');
  await ok(
    story.client.post('/integrations', {
      integration: { type: 'anrok', code: 'engine', name: 'Engine', api_key: 'sandbox' },
    }),
  );
  // Rates of the catalogue do not apply to a customer whom an engine taxes.
  await story.tax(20);
});

const linked = (fields: object = {}) =>
  story.customer({
    country: 'US',
    state: 'CO',
    integration_customers: [{ integration_type: 'anrok', integration_code: 'engine', sync_with_provider: true }],
    ...fields,
  });
const hooks = async (type: string): Promise<Shown[]> => {
  const rows = await service.sql<{ payload: string }[]>`
    select payload from webhook_events where webhook_type = ${type} order by id`;
  return rows.map(({ payload }) => JSON.parse(payload));
};

test('a customer shows its link, with an id of ours', async () => {
  const customer = await linked();
  expect(customer.integration_customers).toMatchObject([
    {
      type: 'anrok',
      category: 'tax',
      integration_code: 'engine',
      external_customer_id: `svc:${customer.svc_id}`,
      is_default: true,
    },
  ]);
  const { integration } = await ok(story.client.get('/integrations/engine'));
  expect(integration).toMatchObject({ status: 'connected', live: false, customers_count: 1, api_key_last4: 'dbox' });
});

test('a sandbox takes no key of an account', async () => {
  const answer = await story.client.post('/integrations', {
    integration: { type: 'anrok', code: 'other', name: 'Other', api_key: 's1/sa1/secret.x' },
  });
  expect(answer.body.error_details).toEqual({ api_key: ['live_key_in_sandbox'] });
});

test('a period is taxed by the engine within the advance of the clock, and verifies', async () => {
  await linked();
  await story.plan({ amount_cents: 15000 });
  await ok(story.subscribe());
  await story.advanceTo('2030-02-01T12:00:00Z');
  const [invoice] = await story.invoices(1);
  expect(invoice).toMatchObject({ status: 'finalized', taxes_amount_cents: 722, total_amount_cents: 15722 });
  const { verification } = await ok(story.client.post(`/invoices/${invoice.svc_id}/verify`, {}));
  expect(verification).toMatchObject({ status: 'equal', differences: [] });
});

describe('a draft (tax-engines.md#when-an-engine-is-asked)', () => {
  const draft = async (fields: object = {}): Promise<Shown> => {
    await linked({ billing_configuration: { invoice_grace_period: 5 }, ...fields });
    await story.plan({ amount_cents: 15000 });
    await ok(story.subscribe());
    await story.advanceTo('2030-02-01T12:00:00Z');
    return (await story.invoices(1))[0];
  };

  test('has an estimate, is announced as ready, and is asked about anew when it becomes final', async () => {
    const before = (await hooks('invoice.ready_to_finalize')).length;
    const made = await draft();
    expect(made).toMatchObject({ status: 'draft', taxes_amount_cents: 722, total_amount_cents: 15722 });
    expect((await hooks('invoice.ready_to_finalize')).length).toBe(before + 1);
    await story.advanceTo('2030-02-07T12:00:00Z');
    expect(await story.invoice(made.svc_id)).toMatchObject({ status: 'finalized', taxes_amount_cents: 722 });
  });

  test('follows a change of the address', async () => {
    const made = await draft();
    await story.customer({ country: 'US', state: 'TX' });
    await ok(story.client.put(`/invoices/${made.svc_id}/refresh`, {}));
    await until(async () => ((await story.invoice(made.svc_id)).taxes_amount_cents === 990 ? true : undefined));
  });

  test('keeps its fees when the engine refuses its address, and fails when it becomes final', async () => {
    const made = await draft({ address_line1: '1 fail street' });
    expect(made).toMatchObject({ status: 'draft', fees_amount_cents: 15000, taxes_amount_cents: 0 });
    const [row] = await service.sql`select tax_status from invoices where id = ${made.svc_id}`;
    expect(row).toEqual({ tax_status: 'failed' });
    await story.advanceTo('2030-02-07T12:00:00Z');
    expect(await story.invoice(made.svc_id)).toMatchObject({
      status: 'failed',
      error_details: [{ error_code: 'tax_error', details: { tax_error: 'customerAddressCouldNotResolve' } }],
    });
    await story.customer({ address_line1: '1 good street' });
    await until(async () => ((await story.invoice(made.svc_id)).status === 'finalized' ? true : undefined));
  });
});

/** A call whose fee stands on no invoice, of a customer with these fields. */
async function standaloneFee(fields: object = {}): Promise<void> {
  await linked(fields);
  const metric = await story.metric('calls');
  await story.plan({
    amount_cents: 0,
    charges: [
      {
        billable_metric_id: metric.svc_id,
        charge_model: 'standard',
        properties: { amount: '100' },
        pay_in_advance: true,
        invoiceable: false,
      },
    ],
  });
  await ok(story.subscribe());
  await story.use('calls', {}, { transaction_id: 'call' });
}

test('a fee on no invoice whose address the engine refuses stays without tax, and that is announced', async () => {
  await standaloneFee({ address_line1: '1 fail street' });
  const [sent] = await until(async () => {
    const found = await hooks('fee.tax_provider_error');
    return found.length > 0 ? found : undefined;
  });
  expect(sent).toMatchObject({
    object_type: 'tax_provider_fee_error',
    tax_provider_fee_error: {
      tax_provider_code: 'engine',
      event_transaction_id: 'call',
      provider_error: { error_code: 'customerAddressCouldNotResolve' },
    },
  });
  const { fees } = await ok(story.client.get('/fees?external_customer_id=acme'));
  expect(fees).toMatchObject([{ amount_cents: 10000, taxes_amount_cents: 0 }]);
});

test('a fee on no invoice gets the tax of the engine', async () => {
  await standaloneFee();
  const fee = await until(async () => {
    const { fees } = await ok(story.client.get('/fees?external_customer_id=acme'));
    return fees.find(({ taxes_amount_cents }: Shown) => taxes_amount_cents > 0);
  });
  expect(fee).toMatchObject({ amount_cents: 10000, taxes_amount_cents: 481, taxes_rate: 4.81 });
});

describe('a preview (tax-engines.md#when-an-engine-is-asked)', () => {
  const preview = () =>
    story.client.post('/invoices/preview', { customer: { external_id: 'acme' }, plan_code: 'plan' });

  test('shows the taxes that the engine estimates, and stores nothing', async () => {
    await linked();
    await story.plan({ amount_cents: 15000, pay_in_advance: true });
    const { invoice } = await ok(preview());
    expect(invoice).toMatchObject({ status: 'draft', taxes_amount_cents: 722, total_amount_cents: 15722 });
    const [row] = await service.sql<{ count: number }[]>`
      select count(*) as count from tax_documents where organization_id = ${story.organizationId}`;
    expect(row!.count).toBe(0);
  });

  test('is refused with the engine’s code', async () => {
    await linked({ address_line1: '1 fail street' });
    await story.plan({ amount_cents: 15000, pay_in_advance: true });
    const answer = await preview();
    expect([answer.status, answer.body.error_details]).toEqual([
      422,
      { tax_error: ['customerAddressCouldNotResolve'] },
    ]);
  });

  test('does not wait for an engine that takes longer than three seconds', async () => {
    await linked({ address_line1: '1 slow street' });
    await story.plan({ amount_cents: 15000, pay_in_advance: true });
    expect((await preview()).body.error_details).toEqual({ tax_error: ['unreachable'] });
  });
});

describe('a draft that waits for nothing', () => {
  const draftOf = async (amount_cents: number): Promise<Shown> => {
    await linked({ billing_configuration: { invoice_grace_period: 5 } });
    await story.plan({ amount_cents });
    await ok(story.subscribe());
    await story.advanceTo('2030-02-01T12:00:00Z');
    return (await story.invoices(1))[0];
  };
  const taxStatus = async ({ svc_id }: Shown): Promise<string | null> => {
    const [row] = await service.sql<{ tax_status: string | null }[]>`
      select tax_status from invoices where id = ${svc_id}`;
    return row!.tax_status;
  };

  test('because its connection ended has our own rates and can be finalized at once', async () => {
    const made = await draftOf(15000);
    expect(await taxStatus(made)).toBe('succeeded');
    await service.sql`update invoices set tax_status = 'pending' where id = ${made.svc_id}`;
    await ok(story.client.delete('/integrations/engine'));
    const [flagged] = await service.sql`select ready_to_be_refreshed from invoices where id = ${made.svc_id}`;
    expect(flagged).toEqual({ ready_to_be_refreshed: true });
    await ok(story.client.put(`/invoices/${made.svc_id}/refresh`, {}));
    expect(await taxStatus(made)).toBeNull();
    const { invoice } = await ok(story.client.put(`/invoices/${made.svc_id}/finalize`, {}));
    expect(invoice).toMatchObject({ status: 'finalized', taxes_amount_cents: 3000 });
  });
});

test('current usage shows no rates of ours for a customer whom an engine taxes', async () => {
  await linked();
  const metric = await story.metric('calls');
  await story.plan({
    amount_cents: 0,
    charges: [{ billable_metric_id: metric.svc_id, charge_model: 'standard', properties: { amount: '100' } }],
  });
  await ok(story.subscribe());
  await story.use('calls');
  const usage = await until(async () => {
    const { customer_usage } = await ok(story.client.get('/customers/acme/current_usage?external_subscription_id=sub'));
    return customer_usage.amount_cents === 10000 ? customer_usage : undefined;
  });
  expect(usage).toMatchObject({ taxes_amount_cents: 0, total_amount_cents: 10000 });
});

test('an estimate of an event shows the taxes that the engine estimates', async () => {
  await standaloneFee();
  const event = { code: 'calls', external_subscription_id: 'sub', properties: {} };
  const { fees } = await ok(story.client.post('/events/estimate_fees', { event }));
  expect(fees).toMatchObject([{ amount_cents: 10000, taxes_amount_cents: 481, taxes_rate: 4.81 }]);
  await story.customer({ address_line1: '1 fail street' });
  const refused = await story.client.post('/events/estimate_fees', { event });
  expect([refused.status, refused.body.error_details]).toEqual([
    422,
    { tax_error: ['customerAddressCouldNotResolve'] },
  ]);
});

test('paid fees whose rate changed between them are gathered with two taxes', async () => {
  await linked();
  const metric = await story.metric('calls');
  const charge = { charge_model: 'standard', properties: { amount: '100' }, pay_in_advance: true, invoiceable: false };
  await story.plan({
    amount_cents: 0,
    charges: [{ billable_metric_id: metric.svc_id, ...charge, regroup_paid_fees: 'invoice' }],
  });
  await ok(story.subscribe());
  const feeOf = async (transaction_id: string): Promise<Shown> => {
    await story.use('calls', {}, { transaction_id });
    return until(async () => {
      const { fees } = await ok(story.client.get('/fees?external_customer_id=acme'));
      const fee = fees.find(({ event_transaction_id: id }: Shown) => id === transaction_id);
      return fee?.taxes_amount_cents > 0 ? fee : undefined;
    });
  };
  const fees = [await feeOf('first')];
  // The engine has another rate since.
  await service.sql`
    update fee_applied_taxes set tax_rate = 4, amount_cents = 320, base_rate = 0.8 where fee_id = ${fees[0].svc_id}`;
  await service.sql`update fees set taxes_amount_cents = 320 where id = ${fees[0].svc_id}`;
  fees.push(await feeOf('second'));
  for (const { svc_id } of fees)
    await ok(story.client.put(`/fees/${svc_id}`, { fee: { payment_status: 'succeeded' } }));
  await story.advanceTo('2030-02-01T12:00:00Z');
  const { invoices } = await ok(story.client.get('/invoices?invoice_type=advance_charges'));
  const { applied_taxes: taxes } = await story.invoice(invoices[0].svc_id);
  expect(taxes.map(({ tax_code, tax_rate, amount_cents }: Shown) => [tax_code, tax_rate, amount_cents]).sort()).toEqual(
    [
      ['denver_local_tax', 4, 320],
      ['denver_local_tax_2', 4.81, 481],
    ],
  );
  const [row] = await service.sql`
    select taxable_base_amount_cents from invoice_applied_taxes where invoice_id = ${invoices[0].svc_id}
      and tax_code = 'denver_local_tax'`;
  expect(row).toEqual({ taxable_base_amount_cents: 8000 });
});
