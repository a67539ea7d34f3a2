import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

// The law of credit-note-amounts.md#no-more-than-was-billed over whole periods: progressive invoices, coupons, taxes by
// charge, notes by hand on any invoice before and after the month ends, corrections, and a month that is voided and
// made once more. Of every invoice what may be credited is what it billed less what its notes gave back, and all that
// is left can be given back to the cent.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** An estimate may differ by it from its note: credit-note-amounts.md#what-is-left "estimate". */
const ALIGNED_CENTS = 1;
const TEAMS = ['red', 'blue'];
const THRESHOLDS = [{ amount_cents: 1000 }, { amount_cents: 2500 }, { amount_cents: 2000, recurring: true }];
const COUPONS = [
  null,
  { coupon_type: 'percentage', percentage_rate: '33.3', frequency: 'forever' },
  { coupon_type: 'fixed_amount', amount_cents: 500, amount_currency: 'USD', frequency: 'once' },
  { coupon_type: 'percentage', percentage_rate: '50', frequency: 'forever', isLimited: true },
];

const send = fc.record({
  kind: fc.constant('send' as const),
  code: fc.constantFrom('calls', 'gigabytes'),
  n: fc.integer({ min: 1, max: 15 }),
  team: fc.nat({ max: 1 }),
});
const nth = fc.nat({ max: 20 });
const move = fc.record({ kind: fc.constant('move' as const), nth });
const retract = fc.record({ kind: fc.constant('retract' as const), nth });
const note = fc.record({
  kind: fc.constant('note' as const),
  invoice: nth,
  fee: nth,
  percent: fc.integer({ min: 1, max: 100 }),
});
const correction = fc.oneof(move, retract);
const plays = fc.record({
  coupon: fc.nat({ max: COUPONS.length - 1 }),
  days: fc.array(
    fc.tuple(fc.array(send, { minLength: 1, maxLength: 3 }), fc.array(fc.oneof(correction, note), { maxLength: 2 })),
    { minLength: 2, maxLength: 3 },
  ),
  after: fc.array(fc.oneof({ weight: 2, arbitrary: note }, { weight: 1, arbitrary: correction }), { maxLength: 4 }),
  isVoided: fc.boolean(),
});
type Play = typeof plays extends fc.Arbitrary<infer Value> ? Value : never;
type Step = Play['after'][number];

async function open({ coupon }: Play): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  const { client } = story;
  await client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: 19.6, applied_to_organization: true } });
  await client.post('/taxes', { tax: { name: 'Low', code: 'low', rate: 7 } });
  await story.customer();
  const metrics = new Map<string, string>();
  for (const code of ['calls', 'gigabytes']) {
    const metric = await story.metric(code, { aggregation_type: 'sum_agg', field_name: 'n' });
    metrics.set(code, metric.svc_id);
  }
  const discount = COUPONS[coupon];
  if (discount) {
    const { isLimited, ...terms } = { isLimited: false, ...discount };
    const limits = isLimited ? { applies_to: { billable_metric_codes: ['calls'] } } : {};
    const made = { name: 'Off', code: 'off', expiration: 'no_expiration', ...terms, ...limits };
    expect((await client.post('/coupons', { coupon: made })).status).toBe(200);
    const applied_coupon = { external_customer_id: 'acme', coupon_code: 'off' };
    expect((await client.post('/applied_coupons', { applied_coupon })).status).toBe(200);
  }
  const charge = (code: string, price: string, tax_codes: string[]) => ({
    billable_metric_id: metrics.get(code),
    code,
    charge_model: 'standard',
    properties: { amount: price, pricing_group_keys: ['team'] },
    tax_codes,
  });
  await story.plan({
    amount_cents: 700,
    usage_thresholds: THRESHOLDS,
    charges: [charge('calls', '1', []), charge('gigabytes', '0.77', ['low'])],
  });
  await story.subscribe();
  return story;
}

const invoicesOf = async (story: Story): Promise<Invoice[]> => {
  const { body } = await story.client.get('/invoices?per_page=100');
  return Promise.all(body.invoices.map(({ svc_id }: Invoice) => story.invoice(svc_id)));
};
const notesOf = async (story: Story): Promise<Invoice[]> =>
  (await story.client.get('/credit_notes?per_page=1000')).body.credit_notes;

/** What is left of each fee, as items of a note. */
async function itemsLeft(story: Story, invoice: Invoice): Promise<{ fee_id: string; amount_cents: number }[]> {
  const given = (await notesOf(story))
    .filter((each) => each.svc_invoice_id === invoice.svc_id)
    .flatMap(({ items }) => items as Invoice[]);
  return invoice.fees
    .map((fee: Invoice) => ({
      fee_id: fee.svc_id,
      amount_cents: given
        .filter((item) => item.fee.svc_id === fee.svc_id)
        .reduce((left, item) => left - item.amount_cents, fee.amount_cents),
    }))
    .filter((item: { amount_cents: number }) => item.amount_cents > 0);
}

async function estimate(story: Story, invoice: Invoice, items: object[]): Promise<number> {
  const { body, status, text } = await story.client.post('/credit_notes/estimate', {
    credit_note: { invoice_id: invoice.svc_id, items },
  });
  expect(status, text).toBe(200);
  return body.estimated_credit_note.max_creditable_amount_cents;
}

async function giveItems(story: Story, invoice: Invoice, items: object[]): Promise<void> {
  const credit_amount_cents = await estimate(story, invoice, items);
  if (credit_amount_cents === 0) return;
  const credit_note = { invoice_id: invoice.svc_id, reason: 'other', credit_amount_cents, items };
  const made = await story.client.post('/credit_notes', { credit_note });
  expect(made.status, made.text).toBe(200);
  expect(Math.abs(made.body.credit_note.total_amount_cents - credit_amount_cents)).toBeLessThanOrEqual(ALIGNED_CENTS);
}

async function perform(story: Story, live: Map<string, { n: number; team: number }>, step: Step): Promise<void> {
  if (step.kind === 'note') {
    const invoices = await invoicesOf(story);
    if (invoices.length === 0) return;
    const invoice = invoices[step.invoice % invoices.length]!;
    const items = await itemsLeft(story, invoice);
    if (items.length === 0) return;
    const { fee_id, amount_cents } = items[step.fee % items.length]!;
    await giveItems(story, invoice, [{ fee_id, amount_cents: Math.ceil((amount_cents * step.percent) / 100) }]);
    return;
  }
  const [transaction_id, event] = [...live][step.nth % live.size] ?? [];
  if (transaction_id === undefined || event === undefined) return;
  const team = 1 - event.team;
  const { status, text } = await story.client.post('/events/corrections', {
    correction: {
      reason: 'any order',
      external_subscription_id: 'sub',
      transaction_id,
      policy: 'credit_note',
      kind: step.kind === 'move' ? 'amend' : 'retract',
      ...(step.kind === 'move' ? { properties: { n: `${event.n}`, team: TEAMS[team] } } : {}),
    },
  });
  expect(status, text).toBe(200);
  if (step.kind === 'retract') live.delete(transaction_id);
  else live.set(transaction_id, { ...event, team });
}

/** Of every invoice what may be credited and what was given back is what it billed. */
async function holdsLaw(story: Story): Promise<void> {
  const notes = await notesOf(story);
  for (const invoice of await invoicesOf(story)) {
    const given = notes
      .filter((each) => each.svc_invoice_id === invoice.svc_id)
      .reduce((total, each) => total + each.total_amount_cents, 0);
    const items = await itemsLeft(story, invoice);
    const left = items.length === 0 ? 0 : await estimate(story, invoice, items);
    const missing = invoice.sub_total_including_taxes_amount_cents - given - left;
    expect(Math.abs(missing), invoice.svc_id).toBeLessThanOrEqual(items.length === 0 ? 0 : ALIGNED_CENTS);
  }
}

async function play(own: Play): Promise<void> {
  const story = await open(own);
  const live = new Map<string, { n: number; team: number }>();
  let count = 0;
  for (const [day, [sent, steps]] of own.days.entries()) {
    for (const { code, n, team } of sent) {
      const transaction_id = `t${count}`;
      count += 1;
      await story.use(code, { n: `${n}`, team: TEAMS[team] }, { transaction_id });
      live.set(transaction_id, { n, team });
    }
    await story.advanceTo(`2024-03-${10 + day}T01:00:00Z`);
    for (const step of steps) await perform(story, live, step);
    await story.advanceTo(`2024-03-${10 + day}T02:00:00Z`);
  }
  await story.advanceTo('2024-04-02T00:00:00Z');
  await holdsLaw(story);
  for (const step of own.after) await perform(story, live, step);
  await holdsLaw(story);
  if (own.isVoided) {
    const month = (await invoicesOf(story)).find(({ invoice_type }) => invoice_type === 'subscription')!;
    expect((await story.client.post(`/invoices/${month.svc_id}/void`)).status).toBe(200);
    const fees = month.fees.map(({ svc_id }: Invoice) => ({ id: svc_id }));
    const made = await story.client.post(`/invoices/${month.svc_id}/regenerate`, { invoice: { fees } });
    expect(made.status, made.text).toBe(200);
    await holdsLaw(story);
  }
  for (const invoice of await invoicesOf(story)) {
    const items = await itemsLeft(story, invoice);
    if (items.length > 0) await giveItems(story, invoice, items);
  }
  await holdsLaw(story);
  expect((await story.client.post('/audits', {})).status).toBe(200);
  await until(async () => (await story.client.get('/audits')).body.audits[0]?.finished_at ?? undefined);
  expect((await story.client.get('/audits/findings')).body.audit_findings).toEqual([]);
}

// The same plays each time; others by RUNS and SEED.
const { RUNS = '2', SEED = '20261123' } = process.env;
/** One play on a machine that others load too. */
const PLAY_MS = 80_000;

test(
  'all that the invoices of a period billed can be given back, and no more',
  { timeout: Number(RUNS) * PLAY_MS },
  () => fc.assert(fc.asyncProperty(plays, play), { numRuns: Number(RUNS), seed: Number(SEED), endOnFailure: true }),
);
