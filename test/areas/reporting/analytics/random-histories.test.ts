import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rollUpAnalytics } from '../../../../src/areas/reporting/roll-up-analytics/roll-up.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { Dice, type History, openHistory } from './history.ts';
import * as reference from './reference.ts';

// Every report equals a slow computation over all rows, whatever was made, changed and counted in between.
const HISTORIES = 3;
const CHANGES = 60;
const NOW = '2025-04-17T10:00:00Z';
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('every report equals the slow computation, whether its sums were counted or not', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const dice = new Dice(seed);
      const history = await openHistory(database.sql, dice);
      for (let n = 0; n < CHANGES; n += 1) {
        await history.change();
        if (dice.chance(0.1)) await rollUpAnalytics({ db: database.sql, organizationId: history.organizationId });
      }
      await compareAll(history);
      await rollUpAnalytics({ db: database.sql, organizationId: history.organizationId });
      await compareAll(history);
      expect(await marksLeft(history)).toBe(0);
    }),
    { numRuns: HISTORIES, seed: 20_250_417, endOnFailure: true },
  );
}, 240_000);

const marksLeft = async ({ organizationId }: History): Promise<number> =>
  (await database.sql`select from analytics_marks where organization_id = ${organizationId}`).length;

async function compareAll(history: History): Promise<void> {
  const world = await reference.loadWorld(history);
  const { read, entities } = history;
  const byMonth = [
    { query: {}, filters: { now: NOW } },
    { query: { currency: 'eur' }, filters: { now: NOW, currency: 'EUR' } },
    { query: { billing_entity_code: 'second' }, filters: { now: NOW, entity: entities[1]! } },
  ];
  for (const { query, filters } of byMonth) {
    const at = JSON.stringify(query);
    expect((await read('findAllGrossRevenues', NOW, query)).gross_revenues, at).toEqual(
      reference.grossRevenue(world, filters),
    );
    expect((await read('findAllInvoiceCollections', NOW, query)).invoice_collections, at).toEqual(
      reference.invoiceCollection(world, filters),
    );
    expect((await read('findAllInvoicedUsages', NOW, query)).invoiced_usages, at).toEqual(
      reference.invoicedUsage(world, filters),
    );
    expect((await read('findAllMrrs', NOW, query)).mrrs, at).toEqual(reference.mrr(world, filters));
    expect((await read('findAllOverdueBalances', NOW, query)).overdue_balances, at).toEqual(
      reference.overdueBalance(world, filters),
    );
  }
  const ofOne = { now: NOW, customer: 'c1' };
  const one = { external_customer_id: 'c1' };
  expect((await read('findAllGrossRevenues', NOW, one)).gross_revenues).toEqual(reference.grossRevenue(world, ofOne));
  expect((await read('findAllOverdueBalances', NOW, one)).overdue_balances).toEqual(
    reference.overdueBalance(world, ofOne),
  );

  for (const granularity of ['daily', 'weekly', 'monthly'] as const) {
    const range = { from: '2024-02-07', to: '2025-02-20', granularity };
    const query = { from_date: range.from, to_date: range.to, time_granularity: granularity };
    expect((await read('findAllUsages', NOW, query)).usages).toEqual(reference.usage(world, range));
    expect((await read('findAllRevenueStreams', NOW, query)).revenue_streams).toEqual(
      reference.revenueStreams(world, range),
    );
    expect((await read('findAllPrepaidCredits', NOW, query)).prepaid_credits).toEqual(
      reference.prepaidCredits(world, range),
    );
    expect((await read('findAllMrrMovements', NOW, query)).mrr_movements).toEqual(
      reference.mrrMovements(world, range, { now: NOW }),
    );
    const companies = new Set(world.customers.filter((c) => c.customer_type === 'company').map(({ id }) => id));
    expect((await read('findAllUsages', NOW, { ...query, customer_type: 'company' })).usages).toEqual(
      reference.usage(world, range, ({ customer_id }) => companies.has(customer_id)),
    );
  }
}
