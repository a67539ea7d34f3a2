import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { ok, type Shown } from '../../../support/words.ts';

// What a policy leaves: event-corrections.md#what-is-left and event-corrections.md#late-events. 13 units of March cost
// 10.00 each and are invoiced on 1 April.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const IN_MARCH = '2024-03-20T00:00:00Z';

/** 2 April: March is invoiced with the events `ten` and `three`. */
async function april({ charge = {}, plan = {} }: { charge?: object; plan?: object } = {}): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n' });
  await story.plan({
    amount_cents: 0,
    charges: [
      {
        billable_metric_id: metric.svc_id,
        code: 'units',
        charge_model: 'standard',
        properties: { amount: '10' },
        ...charge,
      },
    ],
    ...plan,
  });
  await story.subscribe();
  await story.advanceTo('2024-03-10T00:00:00Z');
  await story.use('units', { n: '10' }, { transaction_id: 'ten' });
  await story.use('units', { n: '3' }, { transaction_id: 'three' });
  await story.advanceTo('2024-04-02T00:00:00Z');
  return story;
}

/** Late usage of March; the policies are looked at within the hour. */
async function late(story: Story, transaction_id: string, n: number, hour: number): Promise<void> {
  await story.use('units', { n: `${n}` }, { transaction_id, at: IN_MARCH });
  await tick(story, hour);
}

const tick = (story: Story, hour: number) => story.advanceTo(`2024-04-02T${String(hour).padStart(2, '0')}:00:00Z`);

const ofOrganization = (late_events: string | null) => (story: Story) =>
  ok(story.client.put('/organizations/settings', { settings: { usage_policies: { late_events } } }));
const ofPlan = (late_events: string | null) => (story: Story) =>
  ok(story.client.put('/plans/plan', { plan: { usage_policies: { late_events } } }));

const correct = async (story: Story, fields: object): Promise<Shown> =>
  (
    await ok(
      story.client.post('/events/corrections', {
        correction: { reason: 'wrong', external_subscription_id: 'sub', ...fields },
      }),
    )
  ).correction;
const retract = (story: Story, transaction_id: string, policy?: string) =>
  correct(story, { kind: 'retract', transaction_id, ...(policy && { policy }) });
const amend = (story: Story, transaction_id: string, n: number, policy?: string) =>
  correct(story, { kind: 'amend', transaction_id, properties: { n: `${n}` }, ...(policy && { policy }) });

/** What was billed beyond the first invoice, and what was given back, in cents. */
async function money(story: Story): Promise<{ billed: number; credited: number }> {
  await story.advanceTo('2024-05-02T00:00:00Z');
  const { invoices } = (await story.client.get('/invoices?per_page=100')).body;
  const { credit_notes } = (await story.client.get('/credit_notes?per_page=100')).body;
  const sum = (list: Shown[], key: string) => list.reduce((total: number, each) => total + each[key], 0);
  return {
    billed: sum(invoices, 'fees_amount_cents') - 13_000,
    credited: sum(credit_notes, 'sub_total_excluding_taxes_amount_cents'),
  };
}

describe('late usage that the policy credit_note left unbilled', () => {
  test.each([
    ['the organization', ofOrganization],
    ['the plan', ofPlan],
  ])('is not billed once the policy of %s bills: 3 units left, then 1 billed (CO15)', async (_name, policyOf) => {
    const story = await april();
    await policyOf('credit_note')(story);
    await late(story, 'left', 3, 1);
    await policyOf('next_invoice')(story);
    await late(story, 'billed', 1, 2);
    expect(await money(story)).toEqual({ billed: 1000, credited: 0 });
  });

  test('is left by the policy under which it came, also when the next one holds before it is looked at', async () => {
    const story = await april();
    await ofOrganization('credit_note')(story);
    await story.use('units', { n: '3' }, { at: IN_MARCH });
    await ofOrganization('next_invoice')(story);
    await late(story, 'billed', 1, 1);
    expect(await money(story)).toEqual({ billed: 1000, credited: 0 });
  });

  test('is recorded with its amount, and no correction of another event bills it or is lowered by it', async () => {
    const story = await april();
    await ofOrganization('credit_note')(story);
    await late(story, 'left', 5, 1);
    const [found] = (await story.client.get('/events/corrections?kinds[]=late_events')).body.corrections;
    const { body } = await story.client.get(`/events/corrections/${found.svc_id}/adjustments`);
    expect(body.adjustments).toMatchObject([
      { old_amount_cents: 13_000, delta_amount_cents: 5000, left_amount_cents: 5000, booked_as: 'recorded' },
    ]);
    expect((await amend(story, 'three', 4)).adjustments).toMatchObject([
      { old_amount_cents: 18_000, delta_amount_cents: 1000, left_amount_cents: 0, booked_as: 'fee' },
    ]);
    expect((await retract(story, 'ten')).adjustments).toMatchObject([
      { old_amount_cents: 19_000, delta_amount_cents: -10_000, left_amount_cents: 0 },
    ]);
    // A fee of 1000 waits: it is lowered before anything is credited.
    expect(await money(story)).toEqual({ billed: 0, credited: 9000 });
  });

  test('gives nothing back when its own event is retracted (CO18)', async () => {
    const story = await april();
    await ofOrganization('credit_note')(story);
    await late(story, 'left', 5, 1);
    await late(story, 'also-left', 2, 2);
    expect((await retract(story, 'left')).adjustments).toMatchObject([
      { delta_amount_cents: -5000, left_amount_cents: -5000, booked_as: 'recorded', uncreditable_amount_cents: 0 },
    ]);
    expect((await retract(story, 'three')).adjustments).toMatchObject([
      { delta_amount_cents: -3000, left_amount_cents: 0, booked_as: 'credit_note' },
    ]);
    expect(await money(story)).toEqual({ billed: 0, credited: 3000 });
  });

  test('is billed when its event is taken back and amended again by a policy that bills', async () => {
    const story = await april();
    await ofOrganization('credit_note')(story);
    await late(story, 'left', 5, 1);
    await amend(story, 'left', 0);
    await amend(story, 'left', 5, 'next_invoice');
    expect(await money(story)).toEqual({ billed: 5000, credited: 0 });
  });
});

describe('what a correction with the policy ignore left', () => {
  test('is not billed by a correction of another event, in either order (CO16)', async () => {
    const first = await april();
    await amend(first, 'three', 6, 'ignore');
    await amend(first, 'ten', 11, 'next_invoice');
    const second = await april();
    await amend(second, 'ten', 11, 'next_invoice');
    await amend(second, 'three', 6, 'ignore');
    expect([await money(first), await money(second)]).toEqual([
      { billed: 1000, credited: 0 },
      { billed: 1000, credited: 0 },
    ]);
  });

  test('is not given back by a correction of another event, in either order', async () => {
    const first = await april();
    await retract(first, 'three', 'ignore');
    await retract(first, 'ten', 'next_invoice');
    const second = await april();
    await retract(second, 'ten', 'next_invoice');
    await retract(second, 'three', 'ignore');
    expect([await money(first), await money(second)]).toEqual([
      { billed: 0, credited: 10_000 },
      { billed: 0, credited: 10_000 },
    ]);
  });

  test('is not billed by late usage under a policy that bills', async () => {
    const story = await april();
    await amend(story, 'three', 6, 'ignore');
    await ofOrganization('debit_invoice')(story);
    await late(story, 'late', 2, 1);
    expect(await money(story)).toEqual({ billed: 2000, credited: 0 });
  });

  test('comes off what its own event falls by: three made eight and retracted gives back three (CO17)', async () => {
    const story = await april();
    await amend(story, 'three', 8, 'ignore');
    expect((await retract(story, 'three')).adjustments).toMatchObject([
      { old_amount_cents: 18_000, delta_amount_cents: -8000, left_amount_cents: -5000, booked_as: 'credit_note' },
    ]);
    expect(await money(story)).toEqual({ billed: 0, credited: 3000 });
  });

  test('comes off what its own event rises by: ten made four and ten again bills nothing', async () => {
    const story = await april();
    await amend(story, 'ten', 4, 'ignore');
    await amend(story, 'ten', 11, 'debit_invoice');
    expect(await money(story)).toEqual({ billed: 1000, credited: 0 });
  });

  test('comes off in a range too', async () => {
    const story = await april();
    await amend(story, 'three', 8, 'ignore');
    const range = { timestamp_from: '2024-03-01', timestamp_to: '2024-03-31' };
    await correct(story, { kind: 'retract_range', ...range });
    expect(await money(story)).toEqual({ billed: 0, credited: 13_000 });
  });

  test('comes off on both invoices when an event is moved there and back', async () => {
    const story = await april();
    await story.advanceTo('2024-05-02T00:00:00Z');
    const move = (month: string, policy: string) =>
      correct(story, {
        kind: 'amend',
        transaction_id: 'three',
        timestamp: Date.parse(`2024-${month}-15`) / 1000,
        policy,
      });
    expect((await move('04', 'ignore')).adjustments.map((each: Shown) => each.left_amount_cents).sort()).toEqual([
      -3000, 3000,
    ]);
    await move('03', 'debit_invoice');
    expect(await money(story)).toEqual({ billed: 0, credited: 0 });
  });

  test('does not come off what a later correction of its event billed', async () => {
    const story = await april();
    await amend(story, 'three', 8, 'ignore');
    await amend(story, 'three', 12, 'debit_invoice');
    await amend(story, 'three', 8, 'next_invoice');
    expect(await money(story)).toEqual({ billed: 4000, credited: 4000 });
  });

  test('a dry run says the same', async () => {
    const story = await april();
    await amend(story, 'three', 8, 'ignore');
    const dry = await correct(story, { kind: 'retract', transaction_id: 'three', dry_run: true });
    expect(dry.adjustments).toMatchObject([{ delta_amount_cents: -8000, left_amount_cents: -5000 }]);
    expect((await amend(story, 'ten', 11)).adjustments).toMatchObject([{ delta_amount_cents: 1000 }]);
  });
});

test('what waits for the next invoice is lowered before a note gives anything back (CO19)', async () => {
  const story = await april();
  await amend(story, 'three', 8, 'next_invoice');
  expect((await amend(story, 'three', 6, 'next_invoice')).adjustments).toMatchObject([
    { delta_amount_cents: -2000, booked_as: 'fee', svc_credit_note_id: null },
  ]);
  expect((await amend(story, 'three', 1, 'credit_note')).adjustments).toMatchObject([
    { delta_amount_cents: -5000, booked_as: 'credit_note' },
  ]);
  expect(await money(story)).toEqual({ billed: 0, credited: 2000 });
});

describe('the policy under which usage came late holds, whatever follows', () => {
  test('usage between a policy of the plan and one of the organization is billed after the former is gone', async () => {
    const story = await april({ plan: { usage_policies: { late_events: 'next_invoice' } } });
    await story.use('units', { n: '2' }, { at: IN_MARCH });
    await ofOrganization('next_invoice')(story);
    await ofPlan(null)(story);
    await late(story, 'after', 1, 1);
    expect(await money(story)).toEqual({ billed: 3000, credited: 0 });
  });

  test('usage is billed when the policy is switched off before it is looked at, and not what came then', async () => {
    const story = await april();
    await ofOrganization('next_invoice')(story);
    await story.use('units', { n: '2' }, { at: IN_MARCH });
    await ofOrganization('ignore')(story);
    await late(story, 'ignored', 4, 1);
    await ofOrganization('next_invoice')(story);
    await late(story, 'on', 1, 2);
    expect(await money(story)).toEqual({ billed: 3000, credited: 0 });
  });

  test('the plan can ignore what the organization bills', async () => {
    const story = await april();
    await ofOrganization('next_invoice')(story);
    await ofPlan('ignore')(story);
    await late(story, 'ignored', 4, 1);
    await ofPlan(null)(story);
    await late(story, 'on', 1, 2);
    expect(await money(story)).toEqual({ billed: 1000, credited: 0 });
  });

  test('an override has the policies of its plan, as they are at the time', async () => {
    const story = await april({
      plan: { usage_policies: { late_events: 'next_invoice', corrections: 'debit_invoice' } },
    });
    const overrides = { plan_overrides: { name: 'Own' } };
    await ok(story.client.put('/subscriptions/sub', { subscription: overrides }));
    const shown = async () => (await ok(story.client.get('/subscriptions/sub'))).subscription.plan;
    expect(await shown()).toMatchObject({ name: 'Own', usage_policies: { late_events: 'next_invoice' } });
    await late(story, 'on', 1, 1);
    await ok(story.client.put('/plans/plan', { plan: { usage_policies: null } }));
    expect(await shown()).not.toHaveProperty('usage_policies');
    await ok(story.client.put('/subscriptions/sub', { subscription: { plan_overrides: { name: 'Again' } } }));
    await late(story, 'off', 4, 2);
    expect(await amend(story, 'three', 4)).toMatchObject({ policy: 'next_invoice' });
    expect(await money(story)).toEqual({ billed: 2000, credited: 0 });
  });
});

describe('usage in advance whose correction left an amount', () => {
  test.each([
    ['is billed by a correction after it was amended back: 3 units, 8 left, 3, 8', 8, { billed: 5000, credited: 0 }],
    ['is given back by one after it was amended back: 3 units, 1 left, 3, 1', 1, { billed: 0, credited: 2000 }],
  ])('%s', async (_title, n, expected) => {
    const story = await april({ charge: { pay_in_advance: true, invoiceable: true } });
    await amend(story, 'three', n, 'ignore');
    await amend(story, 'three', 3, 'ignore');
    await amend(story, 'three', n, 'next_invoice');
    expect(await money(story)).toEqual(expected);
  });
});
