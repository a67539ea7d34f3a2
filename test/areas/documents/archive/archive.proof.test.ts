import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { archiveRoots } from '../../../../src/areas/documents/archive/archive-roots.ts';
import {
  countHandedOut,
  type HandedOut,
  listHandedOut,
  type Place,
} from '../../../../src/areas/documents/archive/queries.ts';
import { findChangedDocuments, verifyArchive } from '../../../../src/areas/documents/archive/verify-archive.ts';
import { ARCHIVE_CHECKS } from '../../../../src/areas/reporting/audit-books/archive-checks.ts';
import { realNow } from '../../../../src/platform/clock/real-clock.ts';
import type { OrganizationId } from '../../../../src/platform/ids.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { projectRoot } from '../../../../src/platform/project-root.ts';
import { buildOnce, builtProgram } from '../../../support/build-once.ts';
import { startService, type TestService, UNSCHEDULED } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';
import { openSeller, type SellerStory } from '../e-documents/seller-story.ts';

// What was handed out can be proved: docs/rules/e-documents.md "archive".
let service: TestService;
let seller: SellerStory;
let scope: { db: TestService['sql']; organizationId: OrganizationId };

const run = promisify(execFile);
const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');
const today = () => realNow().toZonedDateTimeISO('UTC').toPlainDate();
const tomorrow = () => realNow().add({ hours: 24 });
const sweep = (at: Temporal.Instant) =>
  archiveRoots.sweep({ sql: service.sql, log: createLog({ level: 'silent', process: 'test' }) } as never, at);
const roots = async () => (await ok(seller.client.get('/archive_roots'))).archive_roots;

/** Changes rows that a trigger keeps, as somebody with the rights of the database could. */
const behindTheTrigger = (table: string, change: () => Promise<unknown>) =>
  service.sql`alter table ${service.sql(table)} disable trigger user`
    .then(change)
    .finally(() => service.sql`alter table ${service.sql(table)} enable trigger user`);

const verify = () => documents('verify');

/** What the command prints, with its exit code. */
async function documents(...args: string[]): Promise<{ code: number; out: string }> {
  const env = { ...process.env, DATABASE_URL: service.config.DATABASE_URL };
  try {
    const { stdout } = await run(process.execPath, [...builtProgram('src/commands/documents.ts'), ...args], {
      cwd: projectRoot(),
      env,
    });
    return { code: 0, out: stdout };
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string };
    return { code, out: stdout };
  }
}

beforeAll(async () => {
  await buildOnce();
  service = await startService({ pools: UNSCHEDULED });
  seller = await openSeller(service, '2026-03-01T10:00:00Z');
  scope = { db: service.sql, organizationId: seller.organizationId as OrganizationId };
  await seller.buyer('kept', { e_document_profile: 'en16931_ubl' });
  for (let count = 0; count < 3; count += 1) await seller.hours('kept');
  await until(async () => {
    const rows = await seller.documents('statuses[]=ready');
    return rows.length === 3 ? rows : undefined;
  });
  // The first document is two days older than the others.
  const [first] = await service.sql`select id from e_documents order by id limit 1`;
  await behindTheTrigger('e_documents', () =>
    service.sql`update e_documents set ready_at = ready_at - interval '2 days' where id = ${first!.id}`.execute(),
  );
});
afterAll(() => service.stop());

test('each ended day is one line of a chain, and the day that still runs is none', async () => {
  await sweep(realNow());
  expect(await roots()).toHaveLength(1);
  await sweep(tomorrow());
  await sweep(tomorrow());
  const rows = await service.sql<{ id: string; sha256: string; content: Buffer }[]>`
    select id, sha256, content from e_documents order by id`;
  for (const row of rows) expect(sha256(row.content)).toBe(row.sha256);
  const [first, second, third] = rows;
  const before = sha256(`${first!.id}${first!.sha256}`);
  const after = sha256(`${before}${second!.id}${second!.sha256}${third!.id}${third!.sha256}`);
  expect(await roots()).toEqual([
    { billing_entity_code: seller.entityCode, day: today().toString(), count: 2, root: after },
    { billing_entity_code: seller.entityCode, day: today().subtract({ days: 2 }).toString(), count: 1, root: before },
  ]);
  const { archive_roots } = await ok(seller.client.get(`/archive_roots?to=${today().subtract({ days: 1 })}`));
  expect(archive_roots).toMatchObject([{ root: before }]);
  expect(await verifyArchive(scope)).toEqual({ documents: 3, days: 2, faults: [] });
});

test('a link of the chain cannot be changed', async () => {
  await expect(service.sql`update archive_chain set root = 'x'`.execute()).rejects.toThrow('never changed or deleted');
  await expect(service.sql`truncate archive_chain`.execute()).rejects.toThrow('never changed or deleted');
});

test('all documents of a period are one ZIP file with a list of them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'archive-'));
  const file = join(folder, 'march.zip');
  const exported = (path: string, to = '2026-03-31') =>
    documents('export', '--organization', seller.organizationId, '--from', '2026-03-01', '--to', to, '--file', path);
  expect(await exported(file)).toEqual({ code: 0, out: `documents: 3, in ${file}\n` });
  expect((await exported(file)).code).toBe(1);
  expect(await readdir(folder)).toEqual(['march.zip']);
  const files = filesOf(await readFile(file));
  const rows = await service.sql<{ number: string; sha256: string; content: Buffer }[]>`
    select number, sha256, content from e_documents order by id`;
  for (const { number, content } of rows) expect(files.get(`${number}.en16931_ubl.xml`)!.equals(content)).toBe(true);
  expect(files.get('index.csv')!.toString().split('\r\n')).toEqual([
    'number,profile,sha256,file',
    ...rows.map(({ number, sha256: sum }) => `"${number}","en16931_ubl","${sum}","${number}.en16931_ubl.xml"`),
    '',
  ]);
  const earlier = join(folder, 'none.zip');
  expect((await exported(earlier, '2026-02-28')).out).toBe(`documents: 0, in ${earlier}\n`);
});

describe('GET /e_documents/export', () => {
  let reader: string;
  const keyWith = async (permissions: object): Promise<string> =>
    (await ok(seller.client.post('/api_keys', { api_key: { name: 'key', permissions } }))).api_key.value;
  beforeAll(async () => {
    reader = await keyWith({ e_document: ['read'] });
  });
  const exported = (query: string, key = reader) =>
    fetch(`${service.url}/api/v1/e_documents/export?${query}`, { headers: { Authorization: `Bearer ${key}` } });
  const MARCH = 'from=2026-03-01&to=2026-03-31';

  test('the same file comes over HTTP', async () => {
    const answer = await exported(MARCH);
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('content-disposition')]).toEqual([
      200,
      'application/zip',
      'attachment; filename="e-documents-2026-03-01-2026-03-31.zip"',
    ]);
    const files = filesOf(Buffer.from(await answer.arrayBuffer()));
    const rows = await service.sql<{ number: string; content: Buffer }[]>`select number, content from e_documents`;
    for (const { number, content } of rows) expect(files.get(`${number}.en16931_ubl.xml`)!.equals(content)).toBe(true);
    expect(files.size).toBe(rows.length + 1);
  });

  test('documents are read in the order of issue, a few bytes at a time, each once', async () => {
    const period = { from: Temporal.PlainDate.from('2026-03-01'), to: Temporal.PlainDate.from('2026-03-31') };
    const ids: string[] = [];
    for (let after: Place | null = null; ; ) {
      const page: HandedOut[] = await listHandedOut(scope, period, { after, limit: 2, mostBytes: 1 });
      if (page.length === 0) break;
      expect(page).toHaveLength(1);
      after = page[0]!;
      ids.push(after.id);
    }
    const rows = await service.sql<{ id: string }[]>`select id from e_documents order by issued_on, id`;
    expect(ids).toEqual(rows.map(({ id }) => id));
    expect(await countHandedOut(scope, period, 2)).toBe(2);
  });

  test('another organization has none of them', async () => {
    const other = await service.org();
    const answer = await exported(MARCH, other.organization.api_key);
    expect([...filesOf(Buffer.from(await answer.arrayBuffer())).keys()]).toEqual(['index.csv']);
  });

  test('a key without the right is refused', async () => {
    const answer = await exported(MARCH, await keyWith({ invoice: ['read'] }));
    expect([answer.status, (await answer.json()).code]).toEqual([403, 'read_action_not_allowed_for_e_document']);
  });

  test.each([
    ['from=2026-03-01', { to: ['value_is_mandatory'] }],
    ['from=2026-13-01&to=2026-03-31', { from: ['invalid_date'] }],
    ['from=2026-03-02&to=2026-03-01', { to: ['value_is_out_of_range'] }],
  ])('%s is refused', async (query, details) => {
    const answer = await exported(query);
    expect([answer.status, (await answer.json()).error_details]).toEqual([422, details]);
  });
});

/** The files of a ZIP file by its list, each with its checksum tested. */
function filesOf(zip: Buffer): Map<string, Buffer> {
  const end = zip.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const files = new Map<string, Buffer>();
  let at = zip.readUInt32LE(end + 16);
  for (let count = zip.readUInt16LE(end + 10); count > 0; count -= 1) {
    const [size, length, header] = [zip.readUInt32LE(at + 24), zip.readUInt16LE(at + 28), zip.readUInt32LE(at + 42)];
    const start = header + 30 + zip.readUInt16LE(header + 26);
    const content = zip.subarray(start, start + size);
    expect(crc32(content)).toBe(zip.readUInt32LE(at + 16));
    files.set(zip.subarray(at + 46, at + 46 + length).toString(), content);
    at += 46 + length + zip.readUInt16LE(at + 30);
  }
  expect(at).toBe(end);
  return files;
}

test('content that was changed behind the trigger is named by the command and the auditor (FI44)', async () => {
  expect(await verify()).toEqual({ code: 0, out: 'documents: 3, days: 2, wrong: 0\n' });
  const [row] = await service.sql`select id, number, content from e_documents order by id desc limit 1`;
  const change = (content: Uint8Array) =>
    behindTheTrigger('e_documents', () =>
      service.sql`update e_documents set content = ${Buffer.from(content)} where id = ${row!.id}`.execute(),
    );
  const changed = Buffer.from(row!.content);
  changed[changed.length - 2] = 88;
  await change(changed);
  const { code, out } = await verify();
  expect(code).toBe(1);
  expect(out).toContain(`the content of document ${row!.id} (${row!.number}) was changed`);
  expect(out).toContain('documents: 3, days: 2, wrong: 1');
  // One by one, as a large archive is read page by page.
  expect(await findChangedDocuments(scope, today().subtract({ days: 9 }), 100, 1)).toMatchObject([
    { number: row!.number },
  ]);
  const [check] = ARCHIVE_CHECKS;
  expect(await check!.find(scope as never)).toMatchObject([{ resource_id: row!.id }]);
  await change(row!.content);
  expect(await check!.find(scope as never)).toEqual([]);
});

test('a document that was put on a day without a line is named with its day (FI44)', async () => {
  const id = '00000000-0000-7000-8000-00000000f0f0';
  const columns = service.sql`organization_id, billing_entity_id, customer_id, subject_type, subject_id, kind, number,
    issued_on, is_chosen, file_name, content_type, retain_until, enqueued_at, created_at, updated_at, status, content,
    sha256, size, problems, engine_version`;
  await service.sql`
    insert into e_documents (id, profile, ready_at, ${columns})
    select ${id}, 'peppol_bis3', ready_at + interval '1 day', ${columns} from e_documents order by id limit 1`;
  const { faults } = await verifyArchive(scope);
  const day = today().subtract({ days: 1 });
  expect(faults).toMatchObject([{ kind: 'day', billing_entity_code: seller.entityCode, day, expected: 'none' }]);
  await behindTheTrigger('e_documents', () => service.sql`delete from e_documents where id = ${id}`.execute());
  expect((await verifyArchive(scope)).faults).toEqual([]);
});

test('a document that vanished breaks the day that held it', async () => {
  const [row] = await service.sql`select id from e_documents order by id limit 1`;
  await behindTheTrigger('e_documents', () =>
    service.sql`update e_documents set status = 'failed', content = null where id = ${row!.id}`.execute(),
  );
  const { faults } = await verifyArchive(scope);
  expect(faults).toMatchObject([{ kind: 'day', day: today().subtract({ days: 2 }) }]);
});
