import { copyFile, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sql, Tx } from '../../../src/platform/db/connect.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { lookFirstIn, NoSeat, takePreviewTables } from '../../../src/platform/db/preview-tables.ts';
import { newId } from '../../../src/platform/ids.ts';
import { projectRoot } from '../../../src/platform/project-root.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

// Rule: previews.md. What a preview changes are copies in tables that are made once and belong to it meanwhile.
let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await createTestDatabase();
  sql = database.sql;
});
afterAll(() => database.drop());

/** What is described of each table, view or index of a preview schema, and of the stored one of its name. */
async function differences() {
  const ofSchemas = (like: string) => sql<{ name: string; columns: string; indexes: number }[]>`
    select distinct c.relname as name,
      (select string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod)), ', ' order by attnum)
       from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) as columns,
      (select count(*)::int from pg_index where indrelid = c.oid) as indexes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v') and n.nspname like ${like}`;
  const stored = new Map((await ofSchemas('public')).map((each) => [each.name, each]));
  const copies = [...(await ofSchemas('public_preview__')), ...(await ofSchemas('public_preview_fees__'))];
  const views = await ofSchemas('public_preview_draft');
  return {
    names: [...new Set([...copies, ...views].map(({ name }) => name))].sort(),
    unlike: copies.filter((each) => JSON.stringify(each) !== JSON.stringify(stored.get(each.name))),
    unlikeViews: views.filter(({ name, columns }) => columns !== stored.get(name)?.columns),
  };
}

const COPIED = [
  'adjusted_fees',
  'applied_coupons',
  'coupons',
  'credit_notes',
  'credits',
  'customer_numbers',
  'customer_taxes',
  'customers',
  'fee_applied_taxes',
  'fees',
  'invoice_applied_taxes',
  'invoice_subscriptions',
  'organizations',
  'subscriptions',
  'taxes',
  'vies_checks',
  'wallet_days',
  'wallet_transactions',
  'wallets',
];

test('tables of previews have the columns and indexes of the stored ones, and follow what a migration changes', async () => {
  expect(await differences()).toEqual({ names: COPIED, unlike: [], unlikeViews: [] });
  const own = join(projectRoot(), 'migrations');
  const directory = await mkdtemp(join(tmpdir(), 'migrations-'));
  for (const file of (await readdir(own)).filter((name) => name.endsWith('.sql')))
    await copyFile(join(own, file), join(directory, file));
  await writeFile(
    join(directory, '9998_change.sql'),
    `alter table fees add column note text;
    alter table credits rename column invoice_id to bill_id;
    alter table credits rename column bill_id to invoice_id;
    alter table customers drop column logo_url;
    create index customers_by_nickname on customers (organization_id, legal_name);`,
  );
  await writeFile(
    join(directory, '9999_index.sql'),
    '-- no transaction\ncreate index concurrently wallets_by_code on wallets (organization_id, id, code);\n',
  );
  expect(await migrate(sql, directory)).toEqual(['9998_change.sql', '9999_index.sql']);
  expect(await differences()).toEqual({ names: COPIED, unlike: [], unlikeViews: [] });
});

test('a database that was restored from a dump of the one schema gets them back', async () => {
  const restored = await createTestDatabase();
  await restored.sql`select drop_preview_tables()`;
  expect(await migrate(restored.sql)).toEqual([]);
  const [row] = await restored.sql`select to_regclass('public_preview_2.wallets')::text as found`;
  expect(row!.found).toBe('public_preview_2.wallets');
  await restored.drop();
});

test('a schema of the same name that is not ours stays, and the migration says why it ends', async () => {
  const shared = await createTestDatabase();
  await shared.sql`select drop_preview_tables()`;
  await shared.sql`create schema public_preview_1`;
  await shared.sql`create table public_preview_1.orders as select 7 as amount`;
  await expect(migrate(shared.sql)).rejects.toThrow('schema public_preview_1 is not of this service');
  expect(await shared.sql`select amount from public_preview_1.orders`).toEqual([{ amount: 7 }]);
  await shared.drop();
});

/** Takes tables in a transaction that lasts until `end` is called. */
async function seated(organizationId: string) {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let done: Promise<unknown> = Promise.resolve();
  const taken = await new Promise<{ rows: string; tx: Tx }>((resolve, reject) => {
    done = sql.begin(async (tx) => {
      const { rows } = await takePreviewTables({ db: tx, organizationId });
      resolve({ rows, tx });
      await ended;
    });
    done.catch(reject);
  });
  return {
    ...taken,
    async leave() {
      end();
      await done;
    },
  };
}

test('two previews of an organization have tables of their own, a third one none, and others are not concerned', async () => {
  const organizationId = newId();
  const first = await seated(organizationId);
  const second = await seated(organizationId);
  expect([first.rows, second.rows]).toEqual(['public_preview_1', 'public_preview_2']);
  await expect(seated(organizationId)).rejects.toThrow(NoSeat);
  const other = await seated(newId());
  expect(other.rows).toBe('public_preview_1');
  await first.leave();
  const third = await seated(organizationId);
  expect(third.rows).toBe('public_preview_1');
  await Promise.all([second.leave(), other.leave(), third.leave()]);
});

test('the same rows can be copied by both at the same time, and the path ends with the savepoint', async () => {
  const organizationId = newId();
  const copied = async ({ tx, rows }: { tx: Tx; rows: string }) => {
    await tx`set local lock_timeout = '5s'`;
    const takenBack = { count: 0 };
    await tx
      .savepoint(async (inner) => {
        await inner`
          insert into ${inner(`${rows}.customer_numbers`)} (organization_id, number) values (${organizationId}, 1)`;
        await lookFirstIn(inner as Tx, rows);
        const [found] = await inner<{ count: number }[]>`select count(*)::int from customer_numbers`;
        takenBack.count = found!.count;
        throw takenBack;
      })
      .catch((error: unknown) => expect(error).toBe(takenBack));
    const [path] = await tx<{ schema: string }[]>`select current_schema() as schema`;
    return { ...takenBack, schema: path!.schema };
  };
  const [first, second] = [await seated(organizationId), await seated(organizationId)];
  const seen = { count: 1, schema: 'public' };
  expect(await Promise.all([copied(first), copied(second)])).toEqual([seen, seen]);
  await Promise.all([first.leave(), second.leave()]);
});
