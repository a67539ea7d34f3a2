import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// Rules: plans.md#overrides-and-cascade "cascade", fixed-charges.md#override.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const SEATS = {
  add_on_code: 'seat',
  code: 'seats',
  charge_model: 'standard',
  units: 10,
  pay_in_advance: true,
  properties: { amount: '10' },
};
const PATH = '/plans/plan/fixed_charges';
const OWN = '/subscriptions/sub/fixed_charges';

/** A plan with ten seats and a subscription with a plan of its own. */
async function overridden(): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  for (const code of ['seat', 'desk'])
    await story.client.post('/add_ons', {
      add_on: { name: code, code, amount_cents: 100, amount_currency: 'USD' },
    });
  await story.plan({ amount_cents: 0, pay_in_advance: true, fixed_charges: [SEATS] });
  await story.subscribe({ plan_overrides: { name: 'Own' } });
  await story.invoices(1);
  return story;
}

const own = async (story: Story) => (await story.client.get(OWN)).body.fixed_charges;

test('an override equal to its plan follows new units and prices of a fixed charge; one with its own figures does not', async () => {
  const story = await overridden();
  const change = { units: 20, properties: { amount: '11' }, cascade_updates: true };
  await story.client.put(`${PATH}/seats`, { fixed_charge: change });
  const [copy] = await until(async () => {
    const list = await own(story);
    return list[0].units === 20 ? list : undefined;
  });
  expect(copy).toMatchObject({ properties: { amount: '11' } });
  const { svc_id } = (await story.client.get(`${PATH}/seats`)).body.fixed_charge;
  expect(copy.svc_parent_id).toBe(svc_id);

  await story.client.put(`${OWN}/seats`, { fixed_charge: { properties: { amount: '7' } } });
  await story.client.put(`${PATH}/seats`, { fixed_charge: { ...change, units: 30 } });
  await story.client.post(PATH, {
    fixed_charge: { ...SEATS, add_on_code: 'desk', code: 'desks', cascade_updates: true },
  });
  const followed = await until(async () => {
    const list = await own(story);
    return list.length === 2 ? list : undefined;
  });
  expect(followed).toMatchObject([
    { code: 'desks', units: 10 },
    { code: 'seats', units: 20, properties: { amount: '7' } },
  ]);
});

test('changes of a fixed charge in quick succession all reach the overrides', async () => {
  const story = await overridden();
  for (const units of [11, 12, 13, 14])
    await story.client.put(`${PATH}/seats`, { fixed_charge: { units, cascade_updates: true } });
  await until(async () => ((await own(story))[0].units === 14 ? true : undefined));
});

test('a change of one fixed charge that holds at once is not billed at once on overrides', async () => {
  const story = await overridden();
  const change = { units: 15, apply_units_immediately: true, cascade_updates: true };
  await story.client.put(`${PATH}/seats`, { fixed_charge: change });
  await until(async () => ((await own(story))[0].units === 15 ? true : undefined));
  await story.advanceTo('2024-03-02T00:00:00Z');
  expect(await story.invoices(1)).toHaveLength(1);
});

test('a fixed charge that is removed from a plan is removed from its overrides in use', async () => {
  const story = await overridden();
  await story.client.delete(`${PATH}/seats`, { fixed_charge: { cascade_updates: true } });
  await until(async () => ((await own(story)).length === 0 ? true : undefined));
});

test('a price for one subscription alone turns its plan into an override that keeps the units it had', async () => {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  await story.client.post('/add_ons', {
    add_on: { name: 'Seat', code: 'seat', amount_cents: 100, amount_currency: 'USD' },
  });
  await story.plan({ amount_cents: 0, pay_in_advance: true, fixed_charges: [SEATS] });
  await story.subscribe();
  await story.invoices(1);
  await story.client.put(`${OWN}/seats`, { fixed_charge: { units: '12', apply_units_immediately: true } });
  await story.invoices(2);
  const priced = await story.client.put(`${OWN}/seats`, { fixed_charge: { properties: { amount: '20' } } });
  expect(priced.body.fixed_charge).toMatchObject({ units: 12, properties: { amount: '20' } });
  expect(priced.body.fixed_charge.svc_parent_id).not.toBeNull();
  await story.advanceTo('2024-04-01T02:00:00Z');
  const invoices = await story.invoices(3);
  expect(invoices.map(({ fees_amount_cents }) => fees_amount_cents)).toEqual([10000, 2000, 24000]);
});
