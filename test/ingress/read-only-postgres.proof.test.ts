import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ pools: ['writes', 'events'], settings: { WRITE_TIMEOUT_SECONDS: '20' } });
});
afterAll(() => service.stop());

/** What a failover leaves: new sessions may write again, or no longer. */
async function setReadOnly(value: 'on' | 'off'): Promise<void> {
  await service.sql.unsafe(`do $$ begin
    set transaction read write;
    execute format('alter database %I set default_transaction_read_only = ${value}', current_database());
  end $$`);
  await service.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
}

test('while Postgres is read-only writes and events get 503 with Retry-After and reads work; afterwards all work', async () => {
  const org = await service.org();
  const customer = () => org.post('/customers', { customer: { external_id: randomUUID() } });
  const event = () =>
    org.post('/events', { event: { transaction_id: randomUUID(), external_subscription_id: 's', code: 'c' } });
  expect([(await customer()).status, (await event()).status]).toEqual([200, 200]);
  await setReadOnly('on');
  const [written, stored, read] = await Promise.all([
    customer(),
    event(),
    until(async () => (await org.get('/customers')).status === 200),
  ]);
  expect(read).toBe(true);
  for (const answer of [written, stored]) {
    expect(answer.body).toEqual({ status: 503, error: 'Service Unavailable', code: 'service_unavailable' });
    expect(answer.headers['retry-after']).toBe('1');
  }
  await setReadOnly('off');
  await until(async () => (await customer()).status === 200);
  await until(async () => (await event()).status === 200);
}, 90_000);
