import { afterAll, beforeAll, expect, test } from 'vitest';
import { showSearch } from '../../../src/areas/reporting/search/reads.ts';
import { SearchQuery } from '../../../src/areas/reporting/search/schema.ts';
import { connectDatabase } from '../../../src/platform/db/connect.ts';
import { readingAt } from '../../support/count-statements.ts';
import { explainStatement, PLAN_MODES, type Sent } from '../../support/explain-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';

// How much a search reads among many customers does not depend on how many contain its text (console-reads.md#search).
const CUSTOMERS = 60_000;
/** The newest customers, the 200 matches that are looked at, and the lists of an index for a text of few. */
const MOST_BLOCKS = 3500;

let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2026-09-01T00:00:00Z');
  await story.customer({ external_id: 'first', name: 'First' });
  await service.sql`
    insert into customers
    select copied.* from customers one
    cross join generate_series(1, ${CUSTOMERS}::int) n
    cross join lateral jsonb_populate_record(one, jsonb_build_object(
      'id', gen_random_uuid(), 'external_id', 'c' || n, 'sequential_id', 10 + n, 'slug', 'S-' || n,
      'name', (array['North', 'Silver', 'Quantum', 'Müller'])[1 + n % 4] || ' Company'
        || case when n = 777 then ' Zaphod' else '' end,
      'email', 'mail' || n || '@' || (array['gmail.com', 'gmail.com', 'firm.example'])[1 + n % 3],
      'created_at', one.created_at - n * interval '1 minute')) copied
    where one.organization_id = ${story.organizationId}`;
  await service.sql`vacuum (analyze) customers`;
}, 240_000);
afterAll(() => service.stop());

test.each([
  ['gmail', true],
  ['company', true],
  ['com', true],
  ['müller company', true],
  ['firm.example', true],
  ['silver company zaphod', false],
  ['zaphod', false],
  ['mail59999@', false],
  ['no company like that', false],
  ['zzz', false],
])('a search for %s reads few blocks', async (q, truncated) => {
  const sent: Sent[] = [];
  const sql = connectDatabase(service.config.DATABASE_URL, {
    connections: 4,
    onStatement: (text, parameters) => sent.push({ text, parameters }),
  });
  const context = readingAt(service, sql, story.organizationId, '2026-09-01T00:00:00Z');
  const { search } = await showSearch({ ...context, holds: () => true }, { query: SearchQuery.parse({ q }) });
  await sql.end();
  expect(search.truncated).toBe(truncated);
  const ofCustomers = sent.filter(({ text }) => text.includes('chr(10)'));
  expect(ofCustomers).toHaveLength(truncated ? 1 : 2);
  const own = connectDatabase(service.config.DATABASE_URL, { connections: 1 });
  for (const each of ofCustomers) {
    for (const mode of PLAN_MODES) {
      const { blocks, scans } = await explainStatement(own, each, { mode, tables: ['customers'] });
      expect(blocks, `${mode} ${scans.join(', ')}`).toBeLessThan(MOST_BLOCKS);
    }
    // What the first statement settles for the one after it.
    await own.unsafe('set enable_seqscan = off; set enable_indexscan = off');
  }
  await own.end();
});
