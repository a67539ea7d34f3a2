import { DelayedError } from 'bullmq';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { lockOrganizationEvents } from '../../../../src/areas/catalog/usage-shapes/shape-locks.ts';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { finishOpenBatches } from '../../../../src/areas/usage/ingest-events/finish-batches.ts';
import { finishHandlers } from '../../../../src/areas/usage/ingest-events/finish-jobs.ts';
import { lockMatching } from '../../../../src/areas/usage/unmatched-events/matching-lock.ts';
import type { Db } from '../../../../src/platform/db/connect.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { incoming, makeMetric, storage } from './build.ts';

let database: TestDatabase;
let busy: string;
let neighbour: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  const create = async () => (await createOrganization(database.sql, { name: 'Acme', sandbox: false })).organization_id;
  [busy, neighbour] = [await create(), await create()];
});

interface FinishJob {
  organization_id?: string | undefined;
  batch_ids: string[];
}

/** Runs jobs; tells which jobs they leave, and how many came back. */
async function work(...first: FinishJob[]) {
  const left: FinishJob[] = [];
  const addMany = async (name: string, items: { payload: unknown }[]) => {
    if (name === 'events.finish-batch') left.push(...items.map(({ payload }) => payload as FinishJob));
  };
  const handlers = finishHandlers({ sql: database.sql, producer: { addMany } as never });
  let back = 0;
  const comeBack = async () => {
    back += 1;
    throw new DelayedError();
  };
  for (const job of first)
    await handlers['events.finish-batch'](job, { comeBack } as never).catch((error: unknown) => {
      if (!(error instanceof DelayedError)) throw error;
    });
  return { left, back };
}

/** Stores one batch of events of both organizations. */
async function storeMixed(): Promise<FinishJob> {
  const { store, jobs } = storage(database.sql);
  await store(incoming(busy, [{ code: 'a' }, { code: 'b' }]), incoming(neighbour, [{ code: 'a' }]));
  expect(jobs).toHaveLength(1);
  return jobs[0]!.payload as FinishJob;
}

const unmatchedOf = async (id: string) => {
  const rows = await database.sql<{ code: string }[]>`
    select code from unmatched_events where organization_id = ${id} order by code`;
  return rows.map(({ code }) => code);
};

/** While somebody else's transaction holds a lock of the busy organization. */
const whileHeld = <Result>(lock: (tx: Db) => PromiseLike<unknown>, then: () => Promise<Result>) =>
  database.sql.begin(async (tx) => {
    await lock(tx);
    return then();
  });

test('an organization whose events are being healed delays no other: its own events are finished in a separate job', async () => {
  const job = await storeMixed();
  const left = await whileHeld(
    (tx) => lockMatching({ db: tx, organizationId: busy }),
    async () => {
      const first = await work(job);
      expect(await unmatchedOf(neighbour)).toEqual(['a']);
      expect(await unmatchedOf(busy)).toEqual([]);
      expect(first).toEqual({ left: [{ organization_id: busy, batch_ids: [expect.any(String)] }], back: 0 });
      // Its own job has a share of the slots, which it leaves meanwhile.
      expect(await work(...first.left)).toEqual({ left: [], back: 1 });
      return first.left;
    },
  );
  expect(await work(...left)).toEqual({ left: [], back: 0 });
  expect(await unmatchedOf(busy)).toEqual(['a', 'b']);
  expect(await unmatchedOf(neighbour)).toEqual(['a']);
});

test('an organization with locked rows of any kind delays no other in the same batch', async () => {
  await makeMetric(database.sql, busy, { code: 'a', aggregation_type: 'latest_agg', field_name: 'v', shape: [] });
  const { store, jobs } = storage(database.sql);
  await store(incoming(busy, [{ code: 'a', properties: { v: 1 } }]), incoming(neighbour, [{ code: 'a' }]));
  const left = await whileHeld(
    (tx) => lockOrganizationEvents({ db: tx, organizationId: busy }), // a repair, for late rollups
    async () => {
      const first = await work(jobs[0]!.payload as FinishJob);
      expect(first.left.map((each) => each.organization_id).sort()).toEqual([busy, neighbour].sort());
      const second = await work(...first.left);
      expect(second.back).toBe(1);
      expect(await unmatchedOf(neighbour)).toEqual(['a']);
      return first.left;
    },
  );
  await work(...left);
  expect(await unmatchedOf(busy)).toEqual(['a']);
  expect(await unmatchedOf(neighbour)).toEqual(['a']);
  expect(await finishOpenBatches({ db: database.sql, organizationId: busy })).toBe(0);
});

test('an organization whose events cannot be finished does not stop those of the others', async () => {
  const job = await storeMixed();
  // Stands for whatever fails on one organization's data, as a sum beyond the column: its rows cannot be written.
  await database.sql.unsafe(`
    create function refuse_busy() returns trigger language plpgsql as $$
      begin raise numeric_value_out_of_range; end $$;
    create trigger refuse_busy before insert on unmatched_events
      for each row when (new.organization_id = '${busy}') execute function refuse_busy()`);
  const { left } = await work(job);
  expect(left.map((each) => each.organization_id).sort()).toEqual([busy, neighbour].sort());
  for (const own of left) {
    if (own.organization_id === busy) await expect(work(own)).rejects.toMatchObject({ code: '22003' });
    else await work(own);
  }
  expect(await unmatchedOf(neighbour)).toEqual(['a']);
  await database.sql.unsafe('drop trigger refuse_busy on unmatched_events; drop function refuse_busy()');
  await work(...left);
  expect(await unmatchedOf(busy)).toEqual(['a', 'b']);
});

test('events that a test clock waits for are finished without waiting for another organization', async () => {
  await storeMixed();
  await whileHeld(
    (tx) => lockMatching({ db: tx, organizationId: neighbour }),
    async () => {
      expect(await finishOpenBatches({ db: database.sql, organizationId: busy })).toBe(1);
      expect(await unmatchedOf(busy)).toEqual(['a', 'b']);
    },
  );
  expect(await unmatchedOf(neighbour)).toEqual([]);
  expect(await finishOpenBatches({ db: database.sql, organizationId: neighbour })).toBe(1);
  expect(await unmatchedOf(neighbour)).toEqual(['a']);
  expect(await unmatchedOf(busy)).toEqual(['a', 'b']);
});

test('a batch of one organization is finished in a job of its own', async () => {
  const { store, jobs } = storage(database.sql);
  await store(incoming(busy, [{}]), incoming(busy, [{}]));
  expect(jobs.map(({ payload }) => payload)).toEqual([{ organization_id: busy, batch_ids: [expect.any(String)] }]);
});
