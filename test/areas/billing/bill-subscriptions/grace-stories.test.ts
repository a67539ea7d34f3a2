import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inLongRun } from '../../../support/long-run.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';

// How long drafts wait changes no fee: each random life of a subscription is lived by two customers, one with a grace
// period and one without. A failure names the seed of its lives: SEED=… plays it again, LIVES=… plays more of them.
// Rule: invoice-operations.md#refresh-and-finalize.
const SEED = Number(process.env.SEED ?? 7);
const LIVES = Number(process.env.LIVES ?? inLongRun(4, 2));

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

// From the smallest yearly amount to the largest.
const PLANS = ['arrears', 'trial', 'advance', 'weekly', 'late-trial'] as const;
const METRICS = ['rec', 'met', 'pro', 'ws'] as const;
/**
 * Days between what happens: periods, trials and grace periods end in between. At the steps of CHANGES, on 3 April and
 * 2 May, monthly drafts wait.
 */
const STEPS = [3, 24, 2, 11, 16, 4];
const CHANGES = [1, 4];
const GRACE_DAYS = 9;

type Act =
  | { kind: 'rest' | 'end' }
  | { kind: 'plan'; plan: (typeof PLANS)[number] }
  | { kind: 'use'; metric: (typeof METRICS)[number]; units: number }
  | { kind: 'units'; units: number };

interface Life {
  plan: (typeof PLANS)[number];
  billing: 'calendar' | 'anniversary';
  acts: Act[];
}

const change: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('trial', 'advance', ...PLANS).map((plan): Act => ({ kind: 'plan', plan })) },
  { weight: 1, arbitrary: fc.constant<Act>({ kind: 'end' }) },
);
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 1, arbitrary: change },
  { weight: 2, arbitrary: fc.constant<Act>({ kind: 'rest' }) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(...METRICS), fc.integer({ min: 11, max: 20 }))
      .map(([metric, units]): Act => ({ kind: 'use', metric, units })),
  },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 5 }).map((units): Act => ({ kind: 'units', units })) },
);

const life: fc.Arbitrary<Life> = fc.record({
  plan: fc.constantFrom('arrears', 'arrears', ...PLANS),
  billing: fc.constantFrom('calendar', 'calendar', 'anniversary'),
  acts: fc.tuple(...STEPS.map((_, step) => (CHANGES.includes(step) ? change : act))),
});

test(`subscriptions cost the same with and without a grace period, whatever happens to them (seed ${SEED})`, async () => {
  const lives = fc.sample(life, { seed: SEED, numRuns: LIVES });
  const story = await openCatalogue();
  const customers = lives.flatMap((each, n) => [
    { ...each, id: `${n}-none`, grace: 0 },
    { ...each, id: `${n}-some`, grace: GRACE_DAYS },
  ]);
  for (const { id, grace, plan, billing } of customers) {
    await story.customer({ external_id: id, billing_configuration: { invoice_grace_period: grace } });
    await story.subscribe({ external_customer_id: id, external_id: id, plan_code: plan, billing_time: billing });
    for (const metric of METRICS) await happen(story, id, { kind: 'use', metric, units: 10 });
  }
  let day = Date.parse('2024-03-07T10:00:00Z');
  for (const [step, days] of STEPS.entries()) {
    day += days * 86_400_000;
    await story.advanceTo(new Date(day).toISOString());
    for (const { id, acts } of customers) await happen(story, id, acts[step]!);
  }
  await story.advanceTo('2024-05-28T00:00:00Z');
  for (const [n, each] of lives.entries()) {
    const none = await feesOf(story, `${n}-none`);
    expect(none.length, `life ${n}`).toBeGreaterThan(0);
    expect(await feesOf(story, `${n}-some`), `life ${n}: ${JSON.stringify(each)}`).toEqual(none);
  }
});

async function openCatalogue(): Promise<Story> {
  const story = await openStory(service, '2024-03-07T10:00:00Z');
  const metrics: Record<string, string> = {};
  for (const code of METRICS) {
    const aggregation_type = code === 'ws' ? 'weighted_sum_agg' : 'sum_agg';
    const weighted = code === 'ws' ? { weighted_interval: 'seconds' } : {};
    const billable_metric = {
      name: code,
      code,
      aggregation_type,
      field_name: 'v',
      recurring: code !== 'met',
      ...weighted,
    };
    const { body } = await story.client.post('/billable_metrics', { billable_metric });
    metrics[code] = body.billable_metric.svc_id;
  }
  for (const code of ['before', 'after']) {
    const add_on = { name: code, code, amount_cents: 100, amount_currency: 'USD' };
    await story.client.post('/add_ons', { add_on });
  }
  const charges = METRICS.map((code) => ({
    billable_metric_id: metrics[code],
    charge_model: 'standard',
    properties: { amount: '1' },
    prorated: code === 'pro',
    min_amount_cents: code === 'met' ? 3100 : 0,
  }));
  const fixed_charges = ['before', 'after'].map((code) => ({
    add_on_code: code,
    code,
    charge_model: 'standard',
    units: '2',
    properties: { amount: '5' },
    pay_in_advance: code === 'before',
  }));
  const terms = {
    arrears: { amount_cents: 3100 },
    trial: { amount_cents: 6200, pay_in_advance: true, trial_period: 17 },
    advance: { amount_cents: 9300, pay_in_advance: true },
    weekly: { amount_cents: 7000, interval: 'weekly', minimum_commitment: { amount_cents: 9000 } },
    'late-trial': { amount_cents: 62000, pay_in_advance: true, trial_period: 31 },
  };
  for (const [code, fields] of Object.entries(terms)) await story.plan({ code, charges, fixed_charges, ...fields });
  return story;
}

async function happen({ client }: Story, id: string, given: Act): Promise<void> {
  if (given.kind === 'end') await client.delete(`/subscriptions/${id}`);
  if (given.kind === 'plan') {
    const subscription = { external_customer_id: id, external_id: id, plan_code: given.plan };
    await client.post('/subscriptions', { subscription });
  }
  if (given.kind === 'use') {
    const event = { transaction_id: `${id}-${given.metric}-${given.units}`, external_subscription_id: id };
    await client.post('/events', { event: { ...event, code: given.metric, properties: { v: given.units } } });
  }
  if (given.kind === 'units') {
    const fixed_charge = { units: String(given.units), apply_units_immediately: true };
    await client.put(`/subscriptions/${id}/fixed_charges/after`, { fixed_charge });
  }
}

/** What all invoices of a customer charge, as texts that can be compared; fees of nothing left out. */
async function feesOf({ client }: Story, customer: string): Promise<string[]> {
  const { body } = await client.get(`/customers/${customer}/invoices?per_page=1000`);
  const invoices: Invoice[] = await Promise.all(
    body.invoices.map(async ({ svc_id, status }: Invoice) => {
      if (status === 'draft') await client.put(`/invoices/${svc_id}/finalize`);
      return (await client.get(`/invoices/${svc_id}`)).body.invoice;
    }),
  );
  expect(invoices.map(({ status }) => status)).not.toContain('draft');
  return invoices
    .flatMap(({ fees }) => fees)
    .filter((fee: Invoice) => fee.amount_cents !== 0)
    .map(
      (fee: Invoice) =>
        `${fee.from_date} ${fee.to_date} ${fee.item.type} ${fee.item.code} ${fee.units} ${fee.amount_cents}`,
    )
    .sort();
}
