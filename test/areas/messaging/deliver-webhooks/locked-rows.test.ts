import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type HookReceiver, openHookReceiver } from '../../../support/hook-receiver.ts';
import { until } from '../../../support/until.ts';
import { customers, openStage, type Stage } from './stage.ts';

// everywhere.md#bounded-cost: outcomes of several organizations share a statement; a locked row of one delays no other.

let stage: Stage;
let receiver: HookReceiver;

beforeAll(async () => {
  stage = await openStage();
  stage.work();
  receiver = await openHookReceiver();
});
afterAll(async () => {
  await stage.close();
  await receiver.close();
});
let unlock: (() => Promise<void>) | undefined;
afterEach(async () => unlock?.());

/** Holds rows of one organization until `unlock`. */
async function lock(table: 'webhook_endpoints' | 'webhook_deliveries', organizationId: string): Promise<void> {
  const { sql } = stage.database;
  const holder = await sql.reserve();
  await holder`begin`;
  await holder`select from ${sql(table)} where organization_id = ${organizationId} for update`;
  unlock = async () => {
    unlock = undefined;
    await holder`commit`;
    holder.release();
  };
}

const succeeded = (endpointId: string) =>
  until(async () => {
    const rows = await stage.deliveries(endpointId);
    return rows.every(({ status }) => status === 'succeeded') && rows;
  });

test.each(['webhook_endpoints', 'webhook_deliveries'] as const)(
  'while rows of one organization in %s are locked, the deliveries of others are written',
  async (table) => {
    const [busy, other] = [await stage.org(), await stage.org()];
    const busyId = await stage.endpoint(busy, receiver.url);
    const otherId = await stage.endpoint(other, receiver.url);
    const { sql } = stage.database;
    // Only an endpoint that failed before is written to when its events arrive.
    await sql`update webhook_endpoints set consecutive_failures = 3 where id = ${busyId}`;
    await stage.emit(busy, customers(40), 'jobs');
    await lock(table, busy.organization_id);
    const before = receiver.hooks.length;
    const waiting = await stage.deliveries(busyId);
    await stage.producer.addMany(
      'webhook.deliver',
      waiting.map(({ id }) => ({
        payload: { organization_id: busy.organization_id, webhook_endpoint_id: busyId, delivery_ids: [id] },
        options: {},
      })),
    );
    await until(async () => receiver.hooks.length >= before + 4); // several of its jobs wait for the lock
    for (let round = 0; round < 3; round += 1) {
      await stage.emit(other, customers(1));
      const startedAt = performance.now();
      await succeeded(otherId);
      expect(performance.now() - startedAt).toBeLessThan(3000);
      await pause(50);
    }
    expect((await stage.deliveries(busyId)).every(({ status }) => status === 'pending')).toBe(true);
    const [{ waiters } = { waiters: 0 }] = await sql<{ waiters: number }[]>`
      select count(*)::int as waiters from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    expect(waiters).toBeLessThanOrEqual(1); // one connection waits for the organization, however many of its jobs do

    await unlock!();
    await succeeded(busyId);
    expect((await stage.readEndpoint(busyId)).consecutive_failures).toBe(0);
  },
);
