import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decimal } from '../../../src/engine/money/decimal.ts';
import { projectFee } from '../../../src/engine/pricing/projection.ts';
import { projectionBand } from '../../../src/engine/pricing/projection-band.ts';
import { usageFee } from '../../../src/engine/pricing/usage-fee.ts';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// console-reads.md#usage-series.
const range = (from_value: number, to_value: number | null, per_unit_amount: string, flat_amount = '0') => ({
  from_value,
  to_value,
  per_unit_amount,
  flat_amount,
});
const G = {
  graduated_ranges: [range(0, 1000, '0'), range(1001, 10000, '0.005'), range(10001, null, '0.003', '10')],
};
const VOLUME = { volume_ranges: [range(0, 100, '2', '1'), range(101, null, '1')] };

describe('the band of a projection', () => {
  const band = (model: 'graduated' | 'percentage', properties: object, units: string, eventsCount = 1) => {
    const terms = { charge_model: model, properties: properties as never, recurring: false, exponent: 2 };
    const fee = usageFee({
      ...terms,
      usage: { units: decimal(units), eventsCount },
      metric: { rounding_function: null, rounding_precision: null },
    });
    const projected = projectFee(fee, terms, { days: 18, of: 30 });
    const daily = ['500', '600', '700', '650', '800', '550', '600'].map(decimal);
    return {
      units: projected.units.toFixed(2),
      amount: projected.amountCents,
      ...projectionBand(fee, terms, { daily, daysLeft: 12 }, projected.amountCents),
    };
  };
  test('G on day 18 of 30 with 12 500 units is projected to 8750, between 8050 and 9130 (CO10)', () => {
    expect(band('graduated', G, '12500')).toEqual({ units: '20833.33', amount: 8750, lowCents: 8050, highCents: 9130 });
  });
  test('a percentage is not priced again: its band is the projection (CO11)', () => {
    expect(band('percentage', { rate: '1.3', fixed_amount: '0.5' }, '1000', 3)).toEqual({
      units: '1666.67',
      amount: 2417,
      lowCents: 2417,
      highCents: 2417,
    });
  });
  test('two days say nothing yet', () => {
    const terms = { charge_model: 'standard' as const, properties: { amount: '1' }, recurring: false, exponent: 2 };
    const fee = usageFee({
      ...terms,
      usage: { units: decimal('2'), eventsCount: 2 },
      metric: { rounding_function: null, rounding_precision: null },
    });
    const daily = ['1', '1'].map(decimal);
    expect(projectionBand(fee, terms, { daily, daysLeft: 9 }, fee.amountCents)).toBeUndefined();
  });
});

describe('usage by day', () => {
  let service: TestService;
  let story: Story;
  beforeAll(async () => {
    service = await startService();
    story = await openStory(service, '2026-11-01T00:00:00Z');
    const metric = await story.metric('calls', { aggregation_type: 'sum_agg', field_name: 'n' });
    for (const [code, charge_model, properties] of [
      ['g', 'graduated', G],
      ['v', 'volume', VOLUME],
    ] as const)
      await story.plan({
        name: code,
        code,
        amount_cents: 0,
        charges: [{ billable_metric_id: metric.svc_id, code: `calls-${code}`, charge_model, properties }],
      });
    await story.customer();
    for (const external_id of ['co8', 'co9', 'co43'])
      await ok(story.subscribe({ external_id, plan_code: external_id === 'co9' ? 'v' : 'g' }));
  });
  afterAll(() => service.stop());

  const use = (by: string, units: readonly number[], days: readonly number[]) =>
    Promise.all(
      units.map((n, index) =>
        story.use('calls', { n }, { by, at: `2026-11-${String(days[index]).padStart(2, '0')}T12:00:00Z` }),
      ),
    );
  const series = async (id: string, query = '') =>
    (await ok(story.client.get(`/subscriptions/${id}/usage_series?${query}`))).usage_series;

  test('a day costs what current usage rose by, also where a volume makes it fall (CO8, CO9, CO43)', async () => {
    const odd = [1, 3, 5, 7, 9, 11, 13, 15, 17];
    await use('co8', [900, 300, 9000, 4000], [1, 2, 3, 4]);
    await use('co9', [100, 1], [1, 2]);
    await use('co43', [143, 196, 249, 302, 355, 408, 461, 114, 167], odd);
    await story.advanceTo('2026-11-19T06:00:00Z');

    const co8 = await series('co8', 'from=2026-11-01&to=2026-11-05');
    expect(co8.steps).toEqual(['2026-11-01', '2026-11-02', '2026-11-03', '2026-11-04']);
    expect(co8.charges[0].cumulative_amount_cents).toEqual([0, 100, 5560, 6760]);
    expect(co8.charges[0].amount_cents).toEqual([0, 100, 5460, 1200]);
    expect(co8.charges[0].cumulative_units.map(Number)).toEqual([900, 1200, 10200, 14200]);
    expect((await series('co8', 'from=2026-11-03&to=2026-11-05')).charges[0].amount_cents).toEqual([5460, 1200]);

    const co9 = await series('co9', 'from=2026-11-01&to=2026-11-03');
    expect(co9.charges[0].cumulative_amount_cents).toEqual([20100, 10100]);
    expect(co9.charges[0].amount_cents).toEqual([20100, -10000]);

    const co43 = await series('co43');
    const amounts: (number | null)[] = co43.charges[0].amount_cents;
    expect(odd.map((day) => amounts[day - 1])).toEqual([0, 0, 0, 0, 123, 204, 230, 57, 84]);
    expect(amounts.slice(0, 19).reduce<number>((total, each) => total + each!, 0)).toBe(698);
    expect(amounts.slice(19)).toEqual(Array(11).fill(null));
    const { customer_usage } = await ok(
      story.client.get('/customers/acme/current_usage?external_subscription_id=co43&apply_taxes=false'),
    );
    expect([customer_usage.amount_cents, co43.cumulative_amount_cents[18]]).toEqual([698, 698]);
  });

  test('hours of a day stand apart, and bounds outside of the period are refused', async () => {
    const hours = await series('co8', 'step=hour&from=2026-11-02&to=2026-11-03');
    expect(hours.steps).toHaveLength(24);
    expect(hours.charges[0].amount_cents[12]).toBe(100);
    const refused = async (query: string) =>
      (await story.client.get(`/subscriptions/co8/usage_series?${query}`)).body.error_details;
    expect(await refused('from=2026-10-31')).toEqual({ from: ['value_is_out_of_range'] });
    expect(await refused('to=2026-12-02')).toEqual({ to: ['value_is_out_of_range'] });
    expect(await refused('from=soon&step=day')).toEqual({ from: ['invalid_date'] });
    expect(await refused('step=hour&from=2026-11-01&to=2026-11-05')).toEqual({ to: ['value_is_out_of_range'] });
    expect(await refused('step=week')).toEqual({ step: ['value_is_invalid'] });
    expect((await story.client.get('/subscriptions/none/usage_series')).status).toBe(404);
    expect((await story.client.get('/subscriptions/co8/usage_series?charge_code=none')).status).toBe(404);
  });

  describe('of a price that needs single events', () => {
    const transfers = async (code: string, count: number, from = 0) => {
      for (let first = from; first < from + count; first += 100)
        await ok(
          story.client.post('/events/batch', {
            events: Array.from({ length: Math.min(100, from + count - first) }, (_, n) => ({
              transaction_id: `${code}-${first + n}`,
              external_subscription_id: code,
              code,
              timestamp: String(1793534400 + ((first + n) % 18) * 86_400), // 1 to 18 November, at noon
              properties: { n: 10 },
            })),
          }),
        );
      await until(async () => (await service.sql`select from event_batches`).length === 0 || undefined);
    };
    /** Events of all subscriptions that statements have read, once their connections are closed. */
    const eventsRead = async () =>
      Number(
        (
          await service.sql`select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read) as rows from pg_stat_all_tables
            where schemaname not in ('pg_catalog', 'information_schema') and relname ~ '^events'`
        )[0]!.rows,
      );

    beforeAll(async () => {
      for (const [code, aggregation_type] of [
        ['few', 'sum_agg'],
        ['many', 'sum_agg'],
      ] as const) {
        const { svc_id } = await story.metric(code, { aggregation_type, field_name: 'n' });
        const properties = { rate: '1', per_transaction_min_amount: '0.5' };
        await story.plan({
          name: code,
          code,
          amount_cents: 0,
          charges: [{ billable_metric_id: svc_id, code, charge_model: 'percentage', properties }],
        });
        await ok(story.subscribe({ external_id: code, plan_code: code, subscription_at: '2026-11-01T00:00:00Z' }));
      }
    });

    test('it reads each event once, whatever the number of steps', async () => {
      await transfers('few', 1800);
      const before = await eventsRead();
      const { body } = await countStatements(service, story.organizationId, 'findUsageSeries', {
        now: '2026-11-19T06:00:00Z',
        external_id: 'few',
      });
      const read = await until(async () => ((await eventsRead()) > before ? await eventsRead() : undefined));
      expect(read - before).toBeLessThanOrEqual(2 * 1800); // it is asked twice
      const [charge] = body.usage_series.charges;
      expect(charge.is_partial).toBe(false);
      expect(charge.amount_cents.slice(0, 20)).toEqual([...Array(18).fill(5000), 0, null]); // 100 a day at 0.50
      expect(body.usage_series.cumulative_amount_cents[18]).toBe(90_000);
    });

    test('beyond 10 000 events it is counted and not priced, and nothing is projected', async () => {
      await transfers('many', 10_001);
      const [charge] = (await series('many')).charges;
      expect(charge.is_partial).toBe(true);
      expect(charge.cumulative_amount_cents).toEqual(Array(30).fill(null));
      expect(charge.cumulative_units[0]).toBe('5560.0'); // 556 events of 10
      expect(charge.cumulative_units[18]).toBe('100010.0');
      const { projection, cumulative_amount_cents } = await series('many');
      expect(projection).toEqual({ amount_cents: null, low_cents: null, high_cents: null });
      expect(cumulative_amount_cents[18]).toBeNull();
    });
  });

  test('at most six statements, whatever the number of events', async () => {
    const asked = () =>
      countStatements(service, story.organizationId, 'findUsageSeries', {
        now: '2026-11-19T06:00:00Z',
        external_id: 'co8',
      });
    const few = (await asked()).statements.length;
    expect(few).toBeLessThanOrEqual(6);
    for (let batch = 0; batch < 10; batch += 1)
      await ok(
        story.client.post('/events/batch', {
          events: Array.from({ length: 100 }, (_, n) => ({
            transaction_id: `many-${batch}-${n}`,
            external_subscription_id: 'co8',
            code: 'calls',
            timestamp: '1794484800',
            properties: { n: 1 },
          })),
        }),
      );
    expect((await asked()).statements).toHaveLength(few);
  });
});
