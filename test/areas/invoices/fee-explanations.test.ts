import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';

// Fee explanations over HTTP: fee-explanations.md with its golden cases.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

interface Metric {
  aggregation_type?: string;
  field_name?: string | null;
  recurring?: boolean;
  filters?: { key: string; values: string[] }[];
}

/** A story with one metric `calls` and a plan that charges it; events come before the month ends. */
async function metered(charge: object, metric: Metric = {}, events: [string, object][] = [], plan: object = {}) {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.tax(20);
  await story.customer();
  const fields = { name: 'Calls', aggregation_type: 'sum_agg', field_name: 'calls', ...metric };
  const { svc_id: billable_metric_id } = await story.metric('calls', fields);
  await story.plan({ amount_cents: 0, charges: [{ billable_metric_id, ...charge }], ...plan });
  await story.subscribe();
  await send(story, events);
  return story;
}

async function send(story: Story, events: [string, object][]) {
  for (const [n, [at, properties]] of events.entries())
    await story.use('calls', properties, { at, transaction_id: `t${n}-${at}` });
}

const billed = async (story: Story): Promise<Invoice[]> => {
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [invoice] = await story.invoices(1);
  return invoice.fees.filter(({ item }: Invoice) => item.type === 'charge');
};

async function explain(story: Story, fee: Invoice) {
  const { status, body } = await story.client.get(`/fees/${fee.svc_id}/explanation`);
  expect(status).toBe(200);
  expect(body.explanation.check).toMatchObject({ equal: true, stored_amount_cents: fee.amount_cents });
  expect(body.explanation.texts).toHaveLength(body.explanation.steps.length);
  return body.explanation;
}

const codes = (explanation: Invoice) => explanation.steps.map(({ code }: Invoice) => code);
const step = (explanation: Invoice, code: string, n = 0) =>
  explanation.steps.filter((each: Invoice) => each.code === code)[n];

const GRADUATED = {
  charge_model: 'graduated',
  properties: {
    graduated_ranges: [
      { from_value: 0, to_value: 10, per_unit_amount: '10', flat_amount: '2' },
      { from_value: 11, to_value: 20, per_unit_amount: '5', flat_amount: '3' },
      { from_value: 21, to_value: null, per_unit_amount: '5', flat_amount: '3' },
    ],
  },
};

describe('explained usage fees', () => {
  test('the explanation of tiers, their sum, rounding, tax and total leads to the stored amount (FX1)', async () => {
    const story = await metered(GRADUATED, {}, [
      ['2024-03-02T00:00:00Z', { calls: 5 }],
      ['2024-03-03T00:00:00Z', { calls: 3 }],
      ['2024-03-04T00:00:00Z', { calls: 3 }],
      ['2024-03-31T23:59:59Z', { calls: 1 }],
    ]);
    const [fee] = await billed(story);
    const explanation = await explain(story, fee);
    expect(explanation).toMatchObject({
      fee_type: 'charge',
      charge_model: 'graduated',
      currency: 'USD',
      explainable: true,
      provisional: false,
      window: { from: '2024-03-01T00:00:00Z', to: '2024-03-31T23:59:59Z', timezone: 'UTC', days: 31, duration: 31 },
      events: {
        count: 4,
        url: `/fees/${fee.svc_id}/events`,
        digest: expect.stringMatching(/^sha256-sum:[0-9a-f]{64}$/),
      },
    });
    expect(codes(explanation)).toEqual([
      'choose_bucket',
      'select_window',
      'aggregate',
      'price_tier',
      'price_tier',
      'sum',
      'round_amount',
      'tax',
      'fee_total',
    ]);
    expect(step(explanation, 'choose_bucket')).toMatchObject({
      output: 'default',
      inputs: { filter: null, rule: 'no_filter_on_charge' },
    });
    expect(step(explanation, 'aggregate')).toMatchObject({
      inputs: { aggregation: 'sum_agg', field_name: 'calls', events_count: 4 },
      output: '12.0',
    });
    expect(step(explanation, 'price_tier', 0)).toMatchObject({
      inputs: { from: '0.0', to: '10.0', units: '10.0', per_unit: '10.0', flat: '2.0' },
      output: '102.0',
    });
    expect(step(explanation, 'price_tier', 1)).toMatchObject({
      inputs: { from: '11.0', to: '20.0', units: '2.0', per_unit: '5.0', flat: '3.0' },
      output: '13.0',
    });
    expect(step(explanation, 'sum').output).toBe('115.0');
    expect(step(explanation, 'round_amount').output).toBe('11500');
    expect(step(explanation, 'tax')).toMatchObject({
      inputs: { tax_code: 'vat', rate: 20, base: '11500.0' },
      output: '2300.0',
    });
    expect(step(explanation, 'fee_total').output).toBe('13800');
    const events = await story.client.get(`/fees/${fee.svc_id}/events?per_page=3`);
    expect(events.body.meta.total_count).toBe(4);
    expect(events.body.events.map((each: Invoice) => each.properties.calls)).toEqual([5, 3, 3]);
  });

  test('the explanation of limits per event shows the raw cost and the limited one (FX2)', async () => {
    const properties = { rate: '2.99', per_transaction_min_amount: '1.75', per_transaction_max_amount: '12' };
    const story = await metered({ charge_model: 'percentage', properties }, {}, [
      ['2024-03-02T00:00:00Z', { calls: 10 }],
      ['2024-03-03T00:00:00Z', { calls: 80 }],
      ['2024-03-04T00:00:00Z', { calls: 10000 }],
    ]);
    const explanation = await explain(story, (await billed(story))[0]);
    expect(explanation.steps.filter(({ code }: Invoice) => code === 'price_event')).toMatchObject([
      { inputs: { raw: '0.299', clamp: 'minimum' }, output: '1.75' },
      { inputs: { raw: '2.392', clamp: 'none' }, output: '2.392' },
      { inputs: { raw: '299.0', clamp: 'maximum' }, output: '12.0' },
    ]);
    expect(step(explanation, 'sum').output).toBe('16.142');
    expect(step(explanation, 'round_amount').output).toBe('1614');
  });

  test('the explanation names the rule that chose the filter, and each filter lists its own events (FX4)', async () => {
    const story = await metered(
      {
        charge_model: 'standard',
        properties: { amount: '1' },
        filters: [
          { values: { cloud: ['aws', 'gcp'] }, properties: { amount: '2' } },
          { values: { cloud: ['aws'] }, properties: { amount: '3' } },
        ],
      },
      { filters: [{ key: 'cloud', values: ['aws', 'gcp', 'azure'] }] },
      [
        ['2024-03-02T00:00:00Z', { calls: 10, cloud: 'aws' }],
        ['2024-03-03T00:00:00Z', { calls: 7, cloud: 'gcp' }],
        ['2024-03-04T00:00:00Z', { calls: 1, cloud: 'azure' }],
        ['2024-03-05T00:00:00Z', { calls: 1 }],
      ],
    );
    const fees = await billed(story);
    const seen: unknown[] = [];
    for (const fee of fees) {
      const explanation = await explain(story, fee);
      const { inputs } = step(explanation, 'choose_bucket');
      const { events } = (await story.client.get(`/fees/${fee.svc_id}/events`)).body;
      expect(events).toHaveLength(explanation.events.count);
      seen.push([inputs.filter?.cloud ?? null, inputs.rule, events.map((each: Invoice) => each.properties.calls)]);
    }
    expect(seen).toEqual([
      [['aws', 'gcp'], 'only_filter_that_matches', [7]],
      [['aws'], 'narrower_values', [10]],
      [null, 'no_filter_matches', [1, 1]],
    ]);
  });

  test('an event that three filters match is listed behind the fee that bills it, and the invoice verifies', async () => {
    const properties = { amount: '1' };
    const story = await metered(
      {
        charge_model: 'standard',
        properties,
        filters: [
          { values: { region: ['eu', 'us'] }, properties },
          { values: { cloud: ['__ALL_FILTER_VALUES__'] }, properties },
          { values: { region: ['eu'] }, properties },
        ],
      },
      {
        filters: [
          { key: 'region', values: ['eu', 'us'] },
          { key: 'cloud', values: ['aws', 'gcp'] },
        ],
      },
      [['2024-03-02T00:00:00Z', { calls: 7, region: 'eu', cloud: 'gcp' }]],
    );
    const [fee, ...others] = await billed(story);
    expect([fee.item.filters, fee.amount_cents, others]).toEqual([{ cloud: ['__ALL_FILTER_VALUES__'] }, 700, []]);
    const { body } = await story.client.get(`/fees/${fee.svc_id}/events`);
    expect(body.events.map((each: Invoice) => each.properties.calls)).toEqual([7]);
    expect(step(await explain(story, fee), 'choose_bucket').inputs).toMatchObject({ rule: 'oldest_filter' });
    const [{ svc_id }] = await story.invoices(1);
    const { body: verified } = await story.client.post(`/invoices/${svc_id}/verify`, { level: 'events' });
    expect(verified.verification).toMatchObject({ status: 'equal', differences: [] });
  });

  test.each([
    ['standard', { amount: '0.333' }],
    ['package', { amount: '5', package_size: 5, free_units: 2 }],
    ['percentage', { rate: '1.3', fixed_amount: '2', free_units_per_events: 1, free_units_per_total_aggregation: '3' }],
    [
      'volume',
      {
        volume_ranges: [
          { from_value: 0, to_value: 10, per_unit_amount: '2', flat_amount: '1' },
          { from_value: 11, to_value: null, per_unit_amount: '1', flat_amount: '0' },
        ],
      },
    ],
    [
      'graduated_percentage',
      {
        graduated_percentage_ranges: [
          { from_value: 0, to_value: 10, rate: '1', flat_amount: '2' },
          { from_value: 11, to_value: null, rate: '2', flat_amount: '3' },
        ],
      },
    ],
    ['dynamic', {}],
  ])('the explanation of %s leads to the amount to the cent', async (charge_model, properties) => {
    const story = await metered(
      { charge_model, properties, min_amount_cents: 50_000 },
      { aggregation_type: 'sum_agg' },
      [
        ['2024-03-02T00:00:00Z', { calls: 5.5 }],
        ['2024-03-03T00:00:00Z', { calls: 7 }],
      ],
    );
    const fees = await billed(story);
    expect(fees.length).toBeGreaterThanOrEqual(1);
    for (const fee of fees) await explain(story, fee);
    const trueUp = fees.find((fee) => fee.svc_true_up_parent_fee_id !== null);
    expect(codes(await explain(story, trueUp)).slice(0, 4)).toEqual(['minimum', 'prorate_minimum', 'used', 'gap']);
  });

  test.each(['count_agg', 'max_agg', 'latest_agg', 'unique_count_agg', 'weighted_sum_agg'])(
    '%s: the events listed behind the fee are those that it counted',
    async (aggregation_type) => {
      const metric = {
        aggregation_type,
        field_name: aggregation_type === 'count_agg' ? null : 'calls',
        ...(aggregation_type === 'weighted_sum_agg' ? { weighted_interval: 'seconds', recurring: true } : {}),
      };
      const story = await metered(
        { charge_model: 'standard', properties: { amount: '3', pricing_group_keys: ['zone'] } },
        metric,
        [
          ['2024-03-02T00:00:00Z', { calls: 5, zone: 'a' }],
          ['2024-03-03T00:00:00Z', { calls: 7, zone: 'b' }],
          ['2024-03-04T00:00:00Z', { calls: 5, zone: 'b' }],
        ],
      );
      const fees = await billed(story);
      expect(fees).toHaveLength(2);
      for (const fee of fees) {
        const explanation = await explain(story, fee);
        const { events } = (await story.client.get(`/fees/${fee.svc_id}/events`)).body;
        expect(events.every((each: Invoice) => each.properties.zone === fee.item.grouped_by.zone)).toBe(true);
        expect(events).toHaveLength(fee.item.grouped_by.zone === 'a' ? 1 : 2);
        expect(step(explanation, 'group').output).toBe(`zone=${fee.item.grouped_by.zone}`);
      }
    },
  );

  test('the explanation of a prorated graduated charge shows its pieces', async () => {
    const story = await metered({ ...GRADUATED, prorated: true }, { recurring: true }, [
      ['2024-03-10T00:00:00Z', { calls: 2 }],
      ['2024-03-16T00:00:00Z', { calls: 15 }],
      ['2024-03-20T00:00:00Z', { calls: -3 }],
    ]);
    const explanation = await explain(story, (await billed(story))[0]);
    expect(codes(explanation)).toContain('prorate_units');
    expect(codes(explanation)).toContain('price_piece');
    expect(step(explanation, 'price_piece')).toMatchObject({ inputs: { full: '2.0', tier: 1, sign: 1 } });
    expect(step(explanation, 'price_piece', 3)).toMatchObject({ inputs: { full: '-3.0', tier: 2, sign: -1 } });
  });

  test('a window that begins later in the day than it ends shows its number of days', async () => {
    const prorated = { charge_model: 'standard', prorated: true, properties: { amount: '1' } };
    const story = await metered(prorated, { recurring: true });
    const metric = await story.metric('jobs');
    const jobs = { billable_metric_id: metric.svc_id, min_amount_cents: 31_000 };
    const minimum = { ...jobs, charge_model: 'standard', properties: { amount: '1' } };
    const { body: plan } = await story.client.get('/plans/plan');
    const [{ svc_billable_metric_id: billable_metric_id }] = plan.plan.charges;
    await story.plan({ code: 'both', amount_cents: 3100, charges: [{ billable_metric_id, ...prorated }, minimum] });
    await story.advanceTo('2024-03-15T12:12:00Z');
    await story.client.delete('/subscriptions/sub');
    await story.subscribe({ external_id: 'short', plan_code: 'both' });
    await story.use('calls', { calls: 31 }, { by: 'short' });
    await story.advanceTo('2024-03-20T10:00:00Z');
    await story.client.delete('/subscriptions/short');
    const invoice = (await story.invoices(2)).at(-1);
    const found: unknown[][] = [];
    for (const fee of invoice.fees) {
      const { steps, window } = await explain(story, fee);
      const counts = steps.flatMap(({ inputs }: Invoice) => inputs.days_counted_by ?? []);
      found.push([fee.item.code, fee.amount_cents, window.days, window.days_counted_by, ...counts]);
    }
    // 15 to 20 March: six local dates, and five days from a quarter past noon to ten.
    expect(found.filter(([, cents]) => cents !== 0).sort()).toEqual([
      ['both', 600, 6, 'day_difference', 'day_difference'],
      ['calls', 600, 6, 'local_dates', 'local_dates'],
      ['jobs', 5000, 5, 'day_difference', 'day_difference'],
    ]);
  });

  test('the explanation of each event in advance shows what it adds', async () => {
    const story = await metered(
      { charge_model: 'graduated', properties: GRADUATED.properties, pay_in_advance: true },
      {},
      [],
    );
    await story.advanceTo('2024-03-10T00:00:00Z');
    await send(story, [
      ['2024-03-02T00:00:00Z', { calls: 10 }],
      ['2024-03-03T00:00:00Z', { calls: -4 }],
      ['2024-03-04T00:00:00Z', { calls: 8 }],
    ]);
    const invoices = await story.invoices(3);
    const last = await explain(story, invoices[2].fees[0]);
    expect(step(last, 'running_record')).toMatchObject({ inputs: { current: '14.0', max: '10.0' }, output: '4.0' });
    expect(step(last, 'price_with').steps.map(({ code }: Invoice) => code)).toEqual([
      'price_tier',
      'price_tier',
      'sum',
    ]);
    expect(step(last, 'difference').output).toBe('23.0');
    expect((await story.client.get(`/fees/${invoices[2].fees[0].svc_id}/events`)).body.events).toHaveLength(1);
    for (const { fees } of invoices) await explain(story, fees[0]);
  });
});

describe('explanations of other fees', () => {
  test('the explanation of a first period names the case and the days (FX5)', async () => {
    const story = await openStory(service, '2024-03-05T10:00:00Z');
    await story.customer();
    await story.plan({ amount_cents: 1000 });
    await story.subscribe();
    await story.advanceTo('2024-04-02T00:00:00Z');
    const [invoice] = await story.invoices(1);
    const explanation = await explain(story, invoice.fees[0]);
    expect(step(explanation, 'case').output).toBe('first period');
    expect(step(explanation, 'prorate')).toMatchObject({ inputs: { amount_cents: 1000, days: 27, duration: 31 } });
    expect(step(explanation, 'round_amount').output).toBe('871');
  });

  test('commitments, fixed charges, drafts and add-ons have explanations', async () => {
    const story = await openStory(service, '2024-03-05T10:00:00Z');
    await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '19', applied_to_organization: true } });
    await story.customer({ billing_configuration: { invoice_grace_period: 3 } });
    await story.client.post('/add_ons', {
      add_on: { name: 'Seat', code: 'seat', amount_cents: 999, amount_currency: 'USD' },
    });
    const addOn = (await story.client.get('/add_ons/seat')).body.add_on;
    await story.plan({
      amount_cents: 1000,
      minimum_commitment: { amount_cents: 50_000 },
      fixed_charges: [
        {
          add_on_id: addOn.svc_id,
          charge_model: 'graduated',
          units: 7,
          prorated: true,
          properties: GRADUATED.properties,
        },
        {
          add_on_id: addOn.svc_id,
          code: 'two',
          charge_model: 'standard',
          units: 3,
          pay_in_advance: true,
          properties: { amount: '2.5' },
        },
      ],
    });
    await story.subscribe();
    const one = await story.client.post('/invoices', {
      invoice: { external_customer_id: 'acme', currency: 'USD', fees: [{ add_on_code: 'seat', units: '1.5' }] },
    });
    const ofAddOn = await explain(story, one.body.invoice.fees[0]);
    expect(codes(ofAddOn)).toEqual(['unit_amount', 'units', 'round_amount', 'tax', 'fee_total']);
    await story.advanceTo('2024-04-02T00:00:00Z');
    const invoices = await story.invoices(3);
    const draft = invoices.find(({ status }) => status === 'draft');
    const kinds = new Set<string>();
    for (const { fees, status } of invoices)
      for (const fee of fees) {
        const explanation = await explain(story, fee);
        expect(explanation.provisional).toBe(status === 'draft');
        kinds.add(explanation.fee_type);
      }
    expect(draft).toBeDefined();
    expect([...kinds].sort()).toEqual(['add_on', 'commitment', 'fixed_charge', 'subscription']);
  });

  test('the explanation reports a fee that was tampered with, and an unknown fee is refused with 404', async () => {
    const story = await openStory(service, '2024-03-01T10:00:00Z');
    await story.customer();
    await story.plan({ amount_cents: 1000 });
    await story.subscribe();
    await story.advanceTo('2024-04-02T00:00:00Z');
    const [invoice] = await story.invoices(1);
    const id = invoice.fees[0].svc_id;
    await service.sql`update fees set amount_cents = 1001 where id = ${id}`;
    expect((await story.client.get(`/fees/${id}/explanation`)).body.explanation.check).toMatchObject({
      equal: false,
      explained_amount_cents: 1000,
      stored_amount_cents: 1001,
    });
    await service.sql`delete from fee_inputs where fee_id = ${id}`;
    expect((await story.client.get(`/fees/${id}/explanation`)).body.explanation).toMatchObject({
      explainable: false,
      reason: 'inputs_not_stored',
      steps: [],
    });
    expect((await story.client.get('/fees/nope/explanation')).body).toMatchObject({ status: 404, resource: 'fee' });
  });
});

test('bought credits can be explained and verified', async () => {
  const story = await openStory(service, '2024-03-01T10:00:00Z');
  await story.customer();
  const wallet = await story.client.post('/wallets', {
    wallet: { external_customer_id: 'acme', name: 'w', rate_amount: '0.333', currency: 'USD', paid_credits: '10.5' },
  });
  expect(wallet.status).toBe(200);
  const [invoice] = await story.invoices(1);
  const explanation = await explain(story, invoice.fees[0]);
  expect(codes(explanation)).toEqual(['credits', 'rate', 'round_amount', 'fee_total']);
  expect(explanation.window).toBeNull();
  await service.sql`update invoices set status = 'finalized' where id = ${invoice.svc_id}`;
  const { verification } = (await story.client.post(`/invoices/${invoice.svc_id}/verify`)).body;
  expect(verification).toMatchObject({ status: 'equal', differences: [] });
});

test('explanations with coupons and of regenerated fees lead to the stored amounts', async () => {
  const story = await metered(
    { charge_model: 'standard', properties: { amount: '0.335' } },
    {},
    [['2024-03-02T00:00:00Z', { calls: 101 }]],
    { amount_cents: 1234 },
  );
  const coupon = await story.client.post('/coupons', {
    coupon: {
      name: 'Welcome',
      code: 'welcome',
      coupon_type: 'percentage',
      percentage_rate: '10',
      frequency: 'forever',
      expiration: 'no_expiration',
    },
  });
  expect(coupon.status).toBe(200);
  const applied = await story.client.post('/applied_coupons', {
    applied_coupon: { external_customer_id: 'acme', coupon_code: 'welcome' },
  });
  expect(applied.status).toBe(200);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [invoice] = await story.invoices(1);
  for (const fee of invoice.fees) {
    const explanation = await explain(story, fee);
    expect(step(explanation, 'coupon_share')).toMatchObject({ inputs: { coupon_code: 'welcome', credit_cents: 462 } });
  }
  const verify = async (id: string) => (await story.client.post(`/invoices/${id}/verify`)).body.verification;
  expect(await verify(invoice.svc_id)).toMatchObject({ status: 'equal', differences: [] });

  await story.client.post(`/invoices/${invoice.svc_id}/void`);
  const [first, second] = invoice.fees;
  const again = await story.client.post(`/invoices/${invoice.svc_id}/regenerate`, {
    invoice: { fees: [{ id: first.svc_id }, { id: second.svc_id, units: '7', unit_amount_cents: 33 }] },
  });
  expect(again.status).toBe(200);
  for (const fee of again.body.invoice.fees) await explain(story, fee);
  expect(await verify(again.body.invoice.svc_id)).toMatchObject({ status: 'equal', differences: [] });
});

test('adjusted fees of a draft say so in their explanation', async () => {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer({ billing_configuration: { invoice_grace_period: 5 } });
  const fields = { name: 'Calls', aggregation_type: 'unique_count_agg', field_name: 'calls', recurring: true };
  const { svc_id: billable_metric_id } = await story.metric('calls', fields);
  await story.plan({
    amount_cents: 1000,
    charges: [{ billable_metric_id, charge_model: 'standard', prorated: true, properties: { amount: '10' } }],
  });
  await story.subscribe();
  await send(story, [
    ['2024-03-01T00:00:00Z', { calls: 'a' }],
    ['2024-03-11T00:00:00Z', { calls: 'b' }],
  ]);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [draft] = await story.invoices(1);
  const ofUsage = draft.fees.find(({ item }: Invoice) => item.type === 'charge');
  const explanation = await explain(story, ofUsage);
  expect(explanation.provisional).toBe(true);
  expect(step(explanation, 'round_amount').output).toBe('1677');
  for (const [type, adjustment] of [
    ['subscription', { units: '3' }],
    ['charge', { units: '4', unit_precise_amount: '2.5' }],
  ] as const) {
    // Each adjustment refreshes the draft: its fees are new ones.
    const [present] = await story.invoices(1);
    const fee_id = present.fees.find(({ item }: Invoice) => item.type === type).svc_id;
    const adjusted = await story.client.post(`/invoices/${draft.svc_id}/adjusted_fees`, {
      adjusted_fee: { fee_id, ...adjustment },
    });
    expect(adjusted.status).toBe(200);
  }
  const [changed] = await story.invoices(1);
  for (const fee of changed.fees) expect(codes(await explain(story, fee))[0]).toBe('manual_adjustment');
});
