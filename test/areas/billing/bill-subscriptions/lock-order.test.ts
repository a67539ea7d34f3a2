import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// A change of a plan's amount goes from the plan to the customers whose change of plan waits; a change of plan goes
// from the customer to the plan. They meet halfway: README "locks", plans.md#charges-of-a-plan,
// plan-changes.md#upgrade, plan-changes.md#downgrade.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const CUSTOMERS = ['a', 'b', 'c'];
const ROUNDS = 4;

interface Told {
  status: number;
  text: string;
}
const refusals = (answers: readonly Told[]) =>
  answers.filter(({ status }) => status !== 200).map(({ status, text }) => [status, text]);

/** Active records of each external id, once no work is left. */
async function running(organizationId: string): Promise<Record<string, number>> {
  const rows = await until(async () => {
    const [open] = await service.sql<{ count: number }[]>`
      select count(*)::int as count from after_steps where organization_id = ${organizationId}`;
    if (Number(open!.count) > 0) return undefined;
    return service.sql<{ external_id: string; count: number }[]>`
      select external_id, count(*)::int as count from subscriptions
      where organization_id = ${organizationId} and status = 'active' group by 1`;
  });
  return Object.fromEntries(rows.map(({ external_id, count }) => [external_id, Number(count)]));
}

test('amounts of plans may change while customers switch between them: no deadlock is reported, and each change runs once', async () => {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  const { client } = story;
  await story.plan({ code: 'small', amount_cents: 1000, pay_in_advance: true });
  await story.plan({ code: 'large', amount_cents: 3000, pay_in_advance: true });
  const subscribe = (id: string, plan_code: string) =>
    client.post('/subscriptions', { subscription: { external_customer_id: id, external_id: id, plan_code } });
  const reprice = (code: string, amount_cents: number) => client.put(`/plans/${code}`, { plan: { amount_cents } });
  for (const id of CUSTOMERS) {
    await story.customer({ external_id: id });
    await subscribe(id, 'large');
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const waiting = await Promise.all(CUSTOMERS.map((id) => subscribe(id, 'small')));
    // The small plan becomes the dearer one, so that waiting changes happen now; the large one withdraws them.
    const halfway = await Promise.all([
      reprice('small', 5000 + round),
      ...CUSTOMERS.map((id) => subscribe(id, 'large')),
      reprice('large', 400 + round),
      ...CUSTOMERS.map((id) => subscribe(id, 'small')),
    ]);
    const back = await Promise.all([reprice('small', 1000), reprice('large', 3000)]);
    const again = await Promise.all(CUSTOMERS.map((id) => subscribe(id, 'large')));
    expect(refusals([...waiting, ...halfway, ...back, ...again])).toEqual([]);
  }
  expect(await running(story.organizationId)).toEqual(Object.fromEntries(CUSTOMERS.map((id) => [id, 1])));
});

test('units of a plan may change while its subscriptions get overrides: no deadlock is reported', async () => {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  const { client } = story;
  await client.post('/add_ons', {
    add_on: { name: 'Seat', code: 'seat', amount_cents: 1000, amount_currency: 'USD' },
  });
  const seats = { add_on_code: 'seat', charge_model: 'standard', pay_in_advance: true, properties: { amount: '10' } };
  await story.plan({
    amount_cents: 1000,
    pay_in_advance: true,
    fixed_charges: [{ ...seats, code: 'seats', units: 1 }],
  });
  for (const id of CUSTOMERS) await story.customer({ external_id: id });
  const setUnits = (units: number) =>
    client.put('/plans/plan/fixed_charges/seats', { fixed_charge: { units, apply_units_immediately: true } });
  for (let round = 0; round < ROUNDS; round += 1) {
    const ids = CUSTOMERS.map((id) => ({ id, own: `${id}${round}` }));
    const started = await Promise.all(
      ids.map(({ id, own }) => story.subscribe({ external_customer_id: id, external_id: own })),
    );
    expect(started.map(({ status }) => status)).toEqual(ids.map(() => 200));
    const answers = await Promise.all([
      setUnits(2 + 3 * round),
      ...ids.map(({ own }) =>
        client.put(`/subscriptions/${own}/fixed_charges/seats`, { fixed_charge: { invoice_display_name: 'Chairs' } }),
      ),
      setUnits(3 + 3 * round),
      ...ids.map(({ own }) =>
        client.put(`/subscriptions/${own}`, { subscription: { plan_overrides: { amount_cents: 700 } } }),
      ),
      setUnits(4 + 3 * round),
    ]);
    expect(refusals(answers)).toEqual([]);
  }
  expect(Object.values(await running(story.organizationId))).toEqual(CUSTOMERS.flatMap(() => Array(ROUNDS).fill(1)));
});

test('a fixed charge of one subscription is changed by the plan first and by the customer afterwards', async () => {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  const { client, organizationId } = story;
  await client.post('/add_ons', {
    add_on: { name: 'Seat', code: 'seat', amount_cents: 1000, amount_currency: 'USD' },
  });
  await story.customer();
  const seats = { add_on_code: 'seat', code: 'seats', charge_model: 'standard', properties: { amount: '10' } };
  await story.plan({ amount_cents: 1000, fixed_charges: [{ ...seats, units: 1 }] });
  await story.subscribe();
  const change = () =>
    client.put('/subscriptions/sub/fixed_charges/seats', { fixed_charge: { invoice_display_name: 'Chairs' } });
  const answer = await service.sql.begin(async (tx) => {
    await tx`select from plans where organization_id = ${organizationId} for update`;
    const changing = change();
    await until(async () => {
      const [waiting] = await service.sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' limit 1`;
      return waiting;
    });
    // Whoever waits for the plan holds nobody: else this would wait for it, and it for this.
    await tx`select from customers where organization_id = ${organizationId} for no key update nowait`;
    return [changing];
  });
  expect(refusals(await Promise.all(answer))).toEqual([]);
});
