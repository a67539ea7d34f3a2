import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../support/service.ts';
import { type Invoice, openStory, type Story } from '../support/story.ts';
import { add, exact, type Fraction, isZero, over, rounded, subtract, times } from './fraction.ts';
import { dayOf, feesOf, trueUpOf, type WorldCharge, type WorldEvent } from './usage.ts';
import { charges, DECLARED, eventsBetween } from './worlds.ts';

// Whole worlds against the started service, each a sandbox of its own: what an invoice bills is what the oracle says.
// A failure names the seed of its world: SEED=… plays it again, WORLDS=… plays more of them.
const SEED = Number(process.env.SEED ?? 11);
const WORLDS = Number(process.env.WORLDS ?? 4);

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const MARCH = Date.parse('2024-03-01T00:00:00Z');
const DAY = 86_400_000;
const EXPONENTS = { USD: 2, JPY: 0, KWD: 3 } as const;

interface World {
  zone: string;
  currency: keyof typeof EXPONENTS;
  planAmount: number;
  start: number;
  /** Milliseconds; null: the period ends by itself. */
  end: number | null;
  charges: { charge: WorldCharge; minimum: number }[];
  events: WorldEvent[][];
  taxRate: number;
  couponCents: number;
}

const world: fc.Arbitrary<World> = fc
  .record({
    zone: fc.constantFrom('UTC', 'America/New_York', 'Asia/Tokyo', 'Australia/Lord_Howe'),
    currency: fc.constantFrom('USD', 'JPY', 'KWD'),
    planAmount: fc.integer({ min: 0, max: 20_000 }),
    start: fc.integer({ min: 1, max: 12 * 86_400 }).map((seconds) => MARCH + DAY + seconds * 1000),
    lasts: fc.oneof(fc.constant(null), fc.integer({ min: 86_400, max: 12 * 86_400 })),
    charges: fc.array(
      fc.record({
        charge: charges.filter(({ recurring }) => !recurring),
        minimum: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 30_000 })),
      }),
      { minLength: 2, maxLength: 4 },
    ),
    events: fc.array(eventsBetween(MARCH, MARCH + 31 * DAY, 8), { minLength: 4, maxLength: 4 }),
    taxRate: fc.constantFrom(0, 19, 20),
    couponCents: fc.constantFrom(0, 100, 5000),
  })
  .map(({ start, lasts, ...rest }) => ({ ...rest, start, end: lasts === null ? null : start + lasts * 1000 }));

const iso = (at: number) => new Date(at).toISOString();

/** Plays a world from its start to the invoice of its first period. */
async function play(given: World): Promise<Invoice> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  const { client } = story;
  const made = async (path: string, body: object) => {
    const { status, text, body: answer } = await client.post(path, body);
    if (status !== 200) throw new Error(`${path}: ${text}`);
    return answer;
  };
  if (given.taxRate > 0)
    await made('/taxes', { tax: { name: 'VAT', code: 'vat', rate: given.taxRate, applied_to_organization: true } });
  await story.customer({ currency: given.currency, timezone: given.zone });
  const own: object[] = [];
  for (const [n, { charge, minimum }] of given.charges.entries()) {
    const { billable_metric: metric } = await made('/billable_metrics', {
      billable_metric: {
        name: `M${n}`,
        code: `m${n}`,
        aggregation_type: charge.aggregation,
        ...(charge.aggregation === 'count_agg' ? {} : { field_name: 'value' }),
        ...(charge.aggregation === 'weighted_sum_agg' ? { weighted_interval: 'seconds' } : {}),
        rounding_function: charge.rounding?.how ?? null,
        rounding_precision: charge.rounding?.digits ?? null,
        filters: Object.entries(DECLARED).map(([key, values]) => ({ key, values })),
      },
    });
    const { model: charge_model, properties, filters } = charge;
    own.push({
      billable_metric_id: metric.svc_id,
      code: `c${n}`,
      charge_model,
      properties,
      filters,
      min_amount_cents: minimum,
    });
  }
  await story.plan({ amount_cents: given.planAmount, amount_currency: given.currency, charges: own });
  if (given.couponCents > 0) {
    const coupon = {
      name: 'C',
      code: 'c',
      coupon_type: 'fixed_amount',
      frequency: 'once',
      expiration: 'no_expiration',
    };
    const amount = { amount_cents: given.couponCents, amount_currency: given.currency };
    await made('/coupons', { coupon: { ...coupon, ...amount } });
    await made('/applied_coupons', { applied_coupon: { external_customer_id: 'acme', coupon_code: 'c' } });
  }
  await story.advanceTo(iso(given.start));
  await story.subscribe();
  await sendAll(story, given);
  if (given.end !== null) {
    await story.advanceTo(iso(given.end));
    const { status, text } = await client.delete('/subscriptions/sub');
    if (status !== 200) throw new Error(text);
  } else await story.advanceTo('2024-04-01T23:00:00Z');
  const [invoice] = await story.invoices(1);
  const { body } = await client.post(`/invoices/${invoice.svc_id}/verify`, { level: 'events' });
  expect(body.verification).toMatchObject({ status: 'equal', differences: [] });
  return invoice;
}

async function sendAll({ client }: Story, { charges: own, events }: World): Promise<void> {
  const all = own.flatMap((_, n) =>
    events[n]!.map(({ at, properties, cents }, place) => ({
      transaction_id: `${n}-${place}`,
      external_subscription_id: 'sub',
      code: `m${n}`,
      timestamp: `${Math.floor(at / 1000)}.${String(at % 1000).padStart(3, '0')}`,
      properties,
      ...(cents === null ? {} : { precise_total_amount_cents: cents }),
    })),
  );
  if (all.length === 0) return;
  const { status, text } = await client.post('/events/batch', { events: all });
  if (status !== 200) throw new Error(text);
}

/** First instant of a local date, given by its number: found among the quarters of an hour around it. */
function startOfDay(day: number, zone: string): number {
  let at = (day - 1) * DAY;
  while (dayOf(at, zone) < day) at += 15 * 60_000;
  return at;
}

/** Days by the local clock from one instant to another. Rule: money-and-days.md#day-difference. */
function daysByClock(from: number, last: number, zone: string): number {
  const clock = (at: number) => {
    const parts = new Intl.DateTimeFormat('en-CA', { timeZone: zone, timeStyle: 'medium', hourCycle: 'h23' }).format(
      at,
    );
    const [hours, minutes, seconds] = parts.split(':').map(Number);
    return dayOf(at, zone) * 86_400 + hours! * 3600 + minutes! * 60 + seconds! + (at % 1000) / 1000;
  };
  return Math.ceil((clock(last) - clock(from)) / 86_400);
}

/**
 * What the invoice must say. Rules: aggregation.md, charges.md, fixed-charges.md, usage-fees.md,
 * subscription-fees.md#amount, minimums.md#spending-minimum, invoice-amounts.md#order-of-computation.
 */
function expected({ zone, currency, planAmount, start, end, taxRate, couponCents, ...given }: World) {
  const exponent = EXPONENTS[currency];
  const first = dayOf(start, zone);
  const closing = startOfDay(Date.UTC(2024, 3, 1) / DAY, zone);
  // An event at the instant of a termination still counts; nothing else lies between two milliseconds.
  const to = end === null ? closing : end + 1;
  const lastDay = dayOf(to - 1, zone);
  const period = { from: start, to, days: 31, zone, isUpgraded: false };
  const fees: string[] = [];
  let sum: Fraction = exact(0);
  const bill = (name: string, cents: bigint, units = '', count = 0) => {
    sum = add(sum, exact(`${cents}`));
    fees.push(`${name} ${cents} ${units} ${count}`);
  };
  for (const [n, { charge, minimum }] of given.charges.entries()) {
    let used = 0n;
    for (const { filter, group, units, count, cents } of feesOf(charge, given.events[n]!, period, exponent)) {
      used += cents;
      if (cents !== 0n || !isZero(units) || count !== 0)
        bill(nameOf(n, charge, filter, group), cents, shown(units), count);
    }
    const days = daysByClock(start, to - 1, zone);
    const missing = minimum === 0 ? 0n : trueUpOf(minimum, days, 31, used);
    if (missing > 0n) bill(`c${n} true-up`, missing);
  }
  const subscription = rounded(over(exact(planAmount * (lastDay - first + 1)), exact(31)), 0);
  if (!isZero(subscription)) bill('subscription', subscription.n);
  const coupon = sum.n < BigInt(couponCents) ? sum : exact(couponCents);
  const base = subtract(sum, coupon);
  const tax = rounded(over(times(base, exact(taxRate)), exact(100)), 0);
  return { fees: fees.sort(), coupon: Number(coupon.n), tax: Number(tax.n), total: Number(add(base, tax).n) };
}

const shown = (units: Fraction) => (Number(units.n) / Number(units.d)).toFixed(6);
const nameOf = (n: number, charge: WorldCharge, filter: number | null, group: Record<string, string | null>) =>
  `c${n} ${JSON.stringify([filter === null ? null : charge.filters[filter]!.values, sortedKeys(group)])}`;
const sortedKeys = (group: object) => Object.entries(group).sort(([a], [b]) => (a < b ? -1 : 1));

/** The same of an invoice. */
function billed({ charges: own }: World, invoice: Invoice) {
  const fees = invoice.fees
    .filter(({ amount_cents, units, events_count, item }: Invoice) =>
      item.type === 'charge' ? amount_cents !== 0 || Number(units) !== 0 || events_count !== 0 : amount_cents !== 0,
    )
    .map((fee: Invoice) => {
      const { item, amount_cents, units, events_count } = fee;
      if (item.type !== 'charge') return `${item.type} ${amount_cents}  0`;
      const n = Number(item.code.slice(1));
      if (fee.svc_true_up_parent_fee_id !== null) return `c${n} true-up ${amount_cents}  0`;
      const filter = own[n]!.charge.filters.findIndex(({ values }) => same(values, item.filters));
      const name = nameOf(n, own[n]!.charge, filter < 0 ? null : filter, item.grouped_by);
      return `${name} ${amount_cents} ${Number(units).toFixed(6)} ${events_count}`;
    });
  return {
    fees: fees.sort(),
    coupon: invoice.coupons_amount_cents,
    tax: invoice.taxes_amount_cents,
    total: invoice.total_amount_cents,
  };
}

const same = (a: object, b: object | null) =>
  b !== null && JSON.stringify(sortedKeys(a)) === JSON.stringify(sortedKeys(b));

test.each(Array.from({ length: WORLDS }, (_, n) => SEED + n))(
  'the invoices of the random world of seed %i equal the oracle',
  { timeout: 120_000 },
  async (seed) => {
    const [given] = fc.sample(world, { seed, numRuns: 1 });
    expect(billed(given!, await play(given!))).toEqual(expected(given!));
  },
);
