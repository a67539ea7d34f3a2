import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { getDeadLetter, listDeadLetters, resolveDeadLetter } from '../../../../src/areas/usage/ingestion/queries.ts';
import { DeadLettersQuery } from '../../../../src/areas/usage/ingestion/schema.ts';
import { connectDatabase } from '../../../../src/platform/db/connect.ts';
import type { OrganizationId } from '../../../../src/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { explainStatement, PLAN_MODES, type Sent } from '../../../support/explain-statements.ts';

// A hundred thousand dead letters of an organization that the statistics know, and of one that they do not
// (streams.md#dead-letters): every list reads what it shows, and a retry or a discard touches one row.
const LETTERS = 100_000;
/** Entries of the index that Postgres reads for filters that few letters pass. */
const WHOLE_INDEX = 2500;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.sql`alter table ingest_dead_letters set (autovacuum_enabled = false)`;
});
afterAll(() => database.drop());

/** Of three streams, of which one has ten letters; one in a thousand is resolved, one in five hundred a conflict. */
async function loaded(): Promise<OrganizationId> {
  const { organization_id: id } = await createOrganization(database.sql, { name: 'Acme', sandbox: false });
  await database.sql`
    insert into ingest_dead_letters (organization_id, id, connector, position, part, payload, payload_digest, is_cut,
      headers, source_time, error_code, error_message, attempts, status, failed_at, resolved_at)
    select ${id}, gen_random_uuid(), case when n % 10000 = 1 then 'rare' when n % 2 = 0 then 'calls' else 'files' end,
      'calls/0/' || n, 0, convert_to(repeat('x', 300), 'UTF8'), decode(md5(n::text), 'hex'), false, '{}',
      '2026-03-01T00:00:00Z', case when n % 500 = 3 then 'value_already_exist' else 'invalid_json' end, 'wrong', 1,
      case when n % 1000 = 5 then 'discarded' else 'open' end,
      '2026-03-01T00:00:00Z'::timestamptz + n * interval '1 second', null
    from generate_series(1, ${LETTERS}::int) n`;
  return id as OrganizationId;
}

/** As Postgres does by itself; commits that are not flushed count as under way. */
async function vacuum(also = ''): Promise<void> {
  await database.sql`checkpoint`;
  await database.sql.unsafe(`vacuum ${also} ingest_dead_letters`);
}

const lists: [what: string, query: object, rows: number, mostBlocks: number][] = [
  ['the first page', {}, 20, 150],
  ['page 1 000', { page: '1000' }, 20, 600],
  ['a page of 1 000', { per_page: '1000' }, 1000, 4500],
  ['the open ones', { statuses: ['open'] }, 20, 150],
  ['the resolved ones', { statuses: ['retried', 'discarded'], per_page: '1000' }, 100, WHOLE_INDEX],
  ['those of a stream', { connector: 'files' }, 20, 150],
  ['those of a stream that has few', { connector: 'rare' }, 10, WHOLE_INDEX],
  ['those of a stream that has none', { connector: 'none' }, 0, WHOLE_INDEX],
  ['those of a code', { error_codes: ['value_already_exist'] }, 20, 350],
  ['those of an hour', { from: '2026-03-01T01:00:00Z', to: '2026-03-01T02:00:00Z' }, 20, 150],
];

test('lists of very many dead letters read an index, and a letter is one row', async () => {
  const known = await loaded();
  await vacuum('analyze');
  const unknown = await loaded();
  await vacuum();
  const slowest = { what: '', ms: 0 };
  for (const organizationId of [known, unknown]) {
    for (const [what, query, rows, mostBlocks] of lists) {
      const sent: Sent[] = [];
      const sql = connectDatabase(database.url, {
        connections: 1,
        onStatement: (text, parameters) => sent.push({ text, parameters }),
      });
      const read = () => listDeadLetters({ db: sql, organizationId }, DeadLettersQuery.parse(query));
      await read();
      const statements = sent.splice(0).filter(({ text }) => text.includes('ingest_dead_letters'));
      const from = performance.now();
      const found = await read();
      const ms = performance.now() - from;
      if (ms > slowest.ms) Object.assign(slowest, { what, ms });
      await sql.end();
      expect({ what, rows: found.rows.length }).toEqual({ what, rows });
      expect(statements.length).toBeLessThanOrEqual(3);
      for (const each of statements.filter(({ text }) => !text.trim().startsWith('explain'))) {
        for (const mode of PLAN_MODES) {
          const { scans, blocks } = await explainStatement(database.sql, each, {
            mode,
            tables: ['ingest_dead_letters'],
          });
          const others = scans.filter((scan) => !/^ingest_dead_letters_(newest|once|pkey)$/.test(scan));
          const isCount = each.text.includes('count(*)');
          expect({ what, mode, others, blocks: blocks <= (isCount ? WHOLE_INDEX : mostBlocks) || blocks }).toEqual({
            what,
            mode,
            others: [],
            blocks: true,
          });
        }
      }
    }
  }
  console.log(`dead letters: slowest list of ${LETTERS}: ${slowest.what}, ${slowest.ms.toFixed(1)} ms`);
  const [letter] = await database.sql`select id from ingest_dead_letters where organization_id = ${unknown} limit 1`;
  const sent: Sent[] = [];
  const sql = connectDatabase(database.url, {
    connections: 1,
    onStatement: (text, parameters) => sent.push({ text, parameters }),
  });
  const scope = { db: sql, organizationId: unknown };
  await getDeadLetter(scope, letter!.id, { isLocked: true });
  await resolveDeadLetter(scope, letter!.id, { status: 'discarded', attempts: 2 });
  await sql.end();
  const touching = sent.filter(({ text }) => text.includes('ingest_dead_letters'));
  expect(touching).toHaveLength(2);
  for (const each of touching) {
    for (const mode of PLAN_MODES) {
      const { scans, blocks } = await explainStatement(database.sql, each, { mode, tables: ['ingest_dead_letters'] });
      expect(scans).toEqual(['ingest_dead_letters_pkey']);
      expect(blocks).toBeLessThan(60);
    }
  }
}, 240_000);
