import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const WRITES = 40;

let service: TestService;
let busy: Awaited<ReturnType<TestService['org']>>;
let neighbour: Awaited<ReturnType<TestService['org']>>;

beforeAll(async () => {
  service = await startService({ settings: { DATABASE_POOL: '12' } });
  busy = await service.org();
  neighbour = await service.org();
  await busy.post('/customers', { customer: { external_id: 'locked', currency: 'EUR' } });
  await busy.post('/customers', { customer: { external_id: 'free', currency: 'EUR' } });
  await neighbour.post('/customers', { customer: { external_id: 'n', currency: 'EUR' } });
});
afterAll(() => service.stop());

const event = (id: string) => ({ event: { transaction_id: id, external_subscription_id: 'none', code: 'c' } });

test('40 writes behind a locked customer delay no other organization and no other customer', async () => {
  const { organization_id } = busy.organization;
  const holder = await service.sql.reserve();
  await holder`begin`;
  await holder`select from customers where organization_id = ${organization_id} and external_id = 'locked' for update`;
  const rename = (externalId: string, name: string) =>
    busy.post('/customers', { customer: { external_id: externalId, name } });
  const behind = Array.from({ length: WRITES }, (_, index) => rename('locked', `name ${index}`));
  await until(async () => {
    const { delayed } = await service.ingress.producer.queue('writes').getJobCounts('delayed');
    return (delayed ?? 0) >= WRITES - 5;
  });
  const waiting = async () => {
    const [row] = await service.sql<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and application_name = 'meterstone writes'`;
    return row!.count;
  };
  // Two of them wait for the row; the others hold nothing.
  await until(async () => (await waiting()) === 2);
  // The row stays locked all the while: whatever is answered did not wait for it.
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all([
      neighbour.post('/customers', { customer: { external_id: `n${round}` } }),
      neighbour.post('/events', event(`n${round}`)),
      busy.post('/customers', { customer: { external_id: `b${round}` } }),
      rename('free', `free ${round}`),
      busy.post('/events', event(`b${round}`)),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await waiting()).toBe(2);
  }
  await holder`commit`;
  holder.release();
  const answers = await Promise.all(behind);
  expect(answers.map(({ status }) => status)).toEqual(new Array(WRITES).fill(200));
});
