import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inLongRun } from '../../../support/long-run.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';

// Beyond 4, invariants: whatever the order of events, late events and corrections, and wherever the invoices stood
// then, what was billed less what was credited is the price of the events that are left.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

// Graduated: the price of a month's units by hand. 2 flat, even of nothing, and 10 each up to 10, then 3 flat and 5
// each.
const RANGES = [
  { from_value: 0, to_value: 10, per_unit_amount: '10', flat_amount: '2' },
  { from_value: 11, to_value: null, per_unit_amount: '5', flat_amount: '3' },
];
const priceOf = (units: number): number => {
  const first = 200 + Math.min(units, 10) * 1000;
  return units <= 10 ? first : first + 300 + (units - 10) * 500;
};
/** By team, 10 each: a group without usage costs nothing. */
const priceByTeam = (units: number): number => units * 1000;
const TEAMS = ['red', 'blue'];
const MINIMUM = 4000;
// Low enough that most months are billed once or more before they end, and that usage then falls below some of it.
const THRESHOLDS = [{ amount_cents: 1500 }, { amount_cents: 3000 }, { amount_cents: 2000, recurring: true }];
const MONTHS = ['03', '04'];

interface Live {
  month: number;
  n: number;
  team: number;
}
type Step =
  | { kind: 'send'; month: number; n: number; team: number }
  | { kind: 'amend'; nth: number; n: number; team: number }
  | { kind: 'move'; nth: number; month: number }
  | { kind: 'retract'; nth: number }
  | { kind: 'range'; month: number };

const month = fc.integer({ min: 0, max: 1 });
const n = fc.integer({ min: 1, max: 14 });
const team = fc.integer({ min: 0, max: 1 });
const nth = fc.nat({ max: 20 });
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('send' as const), month, n, team }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('amend' as const), nth, n, team }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('move' as const), nth, month }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('retract' as const), nth }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('range' as const), month }) },
  ),
  { minLength: 3, maxLength: 7 },
);
const plays = fc.record({
  before: steps,
  between: steps,
  after: steps,
  hasMinimum: fc.boolean(),
  debits: fc.boolean(),
  hasThresholds: fc.boolean(),
  byTeam: fc.boolean(),
});
type Play = typeof plays extends fc.Arbitrary<infer Value> ? Value : never;

async function open({ hasMinimum, hasThresholds, byTeam }: Play): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  await story.client.put('/organizations/settings', { settings: { usage_policies: { late_events: 'next_invoice' } } });
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n' });
  await story.plan({
    amount_cents: 0,
    ...(hasThresholds ? { usage_thresholds: THRESHOLDS } : {}),
    charges: [
      {
        billable_metric_id: metric.svc_id,
        code: 'units',
        ...(byTeam
          ? { charge_model: 'standard', properties: { amount: '10', pricing_group_keys: ['team'] } }
          : { charge_model: 'graduated', properties: { graduated_ranges: RANGES } }),
        ...(hasMinimum ? { min_amount_cents: MINIMUM } : {}),
      },
    ],
  });
  await story.subscribe();
  await story.advanceTo('2024-03-20T00:00:00Z');
  return story;
}

const propertiesOf = ({ n: units, team: which }: { n: number; team: number }) => ({
  n: `${units}`,
  team: TEAMS[which],
});

async function perform(story: Story, live: Map<string, Live>, step: Step, sent: number, debits: boolean) {
  const { client } = story;
  const at = (which: number) => Date.parse(`2024-${MONTHS[which]}-15T00:00:00Z`) / 1000;
  const correct = (fields: object) =>
    client.post('/events/corrections', {
      correction: {
        reason: 'any order',
        external_subscription_id: 'sub',
        ...(debits ? { policy: 'debit_invoice' } : {}),
        ...fields,
      },
    });
  const id = 'nth' in step && live.size > 0 ? [...live.keys()][step.nth % live.size] : undefined;
  if (step.kind === 'send') {
    const transaction_id = `t${sent}`;
    const { status } = await client.post('/events', {
      event: {
        transaction_id,
        external_subscription_id: 'sub',
        code: 'units',
        timestamp: at(step.month),
        properties: propertiesOf(step),
      },
    });
    expect(status).toBe(200);
    live.set(transaction_id, { month: step.month, n: step.n, team: step.team });
  } else if (step.kind === 'range') {
    const range = { timestamp_from: `2024-${MONTHS[step.month]}-01`, timestamp_to: `2024-${MONTHS[step.month]}-16` };
    const { status } = await correct({ kind: 'retract_range', ...range });
    expect(status).toBe(200);
    for (const [key, event] of live) if (event.month === step.month) live.delete(key);
  } else if (id !== undefined) {
    const event = live.get(id)!;
    const { status } = await correct({
      kind: step.kind === 'retract' ? 'retract' : 'amend',
      transaction_id: id,
      ...(step.kind === 'amend' ? { properties: propertiesOf(step) } : {}),
      ...(step.kind === 'move' ? { timestamp: at(step.month) } : {}),
    });
    // An amendment that changes nothing is refused.
    if (status === 422) return;
    expect(status).toBe(200);
    if (step.kind === 'retract') live.delete(id);
    else live.set(id, { ...event, ...(step.kind === 'move' ? { month: step.month } : { n: step.n, team: step.team }) });
  }
}

async function play(own: Play): Promise<void> {
  const { before, between, after, hasMinimum, debits, byTeam } = own;
  const story = await open(own);
  const live = new Map<string, Live>();
  let sent = 0;
  const run = async (steps_: readonly Step[]) => {
    for (const step of steps_) {
      sent += 1;
      await perform(story, live, step, sent, debits);
    }
  };
  // Thresholds are looked at between the parts, so that what falls after them was billed before.
  const third = Math.ceil(before.length / 3);
  await run(before.slice(0, third));
  await story.advanceTo('2024-03-20T01:00:00Z');
  await run(before.slice(third, 2 * third));
  await story.advanceTo('2024-03-21T00:00:00Z');
  await run(before.slice(2 * third));
  await story.advanceTo('2024-04-02T00:00:00Z');
  const half = Math.ceil(between.length / 2);
  await run(between.slice(0, half));
  await story.advanceTo('2024-04-20T00:00:00Z');
  await run(between.slice(half));
  await story.advanceTo('2024-05-02T00:00:00Z');
  await run(after);
  await story.advanceTo('2024-06-02T00:00:00Z');

  const invoices = (await story.client.get('/invoices?per_page=100')).body.invoices;
  const notes = (await story.client.get('/credit_notes?per_page=100')).body.credit_notes;
  const billed = invoices.reduce(
    (sum: number, each: { fees_amount_cents: number; progressive_billing_credit_amount_cents: number }) =>
      sum + each.fees_amount_cents - each.progressive_billing_credit_amount_cents,
    0,
  );
  const credited = notes.reduce(
    (sum: number, each: { total_amount_cents: number }) => sum + each.total_amount_cents,
    0,
  );
  const unitsOf = (which: number) =>
    [...live.values()].reduce((sum, event) => sum + (event.month === which ? event.n : 0), 0);
  const floor = hasMinimum ? MINIMUM : 0;
  const units = [unitsOf(0), unitsOf(1), 0];
  const months = units.map((each) => Math.max(byTeam ? priceByTeam(each) : priceOf(each), floor));
  expect(billed - credited).toBe(months.reduce((sum, price) => sum + price, 0));
  const open_ = await story.client.get('/events/corrections?statuses[]=pending&statuses[]=applied&statuses[]=failed');
  expect(open_.body.corrections).toEqual([]);
}

// The same plays each time; others by RUNS and SEED.
const { RUNS = String(inLongRun(3, 2)), SEED = '20240304' } = process.env;
/** One play on a machine that others load too. */
const PLAY_MS = 80_000;

test('any order of events and corrections leads to the same total', { timeout: Number(RUNS) * PLAY_MS }, async () => {
  await fc.assert(fc.asyncProperty(plays, play), { numRuns: Number(RUNS), seed: Number(SEED), endOnFailure: true });
});
