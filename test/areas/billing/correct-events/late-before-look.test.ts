import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { settleTakenEvents, takeLateEvents } from '../../../../src/areas/usage/event-corrections/taken-late-events.ts';
import type { CorrectionId, EventId, OrganizationId } from '../../../../src/platform/ids.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { ok, type Shown } from '../../../support/words.ts';

// When the hourly job looks does not matter to late usage: event-corrections.md#late-events. 13 units of March cost
// 10.00 each and are invoiced on 1 April.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const IN_MARCH = '2024-03-20T00:00:00Z';

async function april(late_events: string): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n' });
  await story.plan({
    amount_cents: 0,
    usage_policies: { late_events },
    charges: [
      { billable_metric_id: metric.svc_id, code: 'units', charge_model: 'standard', properties: { amount: '10' } },
    ],
  });
  await story.subscribe();
  await story.advanceTo('2024-03-10T00:00:00Z');
  await story.use('units', { n: '13' }, { transaction_id: 'thirteen' });
  await story.advanceTo('2024-04-02T00:10:00Z');
  return story;
}

const late = (story: Story, transaction_id: string, n: number) =>
  story.use('units', { n: `${n}` }, { transaction_id, at: IN_MARCH });

const correct = async (story: Story, fields: object): Promise<Shown> =>
  (
    await ok(
      story.client.post('/events/corrections', {
        correction: { reason: 'wrong', external_subscription_id: 'sub', ...fields },
      }),
    )
  ).correction;

/** What was billed beyond the first invoice, and what was given back, in cents. */
async function money(story: Story): Promise<[billed: number, credited: number]> {
  await story.advanceTo('2024-05-02T00:00:00Z');
  const { invoices } = await ok(story.client.get('/invoices?per_page=100'));
  const { credit_notes } = await ok(story.client.get('/credit_notes?per_page=100'));
  const sum = (list: Shown[], key: string) => list.reduce((total: number, each) => total + each[key], 0);
  return [sum(invoices, 'fees_amount_cents') - 13_000, sum(credit_notes, 'sub_total_excluding_taxes_amount_cents')];
}

const AMEND = { kind: 'amend', transaction_id: 'late', properties: { n: '8' } };
const RETRACT = { kind: 'retract', transaction_id: 'late' };
const RANGE = { kind: 'retract_range', timestamp_from: '2024-03-19', timestamp_to: '2024-03-21' };

// Five late units, then a correction, before and after the look.
describe.each([
  ['before it was looked at', false],
  ['after it was looked at', true],
])('late usage that is corrected %s', (_name, isLookedAt) => {
  test.each([
    ['next_invoice', 'amended to 8 and ignored: 5 are billed (CO23)', AMEND, 'ignore', [5000, 0]],
    ['next_invoice', 'amended to 8 and billed: 8 are billed', AMEND, 'next_invoice', [8000, 0]],
    ['credit_note', 'amended to 8 and billed: 3 are billed', AMEND, 'next_invoice', [3000, 0]],
    ['ignore', 'amended to 8 and billed: it is taken in as a whole', AMEND, 'next_invoice', [8000, 0]],
    ['next_invoice', 'retracted and ignored: it stays billed', RETRACT, 'ignore', [5000, 0]],
    ['debit_invoice', 'retracted: it is billed and given back', RETRACT, 'next_invoice', [5000, 5000]],
    ['credit_note', 'retracted: nothing is billed or given back', RETRACT, 'next_invoice', [0, 0]],
    ['ignore', 'retracted: nothing is billed or given back', RETRACT, 'next_invoice', [0, 0]],
    ['debit_invoice', 'in a range that is retracted: it is billed and given back', RANGE, 'next_invoice', [5000, 5000]],
  ])('came under %s and is %s', async (policy, _case, correction, by, expected) => {
    const story = await april(policy);
    await late(story, 'late', 5);
    if (isLookedAt) await story.advanceTo('2024-04-02T02:10:00Z');
    await correct(story, { ...correction, policy: by });
    await story.advanceTo('2024-04-02T04:10:00Z');
    expect(await money(story)).toEqual(expected);
  });
});

test('a dry run settles late usage first too, and keeps nothing of it', async () => {
  const story = await april('debit_invoice');
  await late(story, 'late', 5);
  const { adjustments } = await correct(story, { ...AMEND, policy: 'next_invoice', dry_run: true });
  expect(adjustments).toMatchObject([{ old_amount_cents: 18_000, delta_amount_cents: 3000 }]);
  expect((await ok(story.client.get('/events/corrections?kinds[]=late_events'))).corrections).toEqual([]);
  expect((await ok(story.client.get('/invoices'))).invoices).toHaveLength(1);
});

test('a look that was overtaken settles none of what an amendment has taken in, and names no other correction', async () => {
  const story = await april('debit_invoice');
  await late(story, 'late', 5);
  await story.advanceTo('2024-04-02T02:10:00Z');
  const { svc_id: amendment } = await correct(story, { ...AMEND, transaction_id: 'thirteen', policy: 'ignore' });
  const [event] = await service.sql<{ event_id: EventId; correction_id: CorrectionId }[]>`
    select event_id, correction_id from taken_late_events
    where organization_id = ${story.organizationId} and correction_id is not null`;
  const scope = { db: service.sql, organizationId: story.organizationId as OrganizationId };
  expect(await takeLateEvents(scope, [event!.event_id], Temporal.Instant.from(IN_MARCH))).toEqual([]);
  await settleTakenEvents(scope, [event!.event_id], amendment);
  const rows = await service.sql`
    select event_id, correction_id from taken_late_events
    where organization_id = ${story.organizationId} and event_id = ${event!.event_id}`;
  expect([...rows]).toEqual([event]);
});
