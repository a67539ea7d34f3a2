import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { ok, type Shown } from '../../../support/words.ts';

// Migrations 0032 and 0033 repair what was stored of corrections and of copied fees, and fill what they add. Rows are
// brought into the form that they find: 13 units of March cost 10.00 each and are invoiced on 1 April.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const migration = readFileSync('migrations/0032_keep_what_notes_gave_back.sql', 'utf8');
const [repairs] = migration.match(/with row as[\s\S]*?(?=alter table)/)!;
const [fills] = migration.match(/update correction_adjustments set given_back[\s\S]*?(?=drop index)/)!;

async function april({ plan = {}, team = 'red' }: { plan?: object; team?: string } = {}): Promise<Story> {
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
        properties: { amount: '10', pricing_group_keys: ['team'] },
      },
    ],
    ...plan,
  });
  await story.subscribe();
  await story.advanceTo('2024-03-10T00:00:00Z');
  for (const [transaction_id, n] of [
    ['six', '6'],
    ['four', '4'],
    ['three', '3'],
  ] as const)
    await story.use('units', { n, team }, { transaction_id });
  await story.advanceTo('2024-04-02T00:00:00Z');
  return story;
}

const correct = async (story: Story, fields: object): Promise<Shown> =>
  (
    await ok(
      story.client.post('/events/corrections', {
        correction: { reason: 'wrong', external_subscription_id: 'sub', ...fields },
      }),
    )
  ).correction;
const amend = (story: Story, transaction_id: string, n: number, fields: object = {}) =>
  correct(story, { kind: 'amend', transaction_id, properties: { n: `${n}`, team: 'red' }, ...fields });

interface Row {
  delta: number;
  settled: number;
  left: number;
}

/** Brings the corrections of a story, oldest first, into a former form. */
async function former(story: Story, rows: readonly Row[]): Promise<void> {
  for (const [nth, { delta, settled, left }] of rows.entries())
    await service.sql`
      update correction_adjustments set delta_amount_cents = ${delta}, settled_amount_cents = ${settled},
        left_amount_cents = ${left}, old_amount_cents = new_amount_cents - ${delta}
      where id = (select id from correction_adjustments where organization_id = ${story.organizationId}
        order by id offset ${nth} limit 1)`;
}

/** What each left, oldest first; with what it settled it is its difference. */
async function leftOf(story: Story): Promise<number[]> {
  const rows = await service.sql<{ left: number; settled: number; delta: number }[]>`
    select left_amount_cents as left, settled_amount_cents as settled, delta_amount_cents as delta
    from correction_adjustments
    where organization_id = ${story.organizationId} and new_amount_cents - old_amount_cents = delta_amount_cents
    order by id`;
  expect(rows.map(({ left, settled }) => left + settled)).toEqual(rows.map(({ delta }) => delta));
  return rows.map(({ left }) => left);
}

describe('what corrections left before 0029, which gave the whole of it to the newest one', () => {
  test.each<[string, Row[], number[]]>([
    [
      'is that of each correction: 30.00, then 10.00, then 5.00 less',
      [
        { delta: 3000, settled: 0, left: 0 },
        { delta: 4000, settled: 0, left: 0 },
        { delta: 3500, settled: 0, left: 3500 },
      ],
      [3000, 1000, -500],
    ],
    [
      'is only what no correction took up since: 30.00 taken up by a fee of 40.00, then 20.00 and 10.00',
      [
        { delta: 3000, settled: 0, left: 0 },
        { delta: 4000, settled: 4000, left: 0 },
        { delta: 2000, settled: 0, left: 0 },
        { delta: 3000, settled: 0, left: 3000 },
      ],
      [0, 0, 2000, 1000],
    ],
    [
      'is nothing where the last correction took up all of it',
      [
        { delta: 3000, settled: 0, left: 0 },
        { delta: 4000, settled: 4000, left: 0 },
      ],
      [0, 0],
    ],
    [
      'stays with corrections that were made since',
      [
        { delta: 3000, settled: 0, left: 0 },
        { delta: 4000, settled: 0, left: 4000 },
        { delta: 700, settled: 0, left: 700 },
        { delta: -200, settled: 0, left: -200 },
      ],
      [3000, 1000, 700, -200],
    ],
  ])('%s', async (_case, rows, expected) => {
    const story = await april();
    for (const [nth] of rows.entries()) await amend(story, 'three', 5 + nth, { policy: 'ignore' });
    await former(story, rows);
    await service.sql.unsafe(repairs);
    expect(await leftOf(story)).toEqual(expected);
    await service.sql.unsafe(repairs);
    expect(await leftOf(story)).toEqual(expected);
  });

  test('is undone by a correction of its own event, and by no other one', async () => {
    const story = await april();
    await amend(story, 'three', 6, { policy: 'ignore' });
    await amend(story, 'four', 5, { policy: 'ignore' });
    await former(story, [
      { delta: 3000, settled: 0, left: 0 },
      { delta: 4000, settled: 0, left: 4000 },
    ]);
    await service.sql.unsafe(repairs);
    const retract = (transaction_id: string) => correct(story, { kind: 'retract', transaction_id });
    expect((await retract('three')).adjustments).toMatchObject([
      { delta_amount_cents: -6000, left_amount_cents: -3000 },
    ]);
    expect((await retract('four')).adjustments).toMatchObject([
      { delta_amount_cents: -5000, left_amount_cents: -1000 },
    ]);
  });
});

test('late events name the correction that settled them, and those that an amendment took in do not', async () => {
  const story = await april({ plan: { usage_policies: { late_events: 'credit_note' } } });
  const at = '2024-03-20T00:00:00Z';
  await story.use('units', { n: '5', team: 'red' }, { transaction_id: 'late', at });
  await story.advanceTo('2024-04-02T02:00:00Z');
  await story.use('units', { n: '2', team: 'red' }, { transaction_id: 'later', at });
  await story.advanceTo('2024-04-02T04:00:00Z');
  await amend(story, 'six', 7);
  const taken = () => service.sql<{ transaction_id: string; correction_id: string | null }[]>`
    select event.transaction_id, taken.correction_id from taken_late_events taken
    join events event on event.id = taken.event_id
    where taken.organization_id = ${story.organizationId} order by event.id`;
  const stored = [...(await taken())];
  expect(stored).toMatchObject([
    { transaction_id: 'six', correction_id: null },
    { transaction_id: 'late', correction_id: expect.any(String) },
    { transaction_id: 'later', correction_id: expect.any(String) },
  ]);
  expect(stored[1]!.correction_id).not.toBe(stored[2]!.correction_id);
  await service.sql`update taken_late_events set correction_id = null where organization_id = ${story.organizationId}`;
  await service.sql.unsafe(repairs);
  expect([...(await taken())]).toEqual(stored);
});

test('what notes gave back is told from what was netted', async () => {
  const story = await april();
  const move = (transaction_id: string, n: number) =>
    correct(story, { kind: 'amend', transaction_id, properties: { n: `${n}`, team: 'blue' } });
  // A fall of 30.00 of which 20.00 are netted, one of 40.00, and one that is netted altogether.
  await move('three', 2);
  await correct(story, { kind: 'retract', transaction_id: 'four' });
  await move('six', 6);
  const given = () => service.sql<{ delta: number; given: number }[]>`
    select delta_amount_cents::int as delta, given_back_amount_cents::int as given from correction_adjustments
    where organization_id = ${story.organizationId} order by id`;
  const stored = [...(await given())];
  expect(stored).toEqual([
    { delta: 2000, given: 0 },
    { delta: -3000, given: 1000 },
    { delta: -4000, given: 4000 },
    { delta: -6000, given: 0 },
    { delta: 6000, given: 0 },
  ]);
  await service.sql`update correction_adjustments set given_back_amount_cents = 0`;
  await service.sql.unsafe(fills);
  expect([...(await given())]).toEqual(stored);
});

test('the copy of a fee that bills a difference names its correction, and usage of its own month is none of it', async () => {
  const story = await april();
  await amend(story, 'three', 8);
  await story.use('units', { n: '2', team: 'red' }, { transaction_id: 'two' });
  await story.advanceTo('2024-05-02T00:00:00Z');
  const [, next] = await story.invoices(2);
  await ok(story.client.post(`/invoices/${next!.svc_id}/void`));
  const fees = next!.fees.map(({ svc_id }: Shown) => ({ id: svc_id }));
  await ok(story.client.post(`/invoices/${next!.svc_id}/regenerate`, { invoice: { fees } }));
  const copies = () => service.sql<{ cents: number; correction_id: string | null }[]>`
    select amount_cents::int as cents, correction_id from fees
    where organization_id = ${story.organizationId} and original_fee_id is not null and amount_cents > 0
    order by amount_cents`;
  const stored = [...(await copies())];
  expect(stored).toMatchObject([
    { cents: 2000, correction_id: null },
    { cents: 5000, correction_id: expect.any(String) },
  ]);
  await service.sql`update fees set correction_id = null
    where organization_id = ${story.organizationId} and original_fee_id is not null`;
  await service.sql.unsafe(readFileSync('migrations/0033_name_corrections_of_copied_fees.sql', 'utf8'));
  expect([...(await copies())]).toEqual(stored);
  const { adjustments } = await amend(story, 'two', 3, { policy: 'debit_invoice' });
  expect(adjustments).toMatchObject([{ old_amount_cents: 2000, new_amount_cents: 3000, delta_amount_cents: 1000 }]);
});
