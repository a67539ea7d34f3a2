import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { priceShares, toCount } from '../../src/areas/usage/usage/price-usage.ts';
import type { PricedCharge } from '../../src/areas/usage/usage/priced-charges.ts';
import type { CountedShare } from '../../src/areas/usage/usage-counts/request.ts';
import { figuresOf, type Portion, type ReadEvent } from '../../src/areas/usage/usage-counts/units-of-shares.ts';
import { bucketOfEvents } from '../../src/engine/metrics/bucket-of-events.ts';
import { numericValue } from '../../src/engine/metrics/numeric-text.ts';
import type { Proration } from '../../src/engine/metrics/proration.ts';
import { splitUsage } from '../../src/engine/metrics/split-usage.ts';
import { holdsTaken } from '../../src/engine/metrics/usage-bucket.ts';
import { cents } from '../../src/engine/money/cents.ts';
import { decimal } from '../../src/engine/money/decimal.ts';
import { spendingTrueUp } from '../../src/engine/pricing/spending-minimum.ts';
import { inLongRun } from '../support/long-run.ts';
import { decimalOf } from './fraction.ts';
import { dayOf, feesOf, trueUpOf, type WorldCharge, type WorldEvent, type WorldPeriod } from './usage.ts';
import { charges, eventsBetween } from './worlds.ts';

// What the rules of usage cost, against an oracle that was written from docs/rules alone and computes with
// fractions. A failure prints its seed: SEED=… plays it again, RUNS=… plays more worlds.
const SEED = Number(process.env.SEED ?? 20240301);
const RUNS = Number(process.env.RUNS ?? inLongRun(1500, 600));

const ZONES = ['UTC', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Apia', 'America/Santiago'];
const MARCH = Date.UTC(2024, 2, 1);
const DAY = 86_400_000;

/** A period within March and the days before it, whose ends are whole seconds. */
const periods: fc.Arbitrary<WorldPeriod> = fc
  .record({
    zone: fc.constantFrom(...ZONES),
    first: fc.integer({ min: 0, max: 20 * 86_400 }),
    length: fc.integer({ min: 1, max: 11 * 86_400 }),
    isUpgraded: fc.boolean(),
  })
  .map(({ zone, first, length, isUpgraded }) => ({
    from: MARCH + first * 1000,
    to: MARCH + (first + length) * 1000,
    days: 31,
    zone,
    isUpgraded,
  }));

const instant = (at: number) => Temporal.Instant.fromEpochMilliseconds(at);
const EPOCH = instant(0);

/** Fees of the engine: its own steps from events to cents, without what reads them from storage. */
function engineFees(charge: WorldCharge, events: readonly WorldEvent[], period: WorldPeriod, exponent: number) {
  const { aggregation, rounding, filters, declared } = charge;
  const priced = {
    ...charge,
    id: 'charge',
    charge_model: charge.model,
    conversion_rate: null,
    accepts_target_wallet: false,
    metric: {
      id: 'metric',
      code: 'metric',
      aggregation_type: aggregation,
      field_name: 'value',
      recurring: charge.recurring,
      rounding_function: rounding?.how ?? null,
      rounding_precision: rounding?.digits ?? null,
      filters: Object.entries(declared).map(([key, values]) => ({ key, values })),
    },
    filters: filters.map((filter, n) => ({ ...filter, id: `f${n}`, created_at: EPOCH, invoice_display_name: null })),
  } as unknown as PricedCharge;
  const proration: Proration = {
    period: { from: instant(period.from), to: instant(period.to) },
    periodDays: period.days,
    zone: period.zone,
    isUpgraded: period.isUpgraded,
  };
  const subscription = { id: 's', external_id: 's', previous_subscription_id: null };
  const counting = toCount(priced, { subscription, proration });
  const inWindow = events
    .filter(({ at }) => at < period.to && (charge.recurring || at >= period.from))
    .sort((a, b) => a.at - b.at);
  const shares = splitUsage({
    filters: counting.filters,
    declaredValues: declared,
    groupKeysOf: (filter) => filter?.groupKeys ?? counting.groupKeys,
    rows: rowsOf(charge, inWindow, period),
    textsOf: ({ texts }) => texts,
  });
  const counted = shares.map(({ filter, groupedBy, rows }): CountedShare => {
    const portions = (before: boolean) =>
      rows.flatMap((row) => (row.portion && row.isBefore === before ? [row.portion] : []));
    const read = rows.flatMap((row) => (row.event ? [row.event] : []));
    const figures = figuresOf(counting, {
      portions: portions(false),
      before: portions(true),
      events: read.sort((a, b) => (a.key! < b.key! ? -1 : 1)),
      billedTotal: undefined,
    });
    return { filterId: filter?.id ?? null, groupedBy, ...figures };
  });
  return priceShares(priced, counted, exponent).map(({ filter, groupedBy, fee }) => ({
    filter: filter === undefined ? null : Number(filter.id.slice(1)),
    group: groupedBy,
    units: fee.units.toFixed(),
    count: fee.eventsCount,
    cents: fee.amountCents,
  }));
}

interface Row {
  texts: Readonly<Record<string, string>>;
  portion?: Portion | undefined;
  isBefore: boolean;
  event?: ReadEvent | undefined;
}

/** What counting reads: events one by one where their model or their aggregation needs it, else sums of them. */
function rowsOf(charge: WorldCharge, events: readonly WorldEvent[], period: WorldPeriod): Row[] {
  const { aggregation, model, prorated } = charge;
  const rows = events.flatMap((event): Row[] => {
    const text = aggregation === 'count_agg' ? '1' : event.properties.value;
    const portion = portionOf(event);
    const isTaken = aggregation === 'unique_count_agg' ? text !== undefined : holdsTaken(aggregation, portion);
    const read = {
      text: text!,
      operation: event.properties.operation_type ?? null,
      timestamp: instant(event.at),
      key: String(event.at).padStart(20, '0'),
    };
    const isBefore = prorated && event.at < period.from;
    return isTaken ? [{ texts: event.properties, portion, isBefore, event: read }] : [];
  });
  const isRead = ({ isBefore }: Row) =>
    aggregation === 'unique_count_agg' || model === 'percentage' || (prorated && model === 'graduated' && !isBefore);
  return rows.map((row) =>
    isRead(row) ? { ...row, ...(model === 'percentage' ? {} : { portion: undefined }) } : { ...row, event: undefined },
  );
}

function portionOf(event: WorldEvent): Portion {
  const timestamp = instant(event.at);
  const value = numericValue(event.properties.value ?? null);
  const bucket = bucketOfEvents([{ id: String(event.at), created_at: EPOCH, timestamp, value }], EPOCH);
  return {
    ...bucket,
    moment: decimal(bucket.moment),
    preciseTotalAmountCents: decimal(value === undefined ? 0 : (event.cents ?? 0)),
    hour: timestamp,
  };
}

const nameOf = (fee: { filter: number | null; group: Record<string, unknown> }) =>
  JSON.stringify([fee.filter, Object.entries(fee.group).sort(([a], [b]) => (a < b ? -1 : 1))]);
const byName = <Fee extends { filter: number | null; group: Record<string, unknown> }>(fees: Fee[]) =>
  fees.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));

test('any charge costs what the rules say', { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(
      charges,
      periods,
      eventsBetween(MARCH - 20 * DAY, MARCH + 32 * DAY, 14),
      fc.constantFrom(0, 2, 3),
      (charge, period, events, exponent) => {
        const expected = feesOf(charge, events, period, exponent).map((fee) => ({
          ...fee,
          units: decimalOf(fee.units),
          cents: Number(fee.cents),
        }));
        expect(byName(engineFees(charge, events, period, exponent))).toEqual(byName(expected));
      },
    ),
    { seed: SEED, numRuns: RUNS },
  );
});

test('a spending minimum is filled to the cent', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1_000_000 }),
      fc.integer({ min: 28, max: 31 }),
      fc.integer({ min: 0, max: 31 }),
      fc.integer({ min: 0, max: 1_000_000 }),
      (minimum, days, billed, used) => {
        const missing = spendingTrueUp({
          min_amount_cents: minimum,
          periodDays: days,
          billedDays: Math.min(billed, days),
          usedCents: cents(used),
          usedPreciseCents: decimal(used),
        });
        expect(missing?.amountCents ?? 0).toBe(Number(trueUpOf(minimum, Math.min(billed, days), days, BigInt(used))));
      },
    ),
    { seed: SEED, numRuns: 500 },
  );
});

test('the oracle counts days like the calendar', () => {
  expect(dayOf(Date.parse('2024-03-10T04:59:59Z'), 'America/New_York')).toBe(
    dayOf(Date.parse('2024-03-09T12:00:00Z'), 'UTC'),
  );
  expect(dayOf(Date.parse('2024-03-10T05:00:00Z'), 'America/New_York')).toBe(
    dayOf(Date.parse('2024-03-10T12:00:00Z'), 'UTC'),
  );
});
