import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, periodOf, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { notesOf } from '../../credits/credit-notes/support.ts';

// Golden cases of golden-invoices.md that walk through several rooms.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A year of ticks. */
const SLOW = { timeout: 90_000 };

/** Sells plans that all have one charge on the units in use, a cent each, weighed by days. */
async function withUsage(story: Story, metric: object, charge: object, ...plans: object[]): Promise<void> {
  const { body } = await story.client.post('/billable_metrics', {
    billable_metric: { name: 'Items', code: 'items', aggregation_type: 'sum_agg', field_name: 'value', ...metric },
  });
  const { svc_id: billable_metric_id } = body.billable_metric;
  const charges = [{ billable_metric_id, charge_model: 'standard', properties: { amount: '0.01' }, ...charge }];
  for (const plan of plans) await story.plan({ charges, ...plan });
}
const IN_USE = [{ recurring: true }, { prorated: true }] as const;

const use = async (story: Story, value: number) => {
  const event = {
    transaction_id: `use ${value}`,
    external_subscription_id: 'sub',
    code: 'items',
    properties: { value },
  };
  const { status, text } = await story.client.post('/events', { event });
  if (status !== 200) throw new Error(text);
};
const fees = (invoice: Invoice, type = 'subscription'): number[] =>
  invoice.fees.filter((fee: Invoice) => fee.item.type === type).map((fee: Invoice) => fee.amount_cents);
const totals = (invoices: Invoice[]): number[] => invoices.map((invoice) => invoice.total_amount_cents);

test('a yearly plan in arrears bills its charges monthly and its fee yearly (G16, G17)', SLOW, async () => {
  const story = await openStory(service, '2024-01-31T01:00:00Z');
  await story.customer();
  await withUsage(story, {}, {}, { interval: 'yearly', amount_cents: 12000, bill_charges_monthly: true });
  await story.subscribe({ billing_time: 'anniversary' });
  await use(story, 500);
  await story.advanceTo('2024-02-29T02:00:00Z');
  const [february] = await story.invoices(1);
  expect([fees(february), fees(february, 'charge')]).toEqual([[], [500]]);
  expect(periodOf(february).fixed_charges_from_datetime).toBeNull();
  for (const day of ['2024-05-30', '2024-08-30', '2024-11-29', '2024-12-31']) await story.advanceTo(`${day}T02:00:00Z`);
  await story.invoices(11);
  await use(story, 700);
  await story.advanceTo('2025-01-31T02:00:00Z');
  const year = (await story.invoices(12)).at(-1);
  expect([fees(year), fees(year, 'charge')]).toEqual([[12000], [700]]);
  expect(periodOf(year)).toMatchObject({
    charges_from_datetime: '2024-12-31T00:00:00Z',
    charges_to_datetime: '2025-01-30T23:59:59Z',
  });
});

describe('trials', () => {
  const TRIAL = { amount_cents: 5000000, pay_in_advance: true };

  test('an upgrade during a trial moves the end of the trial (G23)', async () => {
    const story = await openStory(service, '2024-03-05T12:12:00Z');
    await story.customer();
    await story.plan({ ...TRIAL, trial_period: 10 });
    await story.plan({ ...TRIAL, code: 'big', amount_cents: 10000000, trial_period: 13 });
    await story.subscribe();
    await story.advanceTo('2024-03-10T12:12:00Z');
    await story.subscribe({ plan_code: 'big' });
    await story.advanceTo('2024-03-18T14:00:00Z');
    await story.advanceTo('2024-04-01T02:00:00Z');
    expect(totals(await story.invoices(3))).toEqual([0, 4516129, 10000000]);
  });

  test('the minimum of the month in which the trial ended is filled up (G25)', async () => {
    const story = await openStory(service, '2024-03-05T12:12:00Z');
    await story.customer();
    const plan = { ...TRIAL, trial_period: 45, minimum_commitment: { amount_cents: 10000000 } };
    await withUsage(story, {}, {}, plan);
    await story.subscribe();
    await story.advanceTo('2024-04-20T00:00:00Z');
    await use(story, 1000);
    await story.advanceTo('2024-05-01T02:00:00Z');
    const [, april, may] = await story.invoices(3);
    expect(fees(april)).toEqual([2000000]);
    expect([fees(may), fees(may, 'charge'), fees(may, 'commitment')]).toEqual([[5000000], [1000], [7999000]]);
  });

  test('one external id has one trial (G28)', async () => {
    const story = await openStory(service, '2024-03-04T21:00:00Z');
    await story.customer();
    await story.plan({ amount_cents: 3500, pay_in_advance: true, trial_period: 7 });
    await story.subscribe();
    await story.advanceTo('2024-03-11T22:50:00Z');
    expect(fees((await story.invoices(1))[0])).toEqual([2371]);
    await story.advanceTo('2024-03-11T23:00:00Z');
    await story.client.delete('/subscriptions/sub');
    await story.invoices(2);
    expect((await notesOf(story))[0]).toMatchObject({ total_amount_cents: 2371 });
    await story.advanceTo('2024-03-11T23:05:00Z');
    await story.subscribe();
    const [, , again] = await story.invoices(3);
    expect(fees(again)).toEqual([2371]);
  });
});

describe('plans in advance that end early', () => {
  test('the part of a credit note that the closing invoice does not use remains (G37)', async () => {
    const story = await openStory(service, '2024-01-01T00:00:00Z');
    await story.customer();
    await withUsage(story, ...IN_USE, { amount_cents: 2900, pay_in_advance: true });
    await story.subscribe();
    await use(story, 500);
    await story.advanceTo('2024-02-12T10:00:00Z');
    await story.client.delete('/subscriptions/sub');
    const closing = (await story.invoices(3)).at(-1);
    expect(fees(closing, 'charge')).toEqual([207]);
    expect(closing).toMatchObject({ credit_notes_amount_cents: 207, total_amount_cents: 0 });
    expect((await notesOf(story))[0]).toMatchObject({ total_amount_cents: 1700, balance_amount_cents: 1493 });
  });

  test('a plan in advance that ends on its first day gives the other days back (G38)', async () => {
    const story = await openStory(service, '2024-02-01T03:00:00Z');
    await story.customer();
    await story.plan({ amount_cents: 2900, pay_in_advance: true });
    await story.subscribe();
    await story.invoices(1);
    await story.advanceTo('2024-02-01T18:00:00Z');
    await story.client.delete('/subscriptions/sub');
    expect(totals(await story.invoices(2))).toEqual([2900, 0]);
    expect((await notesOf(story))[0]).toMatchObject({ total_amount_cents: 2800 });
  });

  test('a credit note is a draft as long as its invoice is one (G69)', async () => {
    const story = await openStory(service, '2022-12-15T00:00:00Z');
    await story.tax(20);
    // Longer than the case's 3 days, after which the clock would make the first draft final.
    await story.customer({ billing_configuration: { invoice_grace_period: 10 } });
    await withUsage(story, {}, {}, { amount_cents: 1000, pay_in_advance: true });
    await story.subscribe();
    const [draft] = await story.invoices(1);
    expect(draft).toMatchObject({
      status: 'draft',
      fees_amount_cents: 548,
      taxes_amount_cents: 110,
      total_amount_cents: 658,
    });
    await use(story, 600);
    await story.advanceTo('2022-12-20T00:00:00Z');
    await story.client.delete('/subscriptions/sub');
    const [, closing] = await story.invoices(2);
    expect(closing).toMatchObject({ status: 'draft', total_amount_cents: 720 });
    const [note] = await service.sql`
      select status, total_amount_cents from credit_notes where organization_id = ${story.organizationId}`;
    expect(note).toEqual({ status: 'draft', total_amount_cents: 426 });
    await story.advanceTo('2023-01-02T00:00:00Z');
    expect((await story.invoices(2))[1]).toMatchObject({
      status: 'finalized',
      credit_notes_amount_cents: 426,
      total_amount_cents: 294,
    });
  });
});

test('a plan in arrears that ends has nothing to credit (G43)', async () => {
  const story = await openStory(service, '2023-02-08T00:00:00Z');
  await story.tax(20);
  await story.customer();
  await withUsage(story, {}, {}, { amount_cents: 10000 });
  await story.subscribe();
  await use(story, 5000);
  await story.advanceTo('2023-02-21T10:00:00Z');
  const ended = await story.client.delete('/subscriptions/sub?on_termination_credit_note=credit');
  expect(ended.body.subscription).toMatchObject({ on_termination_credit_note: null });
  const [closing] = await story.invoices(1);
  expect([fees(closing), fees(closing, 'charge')]).toEqual([[5000], [5000]]);
  expect(closing).toMatchObject({ taxes_amount_cents: 2000, total_amount_cents: 12000 });
});

describe('an upgrade on 12 February with 500 of usage a month, weighted by days', () => {
  test.each([
    ['G49', 'in advance', { fees: [18000], usage: [190], total: 16390 }, { fees: [29000], usage: [310], total: 29310 }],
    ['G50', 'in arrears', { fees: [1100], usage: [190], total: 1290 }, { fees: [18000], usage: [310], total: 18310 }],
  ])(
    'golden case %s: an upgrade on 12 February with 500 of usage weighted by days is billed %s',
    async (_name, billed, upgrade, march) => {
      const pay_in_advance = billed === 'in advance';
      const story = await openStory(service, '2024-01-01T00:00:00Z');
      await story.customer();
      const plan = { amount_cents: 2900, pay_in_advance };
      await withUsage(story, ...IN_USE, plan, { ...plan, code: 'big', amount_cents: 29000 });
      await story.subscribe();
      await use(story, 500);
      await story.advanceTo('2024-02-12T00:00:00Z');
      const before = pay_in_advance ? 2 : 1;
      await story.invoices(before);
      await story.subscribe({ plan_code: 'big' });
      await story.invoices(before + 1);
      await story.advanceTo('2024-03-01T02:00:00Z');
      const made = (await story.invoices(before + 2)).slice(before);
      expect(
        made.map((invoice) => ({
          fees: fees(invoice),
          usage: fees(invoice, 'charge'),
          total: invoice.total_amount_cents,
        })),
      ).toEqual([upgrade, march]);
      if (pay_in_advance) expect(made[0].credit_notes_amount_cents).toBe(1800);
    },
  );
});

describe('a void with credit of an invoice of 1200', () => {
  test.each([
    ['all of it is credited (G75)', { credit_amount: 1200 }, [[1200, 'available']]],
    [
      '500 are credited, and the rest is voided (G76)',
      { credit_amount: 500 },
      [
        [500, 'available'],
        [700, 'voided'],
      ],
    ],
  ])('an invoice of 1200 is voided with credit: %s', async (_name, parts, notes) => {
    const story = await openStory(service, '2024-03-01T00:00:00Z');
    await story.tax(20);
    await story.customer();
    const invoice = await story.oneOff(1000);
    const voided = await story.client.post(`/invoices/${invoice.svc_id}/void`, {
      generate_credit_note: true,
      ...parts,
    });
    expect(voided.body.invoice).toMatchObject({ status: 'voided', total_amount_cents: 1200 });
    const made = await until(async () => {
      const list = await notesOf(story);
      return list.length === notes.length ? list : undefined;
    });
    expect(made.map((note: Invoice) => [note.total_amount_cents, note.credit_status])).toEqual(notes);
  });
});
