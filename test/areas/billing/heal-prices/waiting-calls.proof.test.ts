import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { healPrices } from '../../../../src/areas/billing/heal-prices/heal-prices.ts';
import { finishBatches } from '../../../../src/areas/usage/ingest-events/finish-batches.ts';
import { connectDatabase } from '../../../../src/platform/db/connect.ts';
import type { EventBatchId, OrganizationId } from '../../../../src/platform/ids.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { createProducer } from '../../../../src/platform/queue/producer.ts';
import { systemTransaction } from '../../../../src/platform/records/system-transaction.ts';
import { reactions } from '../../../../src/reactions.ts';
import { calls, finishAll } from '../../../support/ai-calls.ts';
import { explainStatement, PLAN_MODES, type Sent } from '../../../support/explain-statements.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { ok } from '../../../support/words.ts';
import { storage } from '../../usage/ingest-events/build.ts';

// What waits for a price is found by its event, or by its model, whatever Postgres knows of the table: a batch took
// 300 ms beside 3 000 calls that waited, since the index of whole subscriptions was read for each.
const WAITING = 2000;
const BATCH = 500;
const SUBSCRIPTIONS = 20;
const TABLES = ['ai_unpriced', 'event_versions'] as const;
const BY_KEY = ['ai_unpriced_pkey', 'ai_unpriced_models_pkey', 'event_versions_pkey'];
const NOW = Temporal.Instant.from('2024-03-20T00:00:00Z');

let service: TestService;
beforeAll(async () => {
  service = await startService({ pools: ['writes'] });
  for (const table of [...TABLES, 'events'])
    await service.sql`alter table ${service.sql(table)} set (autovacuum_enabled = false)`.catch(() => {}); // divided
});
afterAll(() => service.stop());

/** Rows by what else they are found by: calls by their model, versions by the correction that made them. */
const allowedIn = (text: string): string[] => [
  ...BY_KEY,
  ...(text.includes("status = 'open' and reason = 'price'") ? ['ai_unpriced_open'] : []),
  ...(text.includes('former.correction_id = $') ? ['event_versions_correction'] : []),
];

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();
const isOfWaiting = ({ text }: Sent): boolean => TABLES.some((table) => plain(text).includes(table));

test('calls that wait are found by their keys, or by their models where a page of them is taken', async () => {
  const client = await service.org();
  const id = client.organization.organization_id as OrganizationId;
  const { store } = storage(service.sql);
  const put = (first: number, count: number) =>
    store(
      calls(
        id,
        Array.from({ length: count }, (_, index) => ({
          id: `call-${first + index}`,
          model: 'omega',
          by: `sub-${(first + index) % SUBSCRIPTIONS}`,
          parts: { tokens_input: 1000 },
        })),
      ),
    );
  for (let first = 0; first < WAITING; first += BATCH) await put(first, BATCH);
  await finishAll(service.sql, id);
  await put(WAITING, 100);

  const sent: Sent[] = [];
  const sql = connectDatabase(service.config.DATABASE_URL, {
    connections: 2,
    onStatement: (text, parameters) => sent.push({ text, parameters }),
  });
  const batches = await service.sql<{ id: EventBatchId }[]>`
    select id from event_batches where organization_ids @> array[${id}::uuid]`;
  await sql.begin((tx) =>
    finishBatches(
      tx,
      batches.map((batch) => batch.id),
    ),
  );
  await ok(client.post('/price_book/entries', { entries: [priceOfOmega] }));
  const producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  const log = createLog({ level: 'silent', process: 'test' });
  const deps = { sql, producer, config: service.config, reactions, log };
  await systemTransaction(deps, { id, sandbox: false }, async () => NOW, healPrices);
  await producer.close();
  await sql.end();

  const faults: string[] = [];
  const found = new Map(sent.filter(isOfWaiting).map((each) => [plain(each.text), each]));
  for (const [text, each] of found) {
    const allowed = allowedIn(text);
    for (const mode of PLAN_MODES) {
      const { scans } = await explainStatement(service.sql, each, { mode, tables: TABLES });
      faults.push(...scans.filter((scan) => !allowed.includes(scan)).map((scan) => `${scan}: ${text.slice(0, 300)}`));
    }
  }
  expect([...new Set(faults)]).toEqual([]);
  expect(found.size).toBeGreaterThanOrEqual(8);
}, 240_000);

const priceOfOmega = {
  provider: 'openai',
  model: 'omega',
  kind: 'input',
  cost: '1',
  valid_from: '2024-01-01T00:00:00Z',
};
