import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createOrganization } from '../../../src/areas/tenancy/organizations/commands.ts';
import { type Watch, watchOwed } from '../../../src/jobs/sweep-rows/watch-owed.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import type { QueueName } from '../../../src/queues.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';

const NEVER_MS = 3_600_000;

let database: TestDatabase;
let organizationId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  organizationId = (await createOrganization(database.sql, { name: 'Owing', sandbox: false })).organization_id;
});
afterAll(() => database.drop());

let watch: Watch | undefined;
let nudged: { job: string; id: string | undefined }[];
let waiting: Partial<Record<QueueName, number>>;
let away: boolean;
beforeEach(async () => {
  nudged = [];
  waiting = {};
  away = false;
  await database.sql`truncate after_steps, event_batches, webhook_deliveries`;
});
afterEach(() => watch?.close());

/** `away` answers like a Postgres that is starting. */
const sqlOrAway = new Proxy((() => {}) as unknown as TestDatabase['sql'], {
  apply: (_target, _self, parameters: [TemplateStringsArray, ...unknown[]]) => {
    // Fragments of statements go through: only a statement that is sent can fail.
    if (away && /^\s*update/.test(parameters[0][0]!))
      return Promise.reject(Object.assign(new Error('the database system is starting up'), { code: '57P03' }));
    return (database.sql as unknown as (...all: unknown[]) => unknown)(...parameters);
  },
});

const start = (lostAfterMs: number, lookEveryMs: number) => {
  watch = watchOwed(
    {
      sql: sqlOrAway,
      log: createLog({ level: 'silent', process: 'test' }),
      producer: {
        async addMany(job: string, items: { options?: { id?: string } }[]) {
          for (const { options } of items) nudged.push({ job, id: options?.id });
        },
        queue: (name: QueueName) => ({
          getJobCounts: async () => ({ waiting: waiting[name] ?? 0, prioritized: 0 }),
        }),
      } as never,
    },
    lostAfterMs,
    lookEveryMs,
  );
  return watch;
};

async function owe(ageSeconds: number, attempts = 0): Promise<string> {
  const id = randomUUID();
  const since = realNow().subtract({ milliseconds: Math.trunc(ageSeconds * 1000) });
  await database.sql`
    insert into after_steps (id, organization_id, job, payload, created_at, enqueued_at, attempts)
    values (${id}, ${organizationId}, 'any', '{}', ${since}, ${since}, ${attempts})`;
  return id;
}

async function storeBatch(ageSeconds: number): Promise<string> {
  const id = randomUUID();
  const since = realNow().subtract({ milliseconds: Math.trunc(ageSeconds * 1000) });
  await database.sql`
    insert into event_batches (id, organization_ids, event_ids, created_at, enqueued_at)
    values (${id}, ${[organizationId]}, ${[randomUUID()]}, ${since}, ${since})`;
  return id;
}

/** An endpoint with a delivery that was due 3 s ago. */
async function owedEndpoint(): Promise<string> {
  const [id, event] = [randomUUID(), randomUUID()];
  const { sql } = database;
  const since = realNow().subtract({ seconds: 3 });
  await sql`
    insert into webhook_endpoints (id, organization_id, webhook_url, signature_algo, secret, created_at, updated_at)
    values (${id}, ${organizationId}, 'https://acme.test', 'hmac', 'whsec_', ${since}, ${since})`;
  await sql`
    insert into webhook_events (id, organization_id, webhook_type, object_type, object_id, payload, occurred_at,
      created_at)
    values (${event}, ${organizationId}, 'customer.created', 'customer', ${randomUUID()}, '{}', ${since}, ${since})`;
  await sql`
    insert into webhook_deliveries (id, organization_id, webhook_endpoint_id, event_id, endpoint, next_attempt_at,
      created_at, updated_at)
    values (${randomUUID()}, ${organizationId}, ${id}, ${event}, 'https://acme.test', ${since}, ${since}, ${since})`;
  return id;
}

const ids = () => nudged.map(({ id }) => id);

describe('work whose nudge was lost', () => {
  test('batches and steps lost before a start are nudged shortly after it', async () => {
    const [step, batch, endpoint] = await Promise.all([owe(3), storeBatch(3), owedEndpoint()]);
    start(50, NEVER_MS);
    await until(() => nudged.length === 3);
    expect(nudged).toEqual(
      expect.arrayContaining([
        { job: 'step.run', id: `step-${step}-owed` },
        { job: 'events.finish-batch', id: `finish-${batch}-owed` },
        { job: 'webhook.walk', id: `walk-${endpoint}` },
      ]),
    );
  });

  test('work lost with a connection is nudged shortly after the loss, and newer work is not yet counted as lost', async () => {
    start(400, NEVER_MS);
    const lost = await owe(0);
    watch!.suspect();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const young = await owe(0);
    await until(() => ids().includes(`step-${lost}-owed`));
    expect(ids()).not.toContain(`step-${young}-owed`);
    watch!.suspect();
    await until(() => ids().includes(`step-${young}-owed`));
  });

  test('work lost while Postgres is away is nudged once it is back', async () => {
    const step = await owe(3);
    away = true;
    start(20, NEVER_MS);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(nudged).toEqual([]);
    away = false;
    await until(() => ids().includes(`step-${step}-owed`));
  });

  test('work lost without any sign is nudged after 10 s where its queue is idle, and left alone where it waits its turn', async () => {
    await Promise.all([storeBatch(11), owe(9)]);
    waiting = { aggregation: 1 };
    const old = await owe(11);
    start(0, 20);
    await until(() => ids().includes(`step-${old}-owed`));
    nudged = [];
    const [batch, step] = await Promise.all([storeBatch(11), owe(11)]);
    await until(() => ids().includes(`step-${step}-owed`));
    expect(ids()).not.toContain(`finish-${batch}-owed`);
    waiting = {};
    await until(() => ids().includes(`finish-${batch}-owed`));
  });

  test('work whose attempt failed is left to the retry of its job for two minutes', async () => {
    const [tried, longAgo] = [await owe(60, 1), await owe(121, 1)];
    start(20, NEVER_MS);
    await until(() => ids().includes(`step-${longAgo}-owed`));
    expect(ids()).not.toContain(`step-${tried}-owed`);
  });
});
