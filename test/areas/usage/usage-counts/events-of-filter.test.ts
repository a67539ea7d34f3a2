import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isOfFilter } from '../../../../src/areas/usage/usage-counts/events-of-filter.ts';
import { bucketOf } from '../../../../src/engine/explain/filter-of-usage.ts';
import type { StoredFeeInputs } from '../../../../src/engine/explain/stored-inputs.ts';
import { ALL_FILTER_VALUES, type ChargeFilter, filterChooser } from '../../../../src/engine/metrics/choose-filter.ts';
import { json } from '../../../../src/platform/db/values.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';

// Which filter of a charge takes an event is one rule (groups-and-filters.md#matching-filters): read from rollups and
// from raw events.
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const DECLARED = { region: ['eu', 'us', 'ap'], cloud: ['aws', 'gcp'], tier: ['a', 'b'] };
type Key = keyof typeof DECLARED;

interface Stored {
  id: string;
  values: Record<string, string[]>;
  created_at: string;
}

const valuesOf = (key: Key) =>
  fc.oneof(fc.constant([ALL_FILTER_VALUES]), fc.subarray(DECLARED[key], { minLength: 1 }), fc.constant(['mars']));
const filterValues = fc
  .record({ region: valuesOf('region'), cloud: valuesOf('cloud'), tier: valuesOf('tier') }, { requiredKeys: [] })
  .filter((values) => Object.keys(values).length > 0);
/** Filters that were made at few instants, whose texts sort differently from the instants. */
const filters = fc
  .uniqueArray(
    fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'),
      values: filterValues,
      created_at: fc.constantFrom('2024-03-01T00:00:00Z', '2024-03-01T00:00:00.5Z', '2024-03-02T00:00:00Z'),
    }),
    { selector: ({ id }) => id, minLength: 1, maxLength: 7 },
  )
  .map((all) => all as Stored[]);

const TEXTS = ['eu', 'us', 'mars', null].flatMap((region) =>
  ['aws', 'gcp', '', null].flatMap((cloud) => ['a', 'b', null].map((tier) => ({ region, cloud, tier }))),
);

/** The bucket of each of the texts by SQL, as the fees' stored inputs tell it: of a filter its id. */
async function bucketsInSql(stored: readonly Stored[]) {
  const { sql } = database;
  const found: string[][] = TEXTS.map(() => []);
  for (const charge_filter_id of [...stored.map(({ id }) => id), null]) {
    const inputs = {
      price: { charge_filter_id, sibling_filters: stored },
      metric: { filters: Object.entries(DECLARED).map(([key, values]) => ({ key, values })) },
    } as unknown as StoredFeeInputs;
    const { own, ranked } = bucketOf(inputs);
    const rows = await sql<{ n: number }[]>`
      select n::int from jsonb_array_elements(${json(TEXTS)}::jsonb) with ordinality as event (properties, n)
      where ${isOfFilter(sql, sql`event.properties`, ranked, own)}`;
    for (const { n } of rows) found[n - 1]!.push(charge_filter_id ?? 'default');
  }
  return found;
}

/** An older filter that a narrower one beats, beside one in between. */
const THREE: Stored[] = [
  { id: 'a', values: { region: ['eu', 'us'] }, created_at: '2024-03-01T00:00:00Z' },
  { id: 'b', values: { cloud: [ALL_FILTER_VALUES] }, created_at: '2024-03-01T00:00:00.5Z' },
  { id: 'c', values: { region: ['eu'] }, created_at: '2024-03-02T00:00:00Z' },
];

test('raw events and rollups put every event into the same single bucket', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(filters, async (stored) => {
      const charge = stored.map(
        (each): ChargeFilter => ({
          ...each,
          created_at: Temporal.Instant.from(each.created_at),
        }),
      );
      const choose = filterChooser(charge, DECLARED);
      expect(await bucketsInSql(stored)).toEqual(TEXTS.map((texts) => [choose(texts)?.id ?? 'default']));
    }),
    { numRuns: 60, examples: [[THREE]] },
  );
});
