import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOrganization } from '../../../src/areas/tenancy/organizations/commands.ts';
import { claimTick } from '../../../src/jobs/periodic-jobs/queries.ts';
import { registryOf } from '../../../src/jobs/run-periodic/periodic-registry.ts';
import { runTick } from '../../../src/jobs/run-periodic/run-tick.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { connectDatabase, type Sql } from '../../../src/platform/db/connect.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import type { Producer } from '../../../src/platform/queue/producer.ts';
import { reactions } from '../../../src/reactions.ts';
import type { Client } from '../../support/client.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok, wordsOf } from '../../support/words.ts';
import { gate } from '../advance-clock/scratch.ts';
import { DUE_ON, TICK } from './due-customers.ts';

// SC11: two cells in one database, each with a schema and a Redis prefix of its own.
interface Cell {
  service: TestService;
  sql: Sql;
  client: Client;
}
let own: TestService;
let cells: Cell[];

beforeAll(async () => {
  own = await startService();
  const sql = connectDatabase(own.config.DATABASE_URL!, { schema: 'cell_b', connections: 4 });
  await migrate(sql);
  const settings = { DATABASE_URL: own.config.DATABASE_URL!, DATABASE_SCHEMA: 'cell_b' };
  const service = await startService({ settings });
  const { api_key } = await createOrganization(sql, { name: 'Cell b', sandbox: false }, service.config);
  cells = [
    { service: own, sql: own.sql, client: await own.org() },
    { service, sql, client: service.client(api_key) },
  ];
});
afterAll(async () => {
  const [, second] = cells;
  await second!.service.stop();
  await second!.sql.end();
  await own.stop();
});

/** A subscription whose second month has ended and is not billed. */
async function owedMonth({ sql, client }: Cell, amountCents: number): Promise<void> {
  const words = wordsOf(client);
  await words.customer();
  await words.plan({ amount_cents: amountCents });
  await ok(words.subscribe({ subscription_at: '2024-01-01T00:00:00Z' }));
  await sql`update subscriptions set next_billing_at = ${DUE_ON}, created_at = '2024-01-01T00:00:00Z'`;
}

/** Runs the tick `bill`, which waits before it hands out its work. */
async function billing({ service, sql }: Cell, before: () => Promise<void>): Promise<void> {
  const { config, redis } = service;
  await claimTick(sql, 'bill', { tickAt: Temporal.Instant.from(TICK), realNow: realNow() });
  const own = service.ingress.producer;
  const producer: Producer = {
    ...own,
    async addMany(name, items) {
      await before();
      await own.addMany(name, items);
    },
  };
  const log = createLog({ level: 'silent', process: 'test' });
  const deps = { sql, redis, producer, config, log, reactions };
  await runTick(deps, registryOf(config), { job: 'bill', at: TICK }, { lastAttempt: true });
}

test('each of two schemas of one database bills its own midnight, and none skips its tick (SC11)', async () => {
  const [first, second] = cells as [Cell, Cell];
  await owedMonth(first, 1100);
  await owedMonth(second, 2200);
  const [begun, mayEnd] = [gate(), gate()];
  const ofFirst = billing(first, async () => {
    begun.resolve();
    await mayEnd.promise;
  });
  await begun.promise;
  await billing(second, async () => {});
  mayEnd.resolve();
  await ofFirst;
  for (const { sql } of cells)
    expect(await sql`select error from schedule_ticks where job = 'bill'`).toMatchObject([{ error: null }]);
  const amounts = await Promise.all(
    cells.map(({ sql }) =>
      until(async () => {
        const rows = await sql`select fees_amount_cents from invoices where status = 'finalized'`;
        return rows.length > 0 && rows.map(({ fees_amount_cents: cents }) => cents);
      }),
    ),
  );
  expect(amounts).toEqual([[1100], [2200]]);
});
