import { afterAll, beforeAll, expect, test } from 'vitest';
import { attempt } from '../../../../src/areas/billing/settle-usage/attempt-or-undo.ts';
import { keepPricesBefore } from '../../../../src/areas/billing/settle-usage/keep-prices-before-change.ts';
import { lockCorrections } from '../../../../src/areas/usage/event-corrections/lock-events.ts';
import type { Sql } from '../../../../src/platform/db/connect.ts';
import { type ExternalSubscriptionId, newId, type OrganizationId } from '../../../../src/platform/ids.ts';
import { dryRun } from '../../../../src/platform/records/nested.ts';
import { countReads, readingAt } from '../../../support/count-statements.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok, type Shown } from '../../../support/words.ts';

// Where corrections settle in turn (event-corrections.md#corrections-that-wait): between the pages of a long range,
// after a change of plan, at the end of a month in a zone. 10.00 a unit, from 15 March on 20.00 where the plan changed.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

interface World {
  story: Story;
  correct(fields: object): Promise<Shown>;
  /** Cents that corrections billed, gave back and left. */
  money(): Promise<[number, number, number]>;
}

/** 1 March: a customer whose taxes an engine finds, and what is other than usual of metric, charges and plans. */
async function march(customer: object = {}, { metric = {}, charge = {}, plan = {} } = {}): Promise<World> {
  const story = await openStory(service, '2024-03-01T12:00:00Z');
  const { client } = story;
  const engine = { type: 'anrok', code: 'engine', name: 'Engine', api_key: 'sandbox' };
  await ok(client.post('/integrations', { integration: engine }));
  const synced = { integration_type: 'anrok', integration_code: 'engine', sync_with_provider: true };
  await story.customer({ country: 'US', state: 'CO', integration_customers: [synced], ...customer });
  const { svc_id: billable_metric_id } = await story.metric('units', {
    aggregation_type: 'sum_agg',
    field_name: 'n',
    ...metric,
  });
  for (const [code, amount] of [
    ['plan', '10'],
    ['dearer', '20'],
  ] as const)
    await story.plan({
      code,
      amount_cents: code === 'plan' ? 0 : 100,
      usage_policies: { late_events: 'next_invoice' },
      charges: [{ billable_metric_id, code: 'charge', charge_model: 'standard', properties: { amount }, ...charge }],
      ...plan,
    });
  await story.subscribe();
  const sum = (list: Shown[], key: string) => list.reduce((total: number, each) => total + each[key], 0);
  return {
    story,
    async correct(fields) {
      const correction = { reason: 'wrong', external_subscription_id: 'sub', ...fields };
      return (await ok(client.post('/events/corrections', { correction }))).correction;
    },
    async money() {
      const { invoices } = await ok(client.get('/invoices?per_page=100&statuses[]=finalized'));
      const whole: Shown[] = await Promise.all(invoices.map(({ svc_id }: Shown) => story.invoice(svc_id)));
      const fees = whole.flatMap((invoice) => invoice.fees).filter(({ svc_correction_id: of }) => of !== undefined);
      const { credit_notes } = await ok(client.get('/credit_notes?per_page=100'));
      const { corrections } = await ok(client.get('/events/corrections?per_page=100'));
      expect(corrections.filter(({ status }: Shown) => status !== 'settled')).toEqual([]);
      const ofAll: Shown[] = await Promise.all(
        corrections.map(({ svc_id }: Shown) =>
          ok(client.get(`/events/corrections/${svc_id}/adjustments?per_page=100`)),
        ),
      );
      const left = ofAll.reduce((total, { adjustments }) => total + sum(adjustments, 'left_amount_cents'), 0);
      return [sum(fees, 'amount_cents'), sum(credit_notes, 'sub_total_excluding_taxes_amount_cents'), left];
    },
  };
}

const hold = ({ story }: World) => story.customer({ address_line1: '1 fail street' });

/** The taxes of all invoices come. */
async function issueNow({ story }: World): Promise<void> {
  await story.customer({ address_line1: '1 good street' });
  await until(async () => {
    const { meta } = await ok(story.client.get('/invoices?statuses[]=failed&statuses[]=pending'));
    return meta.total_count === 0 ? true : undefined;
  });
}

/** Voids the earliest final invoice and makes it anew. */
async function makeAnew({ story: { client, invoice } }: World): Promise<void> {
  const { invoices } = await ok(client.get('/invoices?per_page=100&statuses[]=finalized'));
  const { svc_id } = invoices.at(-1);
  const { fees } = await invoice(svc_id);
  await ok(client.post(`/invoices/${svc_id}/void`));
  const copied = fees.map(({ svc_id: id }: Shown) => ({ id }));
  await ok(client.post(`/invoices/${svc_id}/regenerate`, { invoice: { fees: copied } }));
}

async function issue(world: World, then = async () => {}): Promise<void> {
  const { story } = world;
  await issueNow(world);
  await then();
  await story.advanceTo('2024-04-03T00:00:00Z');
  await story.advanceTo('2024-05-02T00:00:00Z');
}

/** 4000 events on 15 March. */
async function sendMany(story: Story, code: string, properties: object): Promise<void> {
  const lines = Array.from({ length: 4000 }, (_, n) =>
    JSON.stringify({
      transaction_id: `one-${n}`,
      external_subscription_id: 'sub',
      code,
      timestamp: Date.parse('2024-03-15T00:00:00Z') / 1000 + n,
      properties,
    }),
  );
  const headers = { 'content-type': 'application/x-ndjson' };
  await ok(story.client.post('/events/bulk', undefined, { raw: lines.join('\n'), headers }));
}

test('an amendment between the pages of a long range settles only what it changed', { timeout: 120_000 }, async () => {
  const world = await march();
  const { story, correct, money } = world;
  await sendMany(story, 'units', { n: '1' });
  await story.use('units', { n: '10' }, { transaction_id: 'ten', at: '2024-03-10T00:00:00Z' });
  await story.advanceTo('2024-04-02T00:00:00Z');
  const days = { timestamp_from: '2024-03-01', timestamp_to: '2024-04-01', properties: { n: '1' } };
  const { svc_id } = await correct({ kind: 'retract_range', policy: 'ignore', ...days });
  const statuses = new Set<string>();
  for (let n = 11; n <= 16; n += 1) {
    const amended = { kind: 'amend', transaction_id: 'ten', properties: { n: `${n}` }, policy: 'next_invoice' };
    await correct(amended);
    statuses.add((await ok(story.client.get(`/events/corrections/${svc_id}`))).correction.status);
  }
  expect(statuses).toContain('pending');
  await until(async () => {
    const { correction } = await ok(story.client.get(`/events/corrections/${svc_id}`));
    return correction.status === 'settled' ? correction : undefined;
  }, 60_000);
  await story.advanceTo('2024-05-02T00:00:00Z');
  expect(await money()).toEqual([6000, 0, -4_000_000]);
});

test('an event that moves behind a change of plan is settled on both invoices that wait', async () => {
  const world = await march();
  const { story, correct, money } = world;
  await hold(world);
  await story.advanceTo('2024-03-10T00:00:00Z');
  await story.use('units', { n: '10' }, { transaction_id: 'ten' });
  await story.advanceTo('2024-03-15T00:00:00Z');
  await ok(story.subscribe({ plan_code: 'dearer' }));
  await story.use('units', { n: '3' }, { transaction_id: 'three', at: '2024-03-20T00:00:00Z' });
  await story.advanceTo('2024-04-02T00:00:00Z');
  const timestamp = Date.parse('2024-03-20T00:00:00Z') / 1000;
  await correct({ kind: 'amend', transaction_id: 'three', properties: { n: '8' }, policy: 'next_invoice' });
  await correct({ kind: 'amend', transaction_id: 'ten', timestamp, policy: 'ignore' });
  await correct({ kind: 'amend', transaction_id: 'ten', properties: { n: '12' }, policy: 'next_invoice' });
  await issue(world);
  // Three: 5 at 20.00. Ten: 100.00 less, 200.00 more, then 2 at 20.00.
  expect(await money()).toEqual([14_000, 0, 10_000]);
});

test('what waited for an invoice that was made anew meanwhile has its turn before what came late since', async () => {
  const world = await march();
  const { story, correct, money } = world;
  await hold(world);
  await story.advanceTo('2024-03-10T00:00:00Z');
  await story.use('units', { n: '10' }, { transaction_id: 'ten' });
  await story.advanceTo('2024-04-02T00:00:00Z');
  await correct({ kind: 'amend', transaction_id: 'ten', properties: { n: '12' }, policy: 'ignore' });
  await issueNow(world);
  await makeAnew(world);
  await issue(world, async () => {
    await story.use('units', { n: '5' }, { at: '2024-03-20T00:00:00Z' });
    await story.advanceTo('2024-04-02T00:30:00Z');
  });
  expect(await money()).toEqual([5000, 0, 2000]);
});

test('what comes late at the end of a month in a zone, and moves into the next month, is left there', async () => {
  const world = await march({ timezone: 'America/Los_Angeles' });
  const { story, correct, money } = world;
  await hold(world);
  await story.advanceTo('2024-03-10T00:00:00Z');
  await story.use('units', { n: '10' }, { transaction_id: 'ten' });
  await story.advanceTo('2024-04-02T00:00:00Z');
  // 31 March, 23:30 there; 1 April, 0:30.
  await story.use('units', { n: '5' }, { transaction_id: 'late', at: '2024-04-01T06:30:00Z' });
  await story.advanceTo('2024-04-02T02:00:00Z');
  const timestamp = Date.parse('2024-04-01T07:30:00Z') / 1000;
  await correct({ kind: 'amend', transaction_id: 'late', timestamp, policy: 'ignore' });
  await correct({ kind: 'amend', transaction_id: 'ten', properties: { n: '12' }, policy: 'debit_invoice' });
  await issue(world);
  // The late units are billed by the policy of the plan, and what falls by their move is left.
  expect(await money()).toEqual([7000, 0, -5000]);
});

const IN_ADVANCE = { pay_in_advance: true, invoiceable: true };

test('corrections of an event billed in advance keep their turns when its invoice is made anew', async () => {
  const world = await march({}, { charge: IN_ADVANCE });
  const { story, correct, money } = world;
  await hold(world);
  await story.advanceTo('2024-03-05T00:00:00Z');
  await story.use('units', { n: '3' }, { transaction_id: 'three' });
  await until(async () => (await ok(story.client.get('/fees?event_transaction_id=three'))).fees[0]);
  await correct({ kind: 'amend', transaction_id: 'three', properties: { n: '8' }, policy: 'next_invoice' });
  await issueNow(world);
  await makeAnew(world);
  await issueNow(world);
  await correct({ kind: 'amend', transaction_id: 'three', properties: { n: '6' }, policy: 'ignore' });
  await issue(world);
  // 30.00, 80.00, 60.00: the first bills 50.00, the second leaves what falls.
  expect(await money()).toEqual([5000, 0, -2000]);
});

test('a correction that waits behind another owes one step an hour, and that one too', async () => {
  const world = await march({}, { metric: { recurring: true } });
  const { story, correct, money } = world;
  await story.advanceTo('2024-03-10T00:00:00Z');
  await story.use('units', { n: '10' }, { transaction_id: 'ten' });
  await story.use('units', { n: '3' }, { transaction_id: 'three', at: '2024-04-20T00:00:00Z' });
  await story.advanceTo('2024-05-02T00:00:00Z');
  expect(await story.invoices(2)).toHaveLength(2);
  await hold(world);
  await makeAnew(world);
  await correct({ kind: 'amend', transaction_id: 'ten', properties: { n: '12' }, policy: 'next_invoice' });
  await correct({ kind: 'amend', transaction_id: 'three', properties: { n: '5' }, policy: 'ignore' });
  const owed: number[] = [];
  for (const hour of ['02', '04', '06']) {
    await story.advanceTo(`2024-05-02T${hour}:00:00Z`);
    const steps = await service.sql`
      select from after_steps where organization_id = ${story.organizationId} and job = 'settle-correction'`;
    owed.push(steps.length);
  }
  expect(owed).toEqual([2, 2, 2]);
  await issueNow(world);
  await story.advanceTo('2024-05-03T00:00:00Z');
  await story.advanceTo('2024-06-02T00:00:00Z');
  // 2 units more in March and in April by the first, 2 in April by the second.
  expect(await money()).toEqual([4000, 0, 2000]);
});

test('keeping prices before a change costs the same, however many corrections wait', async () => {
  const world = await march();
  const { story, correct, money } = world;
  await hold(world);
  await story.use('units', { n: '10' }, { transaction_id: 'ten' });
  await story.advanceTo('2024-04-02T00:00:00Z');
  const scope = { id: null, external_subscription_id: 'sub' as ExternalSubscriptionId };
  const costs: number[] = [];
  for (const n of ['11', '12', '13', '14', '15', '16']) {
    await correct({ kind: 'amend', transaction_id: 'ten', properties: { n }, policy: 'next_invoice' });
    const { statements } = await countReads(service, (sql) =>
      sql.begin((tx) =>
        dryRun(readingAt(service, tx as unknown as Sql, story.organizationId, '2024-04-02T00:00:00Z'), (on) =>
          keepPricesBefore(on, scope, { codes: ['units'] }),
        ),
      ),
    );
    costs.push(statements.length);
  }
  expect(new Set(costs).size).toBe(1);
  await issue(world);
  expect(await money()).toEqual([6000, 0, 0]);
});

const ALONE = { pay_in_advance: true, invoiceable: false };

test('a range settles a paid fee of carried units before each amendment between its pages', async () => {
  const world = await march({}, { metric: { recurring: true }, charge: ALONE });
  const { story, correct } = world;
  const { client } = story;
  await story.metric('noise', { aggregation_type: 'count_agg' });
  await story.advanceTo('2024-03-16T00:00:00Z');
  const at = '2024-03-10T00:00:00Z';
  await story.use('units', { n: '20', team: 'blue' }, { transaction_id: 'twenty', at });
  await story.use('units', { n: '-10', team: 'red' }, { transaction_id: 'ten', at });
  await sendMany(story, 'noise', { team: 'red' });
  await story.use('units', { n: '-5', team: 'red' }, { transaction_id: 'five', at });
  await story.advanceTo('2024-04-02T00:00:00Z');
  const { svc_id: paidId } = await until(async () => {
    const { fees } = await ok(client.get('/fees?fee_type=charge&per_page=100'));
    return fees.find(({ from_date, amount_cents }: Shown) => from_date >= '2024-04' && amount_cents === 5000);
  });
  await ok(client.put(`/fees/${paidId}`, { fee: { payment_status: 'succeeded' } }));
  const days = { timestamp_from: '2024-03-01', timestamp_to: '2024-04-01', properties: { team: 'red' } };
  const { svc_id: rangeId } = await correct({ kind: 'retract_range', policy: 'next_invoice', ...days });
  const ids: string[] = [];
  const statuses = new Set<string>();
  for (const n of ['21', '22', '23', '24', '25', '26']) {
    const properties = { n, team: 'blue' };
    ids.push((await correct({ kind: 'amend', transaction_id: 'twenty', properties, policy: 'ignore' })).svc_id);
    statuses.add((await ok(client.get(`/events/corrections/${rangeId}`))).correction.status);
  }
  expect(statuses).toContain('pending');
  await until(async () => {
    const { correction } = await ok(client.get(`/events/corrections/${rangeId}`));
    return correction.status === 'pending' || correction.status === 'applied' ? undefined : correction;
  }, 60_000);
  const changes = async (id: string): Promise<number> => {
    const { adjustments } = await ok(client.get(`/events/corrections/${id}/adjustments?per_page=100`));
    const own: Shown[] = adjustments.filter(({ svc_fee_id }: Shown) => svc_fee_id === paidId);
    return own.reduce((total, { delta_amount_cents: cents }) => total + cents, 0);
  };
  expect((await ok(client.get(`/events/corrections/${rangeId}`))).correction).toMatchObject({ status: 'settled' });
  // 5 units were carried into April: 15 more by the range, 1 more by each amendment.
  expect(await Promise.all([rangeId, ...ids].map(changes))).toEqual([15_000, 1000, 1000, 1000, 1000, 1000, 1000]);
});

test('a retry waits for other corrections of the subscription', async () => {
  const { story, correct } = await march();
  const { client } = story;
  await story.use('units', { n: '10' }, { transaction_id: 'ten' });
  const { svc_id } = await correct({ kind: 'amend', transaction_id: 'ten', properties: { n: '12' }, policy: 'ignore' });
  await service.sql`update event_corrections set status = 'failed' where id = ${svc_id}`;
  const scope = { organizationId: story.organizationId as OrganizationId };
  const done: string[] = [];
  const retried = await service.sql.begin(async (tx) => {
    await lockCorrections({ ...scope, db: tx as unknown as Sql }, ['sub' as ExternalSubscriptionId]);
    const answer = ok(client.post(`/events/corrections/${svc_id}/retry`)).then(() => done.push('retried'));
    await new Promise((resolve) => setTimeout(resolve, 500));
    done.push('other');
    return { answer };
  });
  await retried.answer;
  expect(done).toEqual(['other', 'retried']);
});

test('a statement that takes too long fails no correction', async () => {
  const { story } = await march();
  const during = (statement: string) =>
    service.sql.begin(async (tx) => {
      const ctx = readingAt(service, tx as unknown as Sql, story.organizationId, '2024-03-01T00:00:00Z');
      await tx`set local statement_timeout = 20`;
      return attempt(ctx, newId(), (on) => on.db.unsafe(statement) as Promise<unknown>);
    });
  await expect(during('select pg_sleep(5)')).rejects.toMatchObject({ code: '57014' });
  expect(await during('select 1 / 0')).toMatchObject({ failure: { status: 'failed' } });
});

test.each([
  ['waits for its taxes', true],
  ['is final at once', false],
])('what came late for a voided month has its turn first, where the regenerated one %s (CO31)', async (_, isHeld) => {
  const world = await march({}, { metric: { recurring: true } });
  const { story, correct, money } = world;
  const { client } = story;
  await story.advanceTo('2024-03-10T00:00:00Z');
  await story.use('units', { n: '10' }, { transaction_id: 'ten' });
  await story.advanceTo('2024-04-02T00:00:00Z');
  await story.advanceTo('2024-05-02T00:00:00Z');
  const [april] = await story.invoices(2);
  await ok(client.post(`/invoices/${april!.svc_id}/void`));
  await story.use('units', { n: '5' }, { at: '2024-03-20T00:00:00Z' });
  await story.advanceTo('2024-05-02T02:00:00Z');
  const { corrections } = await ok(client.get('/events/corrections'));
  expect(corrections).toMatchObject([{ kind: 'late_events', status: 'settled' }]);
  if (isHeld) await hold(world);
  const { fees } = await story.invoice(april!.svc_id);
  const copied = fees.map(({ svc_id: id }: Shown) => ({ id }));
  await ok(client.post(`/invoices/${april!.svc_id}/regenerate`, { invoice: { fees: copied } }));
  await correct({ kind: 'amend', transaction_id: 'ten', properties: { n: '12' }, policy: 'ignore' });
  await issueNow(world);
  await story.advanceTo('2024-05-03T00:00:00Z');
  await story.advanceTo('2024-06-02T00:00:00Z');
  // 5 late units are billed for March and for April, and 2 are left of each.
  expect(await money()).toEqual([10_000, 0, 4000]);
});

// Weeks, from a Monday on, where the golden case has months: a correction that waits is looked at every hour.
const WEEKS_OF_STOCK = {
  metric: { aggregation_type: 'weighted_sum_agg', recurring: true, weighted_interval: 'seconds' },
  plan: { interval: 'weekly' },
};

/** Amounts of the fees of usage, without those of corrections, by the first day that they are for. */
async function billedByPeriod({ client, invoice }: Story): Promise<Record<string, number>> {
  const { invoices } = await ok(client.get('/invoices?per_page=100&statuses[]=finalized'));
  const whole: Shown[] = await Promise.all(invoices.map(({ svc_id }: Shown) => invoice(svc_id)));
  const fees = whole
    .flatMap((each) => each.fees)
    .filter(({ item, svc_correction_id: of }) => item.type === 'charge' && of === undefined);
  return Object.fromEntries(fees.map(({ from_date, amount_cents }) => [from_date.slice(0, 10), amount_cents]));
}

test.each([
  ['next_invoice', [4000, 0, 0]],
  ['ignore', [0, 0, 4000]],
] as const)(
  'periods that are billed while a correction waits go on from its total (CO32): %s',
  async (policy, money) => {
    const world = await march({}, WEEKS_OF_STOCK);
    const { story, correct } = world;
    await story.advanceTo('2024-04-02T00:00:00Z');
    await story.use('units', { n: '10' }, { transaction_id: 'ten', at: '2024-04-01T00:00:00Z' });
    await hold(world);
    await story.advanceTo('2024-04-09T00:00:00Z');
    await story.advanceTo('2024-04-14T22:00:00Z');
    await correct({ kind: 'amend', transaction_id: 'ten', properties: { n: '14' }, policy });
    await story.advanceTo('2024-04-15T02:00:00Z');
    await story.advanceTo('2024-04-22T02:00:00Z');
    await issueNow(world);
    await story.advanceTo('2024-04-23T00:00:00Z');
    await story.advanceTo('2024-04-30T00:00:00Z');
    expect(await world.money()).toEqual(money);
    const billed = { '2024-04-01': 10_000, '2024-04-08': 14_000, '2024-04-15': 14_000, '2024-04-22': 14_000 };
    expect(await billedByPeriod(story)).toMatchObject(billed);
  },
);
