import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { listCheckpoints } from '../../../../src/areas/usage/connectors/checkpoints.ts';
import { objectLedger } from '../../../../src/areas/usage/connectors/objects.ts';
import { connectDatabase } from '../../../../src/platform/db/connect.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { explainStatement, PLAN_MODES, type Sent } from '../../../support/explain-statements.ts';

// A bucket of twenty thousand files that were read, of an organization that the statistics know and of one that they do
// not: what is asked of them reads an index (streams.md#files).
const FILES = 20_000;
const PAGE = 1000;
const TABLES = ['ingest_objects', 'ingest_leases', 'ingest_checkpoints'];

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function loaded(): Promise<string> {
  const { organization_id: id } = await createOrganization(database.sql, { name: 'Acme', sandbox: false });
  await database.sql`
    insert into ingest_objects (organization_id, connector, bucket, key, etag, size, status, byte_offset, line, stored,
      replayed, dead, attempts, started_at, finished_at, look_at)
    select ${id}, 'files', 'usage', 'out/' || n || '.ndjson', md5(n::text), 100,
      case when n % 5000 = 1 then 'reading' else 'done' end, 100, 1, 1, 0, 0, 0, now(), now(),
      now() + n * interval '1 minute'
    from generate_series(1, ${FILES}::int) n`;
  await database.sql`
    insert into ingest_checkpoints (organization_id, connector, key, rank, value, received, stored, replayed, dead,
      updated_at)
    values (${id}, 'files', 'objects', 0, '{}', ${FILES}, ${FILES}, 0, 0, now())`;
  return id;
}

test('a listing, and what is asked of single files, read an index of the files', async () => {
  const known = await loaded();
  await database.sql`analyze`;
  const unknown = await loaded();
  for (const organizationId of [known, unknown]) {
    const sent: Sent[] = [];
    const sql = connectDatabase(database.url, {
      connections: 1,
      onStatement: (text, parameters) => sent.push({ text, parameters }),
    });
    const connector = { organizationId, code: 'files' };
    const ledger = objectLedger(sql, connector);
    const keys = Array.from({ length: PAGE }, (_, index) => `out/${index + 1}.ndjson`);
    expect(await ledger.states('usage', keys)).toHaveLength(PAGE);
    expect(await ledger.left('usage', 100)).toHaveLength(FILES / 5000);
    await ledger.ended('usage', 100);
    const file = { bucket: 'usage', key: 'out/5.ndjson', etag: '-' };
    await ledger.begin({ ...file, size: 100 });
    await ledger.failAttempt(file);
    await listCheckpoints(sql, connector, 'usage/out/5.ndjson#-');
    await ledger.end(file, 'usage/out/5.ndjson#-', false);
    await ledger.forget(file);
    await sql.end();
    const statements = sent.filter(({ text }) => TABLES.some((table) => text.includes(table)));
    expect(statements).toHaveLength(8);
    for (const each of statements) {
      for (const mode of PLAN_MODES) {
        const { scans, blocks } = await explainStatement(database.sql, each, { mode, tables: ['ingest_objects'] });
        const text = each.text.replace(/\s+/g, ' ').slice(0, 80);
        expect({ text, mode, scans: scans.filter((scan) => scan.includes(': ')) }).toEqual({ text, mode, scans: [] });
        // A thousand files, a hundred that are marked, or one.
        const most = each.text.includes('is_waiting') ? 5 * PAGE : 2000;
        expect({ text, mode, blocks: blocks <= most || blocks }).toEqual({ text, mode, blocks: true });
      }
    }
  }
}, 120_000);
