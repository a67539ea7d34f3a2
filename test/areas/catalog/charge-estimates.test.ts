import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { ok } from '../../support/words.ts';

// console-reads.md#charge-estimates.
let service: TestService;
let client: Awaited<ReturnType<TestService['org']>>;

beforeAll(async () => {
  service = await startService();
  client = await service.org();
});
afterAll(() => service.stop());

const estimate = (charge_estimate: object) => client.post('/charge_estimates', { charge_estimate });
const range = (from_value: number, to_value: number | null, per_unit_amount: string, flat_amount = '0') => ({
  from_value,
  to_value,
  per_unit_amount,
  flat_amount,
});

test.each<[string, string, object, string, string[], number[], number | undefined]>([
  ['CO1', 'standard', { amount: '0.05' }, 'USD', ['1234.5'], [6173], undefined],
  [
    'CO2',
    'graduated',
    { graduated_ranges: [range(0, 1000, '0'), range(1001, 10000, '0.005'), range(10001, null, '0.003', '10')] },
    'USD',
    ['1000', '1001', '12500'],
    [0, 1, 6250],
    undefined,
  ],
  ['CO3', 'package', { amount: '100', package_size: 10, free_units: 5 }, 'USD', ['15.01'], [20000], undefined],
  [
    'CO4',
    'volume',
    { volume_ranges: [range(0, 100, '2', '1'), range(101, null, '1')] },
    'USD',
    ['100', '100.5', '101'],
    [20100, 10050, 10100],
    undefined,
  ],
  ['CO5', 'percentage', { rate: '1.3', fixed_amount: '0.5' }, 'USD', ['1000'], [1450], 3],
  ['CO7', 'standard', { amount: '0.5' }, 'JPY', ['3'], [2], undefined],
])('%s: %s %j in %s for %j units costs %j', async (_case, charge_model, properties, currency, units, cents, events) => {
  const body = await ok(
    estimate({ charge_model, properties, currency, units, ...(events === undefined ? {} : { events_count: events }) }),
  );
  expect(body.charge_estimate.results.map((each: { amount_cents: number }) => each.amount_cents)).toEqual(cents);
});

test('a dynamic charge makes its fee of what the events name together', async () => {
  const terms = { amount_currency: 'USD', conversion_rate: '0.92', markup_rate: '20' };
  const asked = { charge_model: 'dynamic', properties: terms, currency: 'EUR', units: ['3', '0'] };
  const body = await ok(estimate({ ...asked, precise_total_amount_cents: '2.9648' }));
  const figures = body.charge_estimate.results.map((each: Record<string, unknown>) => [
    each.amount_cents,
    each.precise_amount_cents,
  ]);
  expect(figures).toEqual([
    [3, '3.2731392'],
    [0, '0.0'],
  ]);
  const details = async (changes: object) => (await estimate({ ...asked, ...changes })).body.error_details;
  expect(await details({})).toEqual({ precise_total_amount_cents: ['value_is_mandatory'] });
  expect(await details({ precise_total_amount_cents: '9'.repeat(300) })).toEqual({
    precise_total_amount_cents: ['value_is_too_long'],
  });
  expect(await details({ precise_total_amount_cents: '1', properties: { amount_currency: 'USD' } })).toEqual({
    conversion_rate: ['value_is_mandatory'],
  });
  expect(await details({ charge_model: 'custom', properties: {} })).toEqual({ charge_model: ['unsupported_value'] });
});

test('what a plan would refuse is refused, and nothing is stored', async () => {
  const good = { charge_model: 'standard', properties: { amount: '1' }, currency: 'USD', units: ['1'] };
  const details = async (changes: object) => (await estimate({ ...good, ...changes })).body.error_details;
  expect(await details({ properties: { amount: 'x' } })).toEqual({ properties: ['invalid_amount'] });
  expect(await details({ units: undefined })).toEqual({ units: ['value_is_mandatory'] });
  expect(await details({ units: ['-1'] })).toEqual({ units: ['value_is_invalid'] });
  expect(await details({ units: Array(201).fill('1') })).toEqual({ units: ['value_is_too_long'] });
  expect(await details({ currency: 'ABC' })).toEqual({ currency: ['value_is_invalid'] });
  expect(await details({ charge_model: 'none' })).toEqual({ charge_model: ['value_is_invalid'] });
  const { body } = await client.post('/api_keys', { api_key: { permissions: { plan: ['read'] } } });
  const reader = service.client(body.api_key.value);
  expect((await reader.post('/charge_estimates', { charge_estimate: good })).status).toBe(200);
});
