import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/platform/config.ts';
import { createLog } from '../../src/platform/log/log.ts';
import { awaitStores } from '../../src/platform/process/await-stores.ts';
import { until } from '../support/until.ts';
import { type OwnPostgres, ROLE, startOwnPostgres } from './support/postgres.ts';
import { lacks } from './support/programs.ts';
import { settingsOf } from './support/service.ts';
import { type ServiceOn, startServiceOn } from './support/service-on.ts';

const REFUSED_WITHIN_MS = 5000;
/** A commit must have waited for 3 s, and it is looked every 2.5 s. */
const FROZEN_REFUSED_WITHIN_MS = 8000;
const REQUIRED = { REQUIRE_SYNCHRONOUS_STANDBY: 'true', WRITE_TIMEOUT_SECONDS: '3' };

// Rule: several-hosts.md#synchronous-standby; SC5.
describe.skipIf(lacks('pg_basebackup'))('a service that requires a synchronous standby', () => {
  let primary: OwnPostgres;
  let standby: OwnPostgres;
  let service: ServiceOn;
  let org: Awaited<ReturnType<ServiceOn['org']>>;
  beforeAll(async () => {
    primary = await startOwnPostgres();
    standby = await primary.standby();
    service = await startServiceOn(primary, { pools: ['writes', 'events'], settings: REQUIRED });
    org = await service.org();
  }, 180_000);
  afterAll(async () => {
    // What waits for a standby goes on without.
    await primary?.admin.unsafe('alter system reset synchronous_standby_names');
    await primary?.admin.unsafe('select pg_reload_conf()');
    await service?.stop();
    await standby?.stop();
    await primary?.stop();
  }, 60_000);

  const ready = async () => {
    const answer = await fetch(`${service.url}/ready`);
    const { reasons } = (await answer.json()) as { reasons: { check: string; reason: string }[] };
    return reasons.find(({ check }) => check === 'synchronous_standby')?.reason;
  };
  const send = async (): Promise<number> => {
    const event = { transaction_id: randomUUID(), external_subscription_id: 's', code: 'c' };
    return (await org.post('/events', { event })).status;
  };

  test('does not start with a role that cannot see standbys, and names the grant', async () => {
    const config = loadConfig(settingsOf({ DATABASE_URL: primary.url, ...REQUIRED }));
    const start = () => awaitStores(config, createLog({ level: 'silent', process: 'test' }));
    await expect(start()).rejects.toThrow(`"grant pg_monitor to ${ROLE}"`);
    await primary.admin.unsafe(`grant pg_monitor to ${ROLE}`);
    await start();
  });

  test('refuses writes and events while the standby is not a synchronous one, but answers reads', async () => {
    await until(async () => (await ready())?.startsWith('no synchronous standby is connected'));
    expect(await send()).toBe(503);
    expect((await org.post('/customers', { customer: { external_id: 'ada' } })).status).toBe(503);
    expect((await org.get('/customers')).status).toBe(200);
  });

  test('answers 504, then within 5 s 503, once the standby is gone, and goes on when it is back (SC5)', async () => {
    await primary.followSynchronously('standby');
    await until(async () => (await ready()) === undefined);
    expect(await send()).toBe(200);

    await standby.server.end();
    const goneAt = performance.now();
    const answers: { sentMs: number; status: number }[] = [];
    const sent: Promise<void>[] = [];
    while (performance.now() - goneAt < REFUSED_WITHIN_MS + 2000) {
      const sentMs = performance.now() - goneAt;
      sent.push(send().then((status) => void answers.push({ sentMs, status })));
      await pause(250);
    }
    await Promise.all(sent);
    expect(answers.filter(({ status }) => status !== 503 && status !== 504)).toEqual([]);
    expect(answers.filter(({ sentMs, status }) => sentMs > REFUSED_WITHIN_MS && status !== 503)).toEqual([]);
    expect(answers.some(({ status }) => status === 504)).toBe(true);

    await standby.restart();
    await until(async () => (await ready()) === undefined);
    expect(await until(async () => (await send()) === 200)).toBe(true);
  }, 90_000);

  test('refuses while a standby is connected but frozen, and goes on when it wakes up', async () => {
    await until(async () => (await ready()) === undefined);
    const [receiver] = await standby.admin<{ pid: number }[]>`select pid from pg_stat_wal_receiver`;
    process.kill(receiver!.pid, 'SIGSTOP');
    const frozenAt = performance.now();
    try {
      const answers: { sentMs: number; status: number }[] = [];
      const sent: Promise<void>[] = [];
      while (performance.now() - frozenAt < FROZEN_REFUSED_WITHIN_MS + 2000) {
        const sentMs = performance.now() - frozenAt;
        sent.push(send().then((status) => void answers.push({ sentMs, status })));
        await pause(250);
      }
      expect(await ready()).toMatch(/^the synchronous standby is silent/);
      await Promise.all(sent);
      expect(answers.filter(({ status }) => status !== 503 && status !== 504)).toEqual([]);
      expect(answers.filter(({ sentMs, status }) => sentMs > FROZEN_REFUSED_WITHIN_MS && status !== 503)).toEqual([]);
    } finally {
      process.kill(receiver!.pid, 'SIGCONT');
    }
    await until(async () => (await ready()) === undefined);
    expect(await until(async () => (await send()) === 200)).toBe(true);
  }, 90_000);
});
