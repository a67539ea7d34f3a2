import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';

// A record is looked up by the index that fits all conditions, also when the organization is newer than the statistics.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const MANY = 3000;

async function manyCustomers() {
  const { organization } = await service.org();
  const id = organization.organization_id;
  await service.sql`
    insert into customers (id, organization_id, billing_entity_id, external_id, sequential_id, slug, created_at,
      updated_at)
    select gen_random_uuid(), ${id}, (select id from billing_entities where organization_id = ${id}), 'customer-' || n,
      n, 'S-' || n, now(), now()
    from generate_series(1, ${MANY}::int) n`;
  return id;
}

test('no statistics are kept of which organization a row belongs to, but of events', async () => {
  const kept = await service.sql`
    select class.relname from pg_attribute attribute
    join pg_class class on class.oid = attribute.attrelid
    where class.relnamespace = current_schema()::regnamespace and class.relkind = 'r' and not class.relispartition
      and attribute.attname = 'organization_id' and attribute.attstattarget <> 0 and class.relname <> 'events'`;
  expect(kept.map(({ relname }) => relname)).toEqual([]);
});

test('a customer of an organization unknown to the statistics is looked up without passing over others', async () => {
  await manyCustomers();
  await service.sql`analyze customers`;
  const id = await manyCustomers();
  const [some] = await service.sql`
    select id from customers where organization_id = ${id} and external_id = 'customer-2900'`;
  for (const condition of [
    "external_id = 'customer-2900' and deleted_at is null",
    `id = '${some!.id}'`,
    'sequential_id = 2900',
  ])
    expect([condition, await rowsRead(`organization_id = '${id}' and ${condition}`)]).toEqual([condition, 1]);
});

test('statistics from before they were switched off are dropped, and tables and whole indexes stay', async () => {
  await manyCustomers();
  const kept = async () =>
    await service.sql`
      select n_distinct from pg_stats where schemaname = current_schema() and attname = 'organization_id'
        and tablename = 'customers'`;
  const files = async () =>
    await service.sql`
      select relname, relfilenode from pg_class where relnamespace = current_schema()::regnamespace
        and relkind in ('r', 'i')
        and oid not in (select indexrelid from pg_index where indpred is not null) order by relname`;
  const constraints = async () =>
    await service.sql`
      select conname, pg_get_constraintdef(oid) as text, convalidated from pg_constraint
      where connamespace = current_schema()::regnamespace order by conname, text`;
  await service.sql`alter table customers alter column organization_id set statistics -1`;
  await service.sql`analyze customers`;
  await service.sql`alter table customers alter column organization_id set statistics 0`;
  await service.sql`analyze customers`;
  expect(await kept()).toHaveLength(1);
  const before = [await files(), await constraints()];
  await service.sql.begin(async (tx) => {
    await tx`select drop_preview_views()`;
    await tx.unsafe(readFileSync('migrations/0073_forget_former_statistics.sql', 'utf8'));
    await tx`select make_preview_tables()`;
  });
  expect(await kept()).toEqual([]);
  expect([await files(), await constraints()]).toEqual(before);
  const [column] = await service.sql`
    select attstattarget from pg_attribute
    where attrelid = 'customers'::regclass and attname = 'organization_id'`;
  expect(column).toEqual({ attstattarget: 0 });
});

/** Rows of customers that a statement fetches. */
async function rowsRead(condition: string): Promise<number> {
  return service.sql.begin(async (tx) => {
    const read = async () => {
      const [row] = await tx<{ rows: number }[]>`
        select (seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint as rows
        from pg_stat_xact_user_tables where relname = 'customers'`;
      return Number(row!.rows);
    };
    const before = await read();
    await tx.unsafe(`select id from customers where ${condition}`);
    return (await read()) - before;
  });
}
