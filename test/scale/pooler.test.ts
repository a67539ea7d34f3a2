import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/platform/config.ts';
import { connectDatabase } from '../../src/platform/db/connect.ts';
import { bringUpToDate } from '../../src/platform/db/role-settings.ts';
import { createLog } from '../../src/platform/log/log.ts';
import { awaitStores } from '../../src/platform/process/await-stores.ts';
import { openStory } from '../support/story.ts';
import { until } from '../support/until.ts';
import { ok } from '../support/words.ts';
import { startDroppingPooler } from './support/dropping-pooler.ts';
import { type Pooler, startPgBouncer } from './support/pgbouncer.ts';
import { type OwnPostgres, ROLE, startOwnPostgres } from './support/postgres.ts';
import { lacks } from './support/programs.ts';
import { settingsOf, startWholeService, type WholeService } from './support/service.ts';

const PARAMETERS = ['search_path', 'jit', 'statement_timeout', 'idle_in_transaction_session_timeout'].concat(
  ['idle', 'interval', 'count'].map((name) => `tcp_keepalives_${name}`),
  'tcp_user_timeout',
);

const log = createLog({ level: 'silent', process: 'test' });

describe.skipIf(lacks('pg_basebackup', 'pgbouncer'))('the service behind PgBouncer in transaction mode', () => {
  let server: OwnPostgres;
  let pooler: Pooler;
  let service: WholeService;
  let url: string;
  let applied: string[][];

  beforeAll(async () => {
    // A server whose days begin nine hours early, before a pooler that hands on no settings (SC3).
    server = await startOwnPostgres({ timezone: 'Asia/Tokyo' });
    pooler = await startPgBouncer({ urls: [server.url, server.adminUrl] });
    url = `${pooler.before(server.url)}?prepare=false`;
    const migrators = [1, 2].map(() => connectDatabase(url, { connections: 2 }));
    applied = await Promise.all(migrators.map(async (sql) => (await bringUpToDate(sql, true)).applied));
    await Promise.all(migrators.map((sql) => sql.end({ timeout: 1 })));
    service = await startWholeService({ DATABASE_URL: pooler.before(server.url), DATABASE_PREPARE: 'false' });
  });
  afterAll(async () => {
    await service?.stop();
    await pooler?.stop();
    await server?.stop();
  });

  test('of two migrators at once one migrates, and the role gets the settings of the sessions', async () => {
    expect(applied.map(({ length }) => length > 0).sort()).toEqual([false, true]);
    const [row] = await server.admin<{ texts: string[] }[]>`
      select setconfig as texts from pg_db_role_setting where setrole = ${ROLE}::regrole and setdatabase <> 0`;
    expect(row!.texts).toEqual(
      expect.arrayContaining(['TimeZone=UTC', 'search_path=public', 'jit=off', 'statement_timeout=60000ms']),
    );
    expect(row!.texts).toEqual(expect.arrayContaining(['tcp_keepalives_idle=30', 'tcp_user_timeout=60000ms']));
    // Sessions that the migrators used before are gone.
    const sql = connectDatabase(url, { connections: 4 });
    const seen = await Promise.all(
      [1, 2, 3, 4].map(() => sql<{ jit: string }[]>`select current_setting('jit') as jit, pg_sleep(0.1)`),
    );
    expect(seen.map(([session]) => session!.jit)).toEqual(['off', 'off', 'off', 'off']);
    await sql.end();
  });

  test('a month is billed as in UTC, events and writes are answered, previews and exports work', async () => {
    const story = await openStory(service, '2026-03-01T09:00:00Z');
    const calls = await story.metric('calls');
    await story.plan({
      amount_cents: 3100,
      charges: [{ billable_metric_id: calls.svc_id, charge_model: 'standard', properties: { amount: '0.50' } }],
    });
    await story.customer({ name: 'Acme' });
    await story.subscribe();
    await story.advanceTo('2026-03-31T20:00:00Z'); // already April in Tokyo
    await story.use('calls', {}, { transaction_id: 'late' });
    await story.use('calls', {}, { transaction_id: 'late-too' });
    await until(async () => {
      const { body } = await story.client.get('/customers/acme/current_usage?external_subscription_id=sub');
      return body.customer_usage?.amount_cents === 100;
    });
    const preview = await ok(
      story.client.post('/invoices/preview', {
        customer: { name: 'New' },
        plan_code: 'plan',
        billing_time: 'calendar',
      }),
    );
    expect(preview.invoice.fees_amount_cents).toBeGreaterThan(0);
    await story.advanceTo('2026-04-01T12:00:00Z');
    const [invoice] = await story.invoices(1);
    expect(invoice).toMatchObject({ total_amount_cents: 3200, issuing_date: '2026-04-01' });
    const csv = await story.client.get('/ledger/entries', { headers: { accept: 'text/csv' } });
    expect([csv.status, csv.text.trim().split('\n').length > 2]).toEqual([200, true]);
  });

  const start = (settings: Record<string, string>) => awaitStores(loadConfig(settingsOf(settings)), log);

  test('with prepared statements the start names the setting that is missing (SC2)', async () => {
    await expect(start({ DATABASE_URL: pooler.before(server.url) })).rejects.toThrow(
      /turns us down: unsupported startup parameter: \w+: a pooler is between, so set DATABASE_PREPARE=false$/,
    );
    const dropping = await startPgBouncer({ urls: [server.url], ignores: PARAMETERS });
    await expect(start({ DATABASE_URL: dropping.before(server.url) })).rejects.toThrow(
      /lends sessions for a transaction: a pooler is between, so set DATABASE_PREPARE=false$/,
    );
    await start({ DATABASE_URL: `${dropping.before(server.url)}?prepare=false` });
    await dropping.stop();
    await start({ DATABASE_URL: server.url });
  });

  test('behind a pooler that drops all parameters the role decides, or the start is refused (SC3)', async () => {
    const dropping = await startDroppingPooler(`${server.url}?prepare=false`);
    await start({ DATABASE_URL: dropping.url });
    await server.admin.unsafe(`alter role ${ROLE} in database meterstone reset timezone`);
    await expect(start({ DATABASE_URL: dropping.url })).rejects.toThrow(
      'sessions of the database do not have what the service needs (TimeZone is Asia/Tokyo): run "npm run migrate", ' +
        `or as an administrator "alter role ${ROLE} in database meterstone set TimeZone = 'UTC'"`,
    );
    await server.admin.unsafe(`alter role ${ROLE} in database meterstone set search_path = 'pg_catalog'`);
    await expect(start({ DATABASE_URL: dropping.url })).rejects.toThrow(
      `set TimeZone = 'UTC'; alter role ${ROLE} in database meterstone set search_path = 'public'"`,
    );
    dropping.stop();
    const sql = connectDatabase(server.url, { connections: 2 });
    expect((await bringUpToDate(sql, true)).settings).toMatchObject({ names: ['TimeZone', 'search_path'] });
    await sql.end();
  });

  test('behind a pooler a second schema asks for a role of its own, and changes nothing', async () => {
    const sql = connectDatabase(url, { connections: 2, schema: 'second' });
    await expect(bringUpToDate(sql, true)).rejects.toThrow(/each schema needs a role of its own/);
    expect(await server.admin`select from pg_namespace where nspname = 'second'`).toHaveLength(0);
    await sql.end();
    const direct = connectDatabase(server.url, { connections: 2, schema: 'third' });
    expect(await bringUpToDate(direct, false)).toMatchObject({ settings: { state: 'sent' } });
    expect(await direct`select current_schema() as schema`).toEqual([{ schema: 'third' }]);
    await direct.end();
    await start({ DATABASE_URL: url });
  });
});
