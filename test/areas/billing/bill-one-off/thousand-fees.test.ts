import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { billOneOff } from '../../../../src/areas/billing/bill-one-off/bill-one-off.ts';
import { connectDatabase } from '../../../../src/platform/db/connect.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { createProducer } from '../../../../src/platform/queue/producer.ts';
import { systemTransaction } from '../../../../src/platform/records/system-transaction.ts';
import { reactions } from '../../../../src/reactions.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';

// An invoice of as many fees as one may have costs the statements of one with a single fee, so that ten at once end:
// everywhere.md#bounded-cost, one-off-invoices.md. Nothing here is timed.
const MOST_FEES = 1000;

let service: TestService;
let client: Awaited<ReturnType<TestService['org']>>;
beforeAll(async () => {
  service = await startService();
  client = await service.org();
  const taxes = [
    { name: 'VAT', code: 'vat', rate: 20 },
    { name: 'City', code: 'city', rate: 1 },
  ];
  for (const tax of taxes) expect((await client.post('/taxes', { tax })).status).toBe(200);
  const addOn = { name: 'Setup', code: 'setup', amount_cents: 5000, amount_currency: 'EUR' };
  expect((await client.post('/add_ons', { add_on: addOn })).status).toBe(200);
  for (let n = 0; n < 10; n += 1)
    await client.post('/customers', { customer: { external_id: `customer-${n}`, currency: 'EUR' } });
});
afterAll(() => service.stop());

/** Fees of 0.01, 0.02 … with 21 % tax each. */
const feesOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    add_on_code: 'setup',
    unit_amount_cents: n + 1,
    tax_codes: ['vat', 'city'],
  }));

/** Statements and round trips of a one-off invoice in a transaction of its own. */
async function costOf(count: number): Promise<{ statements: number; roundTrips: number }> {
  let statements = 0;
  const turns = new Set<number>();
  let turn = 0;
  const sql = connectDatabase(service.config.DATABASE_URL, {
    connections: 1,
    onStatement: () => {
      statements += 1;
      turns.add(turn);
      setImmediate(() => (turn += 1));
    },
  });
  const producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  const log = createLog({ level: 'silent', process: 'test' });
  try {
    const make = () =>
      systemTransaction(
        { sql, producer, config: service.config, reactions, log },
        { id: client.organization.organization_id, sandbox: false },
        async () => Temporal.Instant.from('2024-05-05T10:00:00Z'),
        (ctx) => billOneOff(ctx, { body: { external_customer_id: 'customer-0', fees: feesOf(count) } }).then(() => {}),
      );
    // The first one opens the connection, and learns the types of its parameters.
    await make();
    statements = 0;
    turns.clear();
    await make();
  } finally {
    await sql.end();
    await producer.close();
  }
  return { statements, roundTrips: turns.size };
}

test('an invoice of 1000 fees costs the statements and round trips of one with a single fee', async () => {
  const single = await costOf(1);
  expect(await costOf(MOST_FEES)).toEqual(single);
  expect(single.statements).toBeLessThanOrEqual(60);
});

test('ten invoices of 1000 fees asked for at once are each made once, whether or not their answer came in time', async () => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      client.post('/invoices', { invoice: { external_customer_id: `customer-${n}`, fees: feesOf(MOST_FEES) } }),
    ),
  );
  for (const { status, body } of answers)
    expect([status, body.code ?? null]).toEqual(status === 504 ? [504, 'write_pending'] : [200, null]);
  // 0.01 + … + 10.00 = 5005.00, and 21 % of that are 1051.05.
  const invoices = await until(async () => {
    const rows = await service.sql<{ fees_amount_cents: number; count: number; taxes_amount_cents: number }[]>`
      select i.fees_amount_cents, i.taxes_amount_cents, count(*)::int as count
      from invoices i join fees f on f.organization_id = i.organization_id and f.invoice_id = i.id
      where i.organization_id = ${client.organization.organization_id} and i.status = 'finalized'
        and i.created_at > '2025-01-01'
      group by i.id`;
    return rows.length >= 10 ? [...rows] : undefined;
  }, 120_000);
  expect(invoices).toEqual(
    Array.from({ length: 10 }, () => ({ fees_amount_cents: 500_500, taxes_amount_cents: 105_105, count: MOST_FEES })),
  );
}, 180_000);
