import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { balances, booked, notesOf } from './support.ts';

// Golden cases of golden-invoices.md#termination, golden-invoices.md#upgrade-and-downgrade that give back days paid in
// advance.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const MONTHLY = { interval: 'monthly', pay_in_advance: true };

async function withUsage(story: Story, plan: object): Promise<void> {
  const metric = await story.client.post('/billable_metrics', {
    billable_metric: { name: 'Items', code: 'items', aggregation_type: 'sum_agg', field_name: 'value' },
  });
  const charge = {
    billable_metric_id: metric.body.billable_metric.svc_id,
    charge_model: 'standard',
    properties: { amount: '1' },
  };
  await story.plan({ ...MONTHLY, charges: [charge], ...plan });
}

const use = (story: Story, value: number) =>
  story.client.post('/events', {
    event: { transaction_id: `use ${value}`, external_subscription_id: 'sub', code: 'items', properties: { value } },
  });

describe('a plan of 10000 in advance from 8 February 2023, 50 of usage, ended on the 21st', () => {
  async function endedOn21(query: string, paid = 0) {
    const story = await openStory(service, '2023-02-08T00:00:00Z');
    await story.tax(20);
    await story.customer();
    await withUsage(story, { amount_cents: 10000 });
    await story.subscribe();
    const [start] = await story.invoices(1);
    expect(start).toMatchObject({ fees_amount_cents: 7500, total_amount_cents: 9000 });
    await story.advanceTo('2023-02-10T10:00:00Z');
    await use(story, 50);
    if (paid > 0) expect((await story.pay(start.svc_id, paid)).status).toBe(200);
    await story.advanceTo('2023-02-21T10:00:00Z');
    const ended = await story.client.delete(`/subscriptions/sub${query}`);
    return { story, start, subscription: ended.body.subscription };
  }

  test('a termination credits unused days by default, and the credit note pays the closing invoice (G39)', async () => {
    const { story, subscription } = await endedOn21('');
    expect(subscription).toMatchObject({ on_termination_credit_note: 'credit', on_termination_invoice: 'generate' });
    const [, closing] = await story.invoices(2);
    expect(closing).toMatchObject({ credit_notes_amount_cents: 3000, total_amount_cents: 3000 });
    const [note] = await notesOf(story);
    expect(note).toMatchObject({
      number: expect.stringMatching(/-CN001$/),
      reason: 'order_cancellation',
      total_amount_cents: 3000,
      credit_status: 'consumed',
      balance_amount_cents: 0,
      refund_status: null,
    });
    expect(closing.credits).toMatchObject([
      { amount_cents: 3000, before_taxes: false, item: { type: 'credit_note', svc_item_id: note.svc_id } },
    ]);
    expect(await booked(service.sql, story.organizationId, 'credit_note_applied')).toEqual([
      'customer_credit debit 3000',
      'receivable credit 3000',
    ]);
    expect((await balances(service.sql, story.organizationId)).customer_credit).toBeUndefined();
  });

  test('a termination with refund pays back what exceeds the use, and credits the rest (G40)', async () => {
    const { story } = await endedOn21('?on_termination_credit_note=refund', 7500);
    const [, closing] = await story.invoices(2);
    expect(closing).toMatchObject({ credit_notes_amount_cents: 1500, total_amount_cents: 4500 });
    expect(await notesOf(story)).toMatchObject([
      { refund_amount_cents: 1500, refund_status: 'pending', credit_amount_cents: 1500, total_amount_cents: 3000 },
    ]);
  });

  test('a termination with offset settles the unpaid invoice itself', async () => {
    const { story, start } = await endedOn21('?on_termination_credit_note=offset');
    const [first, closing] = await story.invoices(2);
    expect(first).toMatchObject({
      svc_id: start.svc_id,
      total_amount_cents: 9000,
      total_offsetted_credit_note_amount_cents: 3000,
      total_due_amount_cents: 6000,
      payment_status: 'pending',
    });
    expect(closing).toMatchObject({ credit_notes_amount_cents: 0, total_amount_cents: 6000 });
    expect((await balances(service.sql, story.organizationId, start.svc_id)).receivable).toBe(6000);
  });

  test('a termination that skips the credit gives nothing back (G41)', async () => {
    const { story } = await endedOn21('?on_termination_credit_note=skip');
    expect((await story.invoices(2))[1].total_amount_cents).toBe(6000);
    expect(await notesOf(story)).toEqual([]);
  });

  test('without a closing invoice the credit of unused days remains (G42)', async () => {
    const { story } = await endedOn21('?on_termination_invoice=skip');
    await story.invoices(1);
    expect(await notesOf(story)).toMatchObject([{ balance_amount_cents: 3000, credit_status: 'available' }]);
  });
});

test('a plan that ends on the billing day was not billed for the new period and gives nothing back (G34)', async () => {
  const story = await openStory(service, '2023-09-05T00:00:00Z');
  await story.customer();
  await story.plan({ ...MONTHLY, amount_cents: 1000 });
  await story.subscribe({ billing_time: 'anniversary', ending_at: '2023-10-05T00:00:00Z' });
  await story.advanceTo('2023-10-06T02:00:00Z');
  const [first] = await story.invoices(2);
  expect(first.total_amount_cents).toBe(1000);
  expect(await notesOf(story)).toEqual([]);
});

test('the stored choice for unused days applies where the request has none', async () => {
  const story = await openStory(service, '2024-02-01T03:00:00Z');
  await story.customer();
  await story.plan({ ...MONTHLY, amount_cents: 2900 });
  await story.subscribe();
  await story.invoices(1);
  const put = (value: string) =>
    story.client.put('/subscriptions/sub', { subscription: { on_termination_credit_note: value } });
  expect((await put('gift')).body.error_details).toEqual({ on_termination_credit_note: ['invalid_value'] });
  expect((await put('skip')).body.subscription.on_termination_credit_note).toBe('skip');
  expect((await story.client.delete('/subscriptions/sub')).body.subscription).toMatchObject({
    status: 'terminated',
    on_termination_credit_note: 'skip',
  });
  expect(await notesOf(story)).toEqual([]);
});

test('unused days are counted by local days: 21 of 28 in Los Angeles (termination.md#credit-for-unused-days)', async () => {
  const story = await openStory(service, '2023-02-08T00:00:00Z');
  await story.tax(20);
  await story.customer({ timezone: 'America/Los_Angeles' });
  await story.plan({ ...MONTHLY, amount_cents: 5000 });
  await story.subscribe();
  await story.invoices(1);
  await story.client.delete('/subscriptions/sub');
  expect(await notesOf(story)).toMatchObject([{ total_amount_cents: 4500 }]);
});

test('deleting a plan gives back the unused days of its subscriptions', async () => {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.customer();
  await story.plan({ ...MONTHLY, amount_cents: 2900 });
  await story.subscribe();
  await story.invoices(1);
  await story.advanceTo('2024-02-12T10:00:00Z');
  await story.client.delete('/plans/plan');
  await story.advanceTo('2024-02-12T11:00:00Z');
  expect(await notesOf(story)).toMatchObject([{ total_amount_cents: 1700 }]);
});

describe('upgrades', () => {
  test.each([
    ['G47', 'calendar', [871, 968, 1226], [806, 1210]],
    ['G48', 'anniversary', [1000, 1161, 1471], [968, 1451]],
  ])(
    'golden case %s: two upgrades within an hour are billed and credited with %s billing',
    async (_name, billingTime, fees, credits) => {
      const story = await openStory(service, '2024-03-05T12:12:00Z');
      await story.tax(25);
      await story.customer();
      for (const amount of [1000, 1500, 1900])
        await story.plan({ ...MONTHLY, amount_cents: amount, code: `p${amount}` });
      const subscribe = (plan: string) => story.subscribe({ plan_code: plan, billing_time: billingTime });
      await subscribe('p1000');
      await story.advanceTo('2024-03-12T12:12:00Z');
      await subscribe('p1500');
      await story.advanceTo('2024-03-12T13:12:00Z');
      await subscribe('p1900');
      await story.advanceTo('2024-03-12T13:13:00Z');
      expect((await story.invoices(3)).map((invoice) => invoice.fees_amount_cents)).toEqual(fees);
      expect((await notesOf(story)).map((note) => note.credit_amount_cents)).toEqual(credits);
    },
  );

  test('an upgrade credits its own day, to the cent as its preview says (G46)', async () => {
    const story = await openStory(service, '2023-06-29T00:00:00Z');
    await story.customer();
    await story.plan({ ...MONTHLY, amount_cents: 1000 });
    await story.plan({ interval: 'yearly', pay_in_advance: true, amount_cents: 12000, code: 'year' });
    await story.subscribe({ billing_time: 'anniversary' });
    await story.advanceTo('2023-09-28T05:00:00Z');
    await story.invoices(3);
    const preview = await story.client.post('/invoices/preview', {
      customer: { external_id: 'acme' },
      subscriptions: { external_ids: ['sub'], plan_code: 'year' },
    });
    expect(preview.body.invoice).toMatchObject({ credit_notes_amount_cents: 32, total_amount_cents: 8984 });
    expect(await notesOf(story)).toEqual([]);
    await story.subscribe({ plan_code: 'year' });
    const upgrade = (await story.invoices(4))[3];
    expect(upgrade).toMatchObject({
      fees_amount_cents: 9016,
      credit_notes_amount_cents: 32,
      total_amount_cents: preview.body.invoice.total_amount_cents,
    });
  });

  test('50 upgrades at the same time make one new record and one credit note', async () => {
    const story = await openStory(service, '2024-02-01T00:00:00Z');
    await story.customer();
    await story.plan({ ...MONTHLY, amount_cents: 2900 });
    await story.plan({ ...MONTHLY, amount_cents: 29000, code: 'big' });
    await story.subscribe();
    await story.invoices(1);
    await story.advanceTo('2024-02-12T10:00:00Z');
    await Promise.all(Array.from({ length: 50 }, () => story.subscribe({ plan_code: 'big' })));
    await story.advanceTo('2024-02-12T11:00:00Z');
    const [, upgrade] = await story.invoices(2);
    expect(upgrade).toMatchObject({ fees_amount_cents: 18000, credit_notes_amount_cents: 1800 });
    expect(await notesOf(story)).toMatchObject([{ total_amount_cents: 1800, balance_amount_cents: 0 }]);
  }, 60_000);
});

test('50 terminations at the same time credit unused days once', async () => {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.customer();
  await story.plan({ ...MONTHLY, amount_cents: 2900 });
  await story.subscribe();
  await story.invoices(1);
  await story.advanceTo('2024-02-12T10:00:00Z');
  await Promise.all(Array.from({ length: 50 }, () => story.client.delete('/subscriptions/sub')));
  expect(await notesOf(story)).toMatchObject([{ total_amount_cents: 1700 }]);
}, 60_000);

describe('credit notes of a draft', () => {
  async function draftEnded() {
    const story = await openStory(service, '2024-02-12T00:00:00Z');
    await story.customer({ billing_configuration: { invoice_grace_period: 30 } });
    await story.plan({ ...MONTHLY, amount_cents: 2900 });
    await story.subscribe();
    const [draft] = await story.invoices(1);
    expect(draft).toMatchObject({ status: 'draft', fees_amount_cents: 1800 });
    await story.advanceTo('2024-02-12T10:00:00Z');
    await story.client.delete('/subscriptions/sub');
    return { story, draft };
  }
  const draftNotes = (story: Story) => service.sql<{ status: string; total: number }[]>`
    select status, total_amount_cents as total from credit_notes where organization_id = ${story.organizationId}`;

  test('a draft credit note of 1700 of 1800 becomes 850 of 900 with its draft and is hidden until the invoice is final', async () => {
    const { story, draft } = await draftEnded();
    expect(await draftNotes(story)).toEqual([{ status: 'draft', total: 1700 }]);
    await service.sql`
      update plans set amount_cents = 1450 where organization_id = ${story.organizationId} and code = 'plan'`;
    await story.client.put(`/invoices/${draft.svc_id}/refresh`);
    expect(await draftNotes(story)).toEqual([{ status: 'draft', total: 850 }]);
    expect(await notesOf(story)).toEqual([]);
    const final = await story.client.put(`/invoices/${draft.svc_id}/finalize`);
    const [note] = await notesOf(story);
    expect(note).toMatchObject({ total_amount_cents: 850, number: `${final.body.invoice.number}-CN001` });
    expect(note.items).toMatchObject([{ amount_cents: 850, fee: { amount_cents: 900 } }]);
  });

  test('a draft credit note is deleted with its draft', async () => {
    const { story, draft } = await draftEnded();
    expect((await story.client.delete(`/invoices/${draft.svc_id}`)).status).toBe(200);
    expect((await draftNotes(story)).map(({ status }) => status)).toEqual(['deleted']);
  });
});

test('progressive usage that is given back becomes a credit note that pays the closing invoice', async () => {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.tax(20);
  await story.customer();
  await withUsage(story, { amount_cents: 2900, pay_in_advance: false, usage_thresholds: [{ amount_cents: 1000 }] });
  await story.subscribe();
  await story.advanceTo('2024-02-10T10:00:00Z');
  await use(story, 20);
  await story.advanceTo('2024-02-10T11:00:00Z');
  const [progressive] = await story.invoices(1);
  expect(progressive).toMatchObject({ invoice_type: 'progressive_billing', total_amount_cents: 2400 });
  await story.client.post('/events/corrections', {
    correction: {
      kind: 'retract',
      reason: 'wrong',
      policy: 'ignore',
      external_subscription_id: 'sub',
      transaction_id: 'use 20',
    },
  });
  await story.advanceTo('2024-03-01T02:00:00Z');
  const [, month] = await story.invoices(2);
  const [note] = await notesOf(story);
  expect(note).toMatchObject({ svc_invoice_id: progressive.svc_id, reason: 'other', total_amount_cents: 2400 });
  expect(month).toMatchObject({ credit_notes_amount_cents: 2400, progressive_billing_credit_amount_cents: 0 });
});
