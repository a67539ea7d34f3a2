import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CountedFee, listEventsOfFee } from '../../../src/areas/invoices/fee-explanations/counted-events.ts';
import { listFeeInputs } from '../../../src/areas/invoices/fee-explanations/queries.ts';
import { keepEventKeys } from '../../support/keep-event-keys.ts';
import { rowsOfEventsRead } from '../../support/rows-of-events-read.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';

// The events behind a fee of a window that holds very many. Rule: fee-explanations.md.
let service: TestService;
let story: Story;
let fee: CountedFee;
const MANY = 60_000;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  const metric = { name: 'Calls', aggregation_type: 'sum_agg', field_name: 'n' };
  const { svc_id: billable_metric_id } = await story.metric('calls', metric);
  const charge = { charge_model: 'standard', properties: { amount: '1' } };
  await story.plan({ amount_cents: 0, charges: [{ billable_metric_id, ...charge }] });
  await story.subscribe();
  for (const n of [0, 1, 2])
    await story.use('calls', { n: 1 }, { at: `2024-03-30T0${n}:00:00Z`, transaction_id: `sent-${n}` });
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [invoice] = await story.invoices(1);
  const { svc_id } = invoice.fees.find(({ item }: { item: { type: string } }) => item.type === 'charge');
  // As if they had been counted too: their ids are older than the fee.
  await service.sql`
    insert into events (id, organization_id, external_subscription_id, transaction_id, code, timestamp, properties,
      digest, created_at)
    select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, ${story.organizationId}, 'sub',
      'event-' || n,
      'calls', timestamptz '2024-03-01T00:00:00Z' + (n * 7919 % ${MANY}) / 2 * interval '40 seconds',
      '{"n": 1}'::jsonb, '\\x00', '2024-03-01T00:00:00Z'
    from generate_series(0, ${MANY - 1}::int) as n`;
  await keepEventKeys(service.sql);
  await service.sql`analyze events`;
  const [stored] = await listFeeInputs({ db: service.sql, organizationId: story.organizationId }, [svc_id]);
  fee = { ...stored!, external_subscription_id: 'sub' };
});
afterAll(() => service.stop());

const list = (query = '') => story.client.get(`/fees/${fee.fee_id}/events?${query}`);

test('the first page of the events behind a fee reads a bounded number of them', async () => {
  const read = await rowsOfEventsRead(service, async (db) => {
    const rows = await listEventsOfFee({ db, organizationId: story.organizationId }, fee, { limit: 20, offset: 0 });
    expect(rows).toHaveLength(20);
  });
  // Two events share each instant: the page, and those that may come before its last one.
  expect(read).toBeLessThan(200);
});

test('pages of the events behind a fee follow the list in order, and events corrected later appear as they were', async () => {
  const retracted = await story.client.post('/events/corrections', {
    correction: { kind: 'retract', external_subscription_id: 'sub', transaction_id: 'event-0', reason: 'sent twice' },
  });
  expect(retracted.text).toContain('"correction"');
  const whole = (await list('per_page=100')).body;
  expect(whole.events[0].transaction_id).toBe('event-0');
  const pages = [];
  for (const page of [1, 2, 3, 4]) pages.push(...(await list(`per_page=25&page=${page}`)).body.events);
  expect(pages).toEqual(whole.events);
  const times = whole.events.map(({ timestamp }: { timestamp: string }) => timestamp);
  expect(times).toEqual([...times].sort());
});

test('a long list of events is counted by estimate, and a page too deep in it is refused', async () => {
  const { meta } = (await list()).body;
  expect(meta).toMatchObject({ current_page: 1, next_page: 2, total_count_estimated: true });
  expect(meta.total_count).toBeGreaterThan(10_000);
  const deep = await list('per_page=1000&page=52');
  expect([deep.status, deep.body.error_details]).toEqual([422, { page: ['value_is_out_of_range'] }]);
});

// groups-and-filters.md#matching-filters: the narrower [eu] beats [eu, us], and the older of what is left wins.
test.each([
  ['', {}],
  ['recurring ', { recurring: true }],
])(
  'an event that three filters of a %ssum take is among the events of its fee, and proves it',
  async (_kind, fields) => {
    const own = await openStory(service, '2024-03-01T00:00:00Z');
    await own.customer();
    const filters = [
      { key: 'region', values: ['eu', 'us'] },
      { key: 'cloud', values: ['aws', 'gcp'] },
    ];
    const metric = { name: 'Calls', aggregation_type: 'sum_agg', field_name: 'n', filters, ...fields };
    const { svc_id: billable_metric_id } = await own.metric('calls', metric);
    const priced = (values: object, amount: string) => ({ values, properties: { amount } });
    const charge = {
      billable_metric_id,
      charge_model: 'standard',
      properties: { amount: '1' },
      filters: [
        priced({ region: ['eu', 'us'] }, '2'),
        priced({ cloud: ['__ALL_FILTER_VALUES__'] }, '3'),
        priced({ region: ['eu'] }, '4'),
      ],
    };
    await own.plan({ amount_cents: 0, charges: [charge] });
    await own.subscribe();
    const properties = { n: 7, region: 'eu', cloud: 'gcp' };
    await own.use('calls', properties, { at: '2024-03-10T00:00:00Z', transaction_id: 'three' });
    await own.advanceTo('2024-04-02T00:00:00Z');
    const [invoice] = await own.invoices(1);
    const billed = invoice.fees.filter(({ amount_cents: cents }: { amount_cents: number }) => cents > 0);
    expect(billed).toMatchObject([{ amount_cents: 2100, units: '7.0' }]);
    const { events } = (await own.client.get(`/fees/${billed[0].svc_id}/events`)).body;
    expect(events.map(({ transaction_id: id }: { transaction_id: string }) => id)).toEqual(['three']);
    const verified = await own.client.post(`/invoices/${invoice.svc_id}/verify`, { verification: { level: 'events' } });
    expect(verified.body.verification).toMatchObject({ status: 'equal', differences: [] });
  },
);
