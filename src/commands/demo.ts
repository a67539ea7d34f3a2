import { Command } from 'commander';
import { makeOneTimeLink } from '../areas/tenancy/console-sessions/one-time-links.ts';
import { realNow } from '../platform/clock/real-clock.ts';
import { connectDatabase } from '../platform/db/connect.ts';
import { defaultDataDir } from '../platform/services/discover.ts';
import { findRunning } from '../platform/services/run-file.ts';
import { type Api, advanceClock, createApi } from './demo/call-api.ts';
import { expectedTotalCents, PRICES } from './demo/expected.ts';
import { type Flight, loadFlights } from './demo/flights.ts';
import { createFreshSandbox } from './demo/fresh-sandbox.ts';
import { createMeter } from './demo/progress-line.ts';

const AIRPORTS = 12;
const BATCH = 100;
const BATCHES_AT_ONCE = 8;

new Command('demo')
  .description('replay real flights as usage of twelve customers into a fresh sandbox of the running service')
  .parse();

const running = await findRunning(defaultDataDir());
if (!running) {
  console.error('demo: no service is running here; start it with `npm start` in another terminal');
  process.exit(1);
}
const { WIRE_PREFIX, DATABASE_SCHEMA } = running.settings;
const organization = await createFreshSandbox(running, defaultDataDir(), 'Flights of 2001');
const api = createApi({ baseUrl: running.baseUrl, apiKey: organization.api_key, wirePrefix: WIRE_PREFIX });
const flights = loadFlights(AIRPORTS);
const airports = [...new Set(flights.map((flight) => flight.origin))].sort();

console.log(`Sandbox organization ${organization.organization_id}, API key ${organization.api_key}`);
console.log(
  `${flights.length} real flights of January and February 2001 from ${airports.length} airports: each airport is a customer.`,
);
await api('POST', '/test_clock', { test_clock: { frozen_time: '2001-01-01T00:00:00Z' } });
await sell(api, airports);
await replay(api, flights);
await advanceClock(api, '2001-03-02T00:00:00Z');
process.exitCode = await showInvoices(api, flights, airports);
await showLinks();

/** Three metrics, a plan with a charge on each, a tax, and a subscription for every airport. */
async function sell(call: Api, customers: string[]): Promise<void> {
  const metrics = [
    { code: 'flights', name: 'Flights', aggregation_type: 'count_agg' },
    { code: 'miles', name: 'Miles flown', aggregation_type: 'sum_agg', field_name: 'distance' },
    { code: 'delay', name: 'Minutes of delay', aggregation_type: 'sum_agg', field_name: 'delay' },
  ];
  const prices = [PRICES.perFlight.text, PRICES.perMile.text, PRICES.perMinuteOfDelay.text];
  const charges = [];
  for (const [index, metric] of metrics.entries()) {
    const { billable_metric } = await call('POST', '/billable_metrics', { billable_metric: metric });
    charges.push({
      billable_metric_id: billable_metric.svc_id,
      charge_model: 'standard',
      properties: { amount: prices[index] },
    });
  }
  await call('POST', '/taxes', {
    tax: { name: 'Sales tax', code: 'sales', rate: PRICES.taxPercent.text, applied_to_organization: true },
  });
  await call('POST', '/plans', {
    plan: {
      name: 'Airport',
      code: 'airport',
      interval: 'monthly',
      amount_cents: Number(PRICES.planCents),
      amount_currency: 'USD',
      pay_in_advance: false,
      charges,
    },
  });
  for (const code of customers) {
    await call('POST', '/customers', { customer: { external_id: code, name: `Airport ${code}`, country: 'US' } });
    await call('POST', '/subscriptions', {
      subscription: { external_customer_id: code, plan_code: 'airport', external_id: code },
    });
  }
}

/** Sends every flight three times over: as an event of each metric. */
async function replay(call: Api, list: readonly Flight[]): Promise<void> {
  const events = list.flatMap((flight) =>
    ['flights', 'miles', 'delay'].map((code) => ({
      transaction_id: `${code}-${flight.number}`,
      external_subscription_id: flight.origin,
      code,
      timestamp: Math.floor(flight.leftAt.epochMilliseconds / 1000),
      properties: { destination: flight.destination, distance: flight.distance, delay: flight.delay },
    })),
  );
  const meter = createMeter('events', events.length);
  let next = 0;
  const sender = async () => {
    while (next < events.length) {
      const batch = events.slice(next, next + BATCH);
      next += BATCH;
      await call('POST', '/events/batch', { events: batch });
      meter.add(batch.length);
    }
  };
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, sender));
  meter.end();
}

/** Prints the table of invoices, each total beside the one computed from the raw records. Returns the exit code. */
async function showInvoices(call: Api, list: readonly Flight[], customers: string[]): Promise<number> {
  const { invoices } = await call('GET', '/invoices?per_page=100');
  const byCustomer = (origin: string) => list.filter((flight) => flight.origin === origin);
  let wrong = customers.length * 2 - invoices.length;
  console.log(
    `\n${'number'.padEnd(22)} ${'airport'.padEnd(8)} ${'issued'.padEnd(11)} ${'flights'.padStart(7)} ${'total'.padStart(12)} ${'recomputed'.padStart(12)}`,
  );
  for (const invoice of invoices.toReversed()) {
    const airport = invoice.customer.external_id as string;
    const month = invoice.issuing_date === '2001-02-01' ? '2001-01' : '2001-02';
    const flown = byCustomer(airport);
    const expected = expectedTotalCents(flown, month);
    const isEqual = BigInt(invoice.total_amount_cents) === expected;
    if (!isEqual) wrong += 1;
    const count = flown.filter((flight) => flight.leftAt.toString().startsWith(month)).length;
    const row = [
      invoice.number.padEnd(22),
      airport.padEnd(8),
      invoice.issuing_date.padEnd(11),
      String(count).padStart(7),
      usd(BigInt(invoice.total_amount_cents)),
      usd(expected),
    ];
    console.log(`${row.join(' ')}  ${isEqual ? 'equal' : 'DIFFERENT'}`);
  }
  console.log(
    wrong === 0
      ? `\nAll ${invoices.length} invoices equal what the raw records give.`
      : `\n${wrong} invoices are missing or wrong.`,
  );
  return wrong === 0 ? 0 : 1;
}

/** Where to look at it all: a link that signs in once, and pages that are worth a look. */
async function showLinks(): Promise<void> {
  const root = running!.baseUrl.replace(/\/api\/v1$/, '');
  const { organization: shown } = await api('GET', '/organizations');
  const database = connectDatabase(running!.databaseUrl, {
    schema: DATABASE_SCHEMA,
    connections: 1,
    name: 'meterstone demo',
  });
  const link = await makeOneTimeLink(database, { organization: organization.organization_id }, realNow());
  await database.end();
  const room = (path: string) => `${root}/console/o/${shown.slug}/${path}`;
  console.log(`
Look at it in the console. The first link signs you in, once, within 10 minutes:
  ${root}${link.path}
  ${room('invoices')} (each line says why it costs what it costs)
  ${room(`customers/${airports[0]}`)} (a customer, and what happened)
  ${room('plans/airport')} (prices, with a calculator)`);
}

function usd(cents: bigint): string {
  return `$${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`.padStart(12);
}
