import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { type OwnPostgres, startOwnPostgres } from './support/postgres.ts';
import { lacks } from './support/programs.ts';
import { type ServiceOn, startServiceOn } from './support/service-on.ts';

const PAIRS = 200;
/** The most lag with which a replica is read from, and how often it is looked at. */
const LEFT_OUT_WITHIN_MS = 6000;
const SLOT = 'replica';

// Rules: read-replicas.md#read-your-writes, read-replicas.md#broken-replicas; SC8.
describe.skipIf(lacks('pg_basebackup'))('reads on a replica that replays two seconds late', () => {
  let primary: OwnPostgres;
  let replica: OwnPostgres;
  let service: ServiceOn;
  let org: Awaited<ReturnType<ServiceOn['org']>>;
  beforeAll(async () => {
    primary = await startOwnPostgres();
    await primary.admin`select pg_create_physical_replication_slot(${SLOT})`;
    replica = await primary.standby({
      primary_slot_name: SLOT,
      recovery_min_apply_delay: '2s',
      wal_retrieve_retry_interval: '200ms',
    });
    service = await startServiceOn(primary, {
      pools: ['writes', 'events'],
      settings: { READ_DATABASE_URL: replica.url },
    });
    org = await service.org();
  }, 120_000);
  afterAll(async () => {
    await service?.stop();
    await replica?.stop();
    await primary?.stop();
  }, 60_000);

  const servedBy = (server: string, reason = '') =>
    service.metric(`meterstone_replica_reads_total served_by="${server}",${reason && `reason="${reason}"`}`);
  const shown = async () => {
    const { read_replicas: replicas } = await fetch(`${service.url}/ready`).then((answer) => answer.json());
    return replicas[0];
  };
  const isReadFrom = (expected: boolean) => until(async () => (await shown()).is_read_from === expected);
  /** Reads until the replica has answered one. */
  const readsOnReplica = () =>
    until(async () => {
      const before = await servedBy('replica');
      expect((await org.get('/customers')).status).toBe(200);
      return (await servedBy('replica')) > before;
    });

  test('of 200 pairs of a write and a read of what it wrote none is not found, and later reads go to the replica', async () => {
    await isReadFrom(true);
    const missing: unknown[] = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const id = randomUUID();
      const written =
        pair % 2 === 0
          ? await org.post('/customers', { customer: { external_id: id } })
          : await org.post('/events', { event: { transaction_id: id, external_subscription_id: 's', code: 'c' } });
      const read = await org.get(pair % 2 === 0 ? `/customers/${id}` : `/events/${id}`);
      if (written.status !== 200 || read.status !== 200)
        missing.push({ pair, written: written.status, read: read.status });
    }
    expect(missing).toEqual([]);
    expect(await servedBy('primary', 'behind')).toBeGreaterThan(0);
    await readsOnReplica();
    expect((await org.get('/customers?per_page=1')).body.meta.total_count).toBe(PAIRS / 2);
  }, 60_000);

  test('what is written after Redis was emptied is found, also by a caller that sends its position back', async () => {
    const external_id = randomUUID();
    const { headers } = await org.post('/customers', { customer: { external_id } });
    await service.redis.del(await service.redis.keys(`${service.prefix}:position:*`));
    expect((await org.get(`/customers/${external_id}`)).status).toBe(200);

    const position = headers['x-svc-position'] as string;
    const key = `${service.prefix}:position:{${org.organization.organization_id}}`;
    const second = randomUUID();
    const written = await org.post('/customers', { customer: { external_id: second } });
    await service.redis.set(key, '0'.repeat(16));
    const sent = { headers: { 'X-Svc-Position': written.headers['x-svc-position'] as string } };
    expect((await org.get(`/customers/${second}`, sent)).status).toBe(200);
    await service.redis.set(key, '0'.repeat(16));
    for (const odd of ['nonsense', 'FFFFFFFF/FFFFFFFF', ''])
      expect((await org.get(`/customers/${second}`, { headers: { 'X-Svc-Position': odd } })).status).toBe(200);
    expect(position).toMatch(/^[0-9A-F]+\/[0-9A-F]+$/);
  });

  test('a replica whose slot was dropped is left out within 6 s and taken back by itself', async () => {
    await isReadFrom(true);
    await primary.admin`select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = ${SLOT}`;
    const droppedAt = performance.now();
    await until(() =>
      primary.admin`select pg_drop_replication_slot(${SLOT})`.then(
        () => true,
        () => false, // its sender has not ended yet
      ),
    );
    await isReadFrom(false);
    expect(performance.now() - droppedAt).toBeLessThan(LEFT_OUT_WITHIN_MS);
    expect(await shown()).toMatchObject({ reason: 'is behind' });
    const before = await servedBy('primary', 'none');
    expect((await org.get('/customers')).status).toBe(200);
    expect(await servedBy('primary', 'none')).toBe(before + 1);

    await primary.admin`select pg_create_physical_replication_slot(${SLOT})`;
    await isReadFrom(true);
    await readsOnReplica();
  }, 60_000);

  test('a read on a replica that freezes is answered by the primary, and so is one on a replica that ends', async () => {
    await readsOnReplica();
    const backends = await replica.admin<{ pid: number }[]>`
      select pid from pg_stat_activity where application_name like 'meterstone ingress%'`;
    const frozenPids = [replica.server.pid, ...backends.map(({ pid }) => pid)];
    const signal = (name: NodeJS.Signals) => frozenPids.forEach((pid) => void process.kill(pid, name));
    signal('SIGSTOP');
    const frozen = await org.get('/customers');
    expect(frozen.status).toBe(200);
    await isReadFrom(false);
    signal('SIGCONT');
    await isReadFrom(true);
    await readsOnReplica();

    await replica.server.end();
    expect((await org.get('/customers')).status).toBe(200);
    await isReadFrom(false);
    expect(await shown()).toMatchObject({ reason: 'does not answer' });
    expect((await org.get('/customers')).status).toBe(200);
    await replica.restart();
    await isReadFrom(true);
    await readsOnReplica();
  }, 60_000);
});
