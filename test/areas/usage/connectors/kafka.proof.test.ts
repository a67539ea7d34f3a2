import kafkajs from 'kafkajs';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { runConnector } from '../../../../src/areas/usage/connectors/run-connector.ts';
import { createMetrics } from '../../../../src/platform/metrics/metrics.ts';
import { openKafka } from '../../../../src/platform/streams/kafka/kafka-source.ts';
import { kafkaSettings } from '../../../../src/platform/streams/kafka/settings.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { hasKcat, KafkaCluster } from '../../../support/kafka-cluster.ts';
import { until } from '../../../support/until.ts';
import { storage } from '../ingest-events/build.ts';

const metrics = createMetrics('test');
const JOIN_WITHIN_MS = 60_000;

describe.skipIf(!hasKcat())('a cluster of three brokers', { timeout: 120_000 }, () => {
  let cluster: KafkaCluster;
  let database: TestDatabase;
  let organizationId: string;
  let topic: string;
  let number = 0;
  beforeAll(async () => {
    [cluster, database] = await Promise.all([KafkaCluster.start(), createTestDatabase()]);
  });
  afterAll(async () => {
    await cluster.stop();
    await database.drop();
  });
  beforeEach(async () => {
    organizationId = (await createOrganization(database.sql, { name: 'Acme', sandbox: false })).organization_id;
    number += 1;
    topic = `calls-${number}`;
  });

  const event = (id: string | number, fields: object = {}) =>
    JSON.stringify({ transaction_id: `t${id}`, external_subscription_id: 's', code: 'calls', ...fields });

  function start(changes: object = {}) {
    const given = { brokers: cluster.brokers, topics: [topic], session_timeout_seconds: 6, ...changes };
    const settings = { ...kafkaSettings({}).parse(given), group: `svc-ingest-${organizationId}` };
    const connector = { organizationId, code: 'stream', kind: 'kafka', isSandbox: false };
    const running = runConnector({ ...storage(database.sql).deps, metrics }, connector, openKafka(settings));
    let closed: Promise<void> | undefined;
    const close = () => (closed ??= running.close());
    onTestFinished(close);
    return { state: running.state, close };
  }

  const counts = async () => {
    const [row] = await database.sql`
      select coalesce(sum(received), 0)::int as received, coalesce(sum(stored), 0)::int as stored,
        coalesce(sum(replayed), 0)::int as replayed, coalesce(sum(dead), 0)::int as dead
      from ingest_checkpoints where organization_id = ${organizationId}`;
    return row as { received: number; stored: number; replayed: number; dead: number };
  };
  const received = (count: number) => until(async () => (await counts()).received >= count, JOIN_WITHIN_MS);
  const letters = () => database.sql`
    select position, error_code from ingest_dead_letters where organization_id = ${organizationId} order by position`;

  test('messages of every compression are stored with their time, null values are passed over', async () => {
    const compressions = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
    for (const compression of compressions) {
      const values = Array.from({ length: 50 }, (_, index) => event(`${compression}${index}`));
      await cluster.produce(topic, values, { compression });
    }
    await cluster.produce(topic, ['deleted'], { nulls: true });
    const before = Date.now();
    start();
    await received(251);
    expect(await counts()).toEqual({ received: 251, stored: 250, replayed: 0, dead: 0 });
    const [times] = await database.sql`
      select extract(epoch from min(timestamp)) * 1000 as first, extract(epoch from max(timestamp)) * 1000 as last
      from events where organization_id = ${organizationId}`;
    expect(Number(times!.last)).toBeLessThanOrEqual(before);
    expect(Number(times!.first)).toBeGreaterThan(before - 60_000);
  });

  test('what cannot become an event is put aside, also in the topic for that, and the rest goes on', async () => {
    await cluster.produce(topic, [event(1), 'no', event(2, { organization_id: 'other' }), event(3)], { partition: 0 });
    await cluster.produce(topic, [event(4)], { partition: 0, headers: { 'svc-organization-id': 'other' } });
    await cluster.produce(topic, [event(5, { properties: { text: 'x'.repeat(2_000_000) } })], { partition: 0 });
    await cluster.produce(topic, [event(6)], { partition: 0 });
    start({ dead_letter_topics: true });
    await received(7);
    expect(await counts()).toEqual({ received: 7, stored: 3, replayed: 0, dead: 4 });
    expect(await letters()).toEqual([
      { position: `${topic}/0/1`, error_code: 'invalid_json' },
      { position: `${topic}/0/2`, error_code: 'organization_mismatch' },
      { position: `${topic}/0/4`, error_code: 'organization_mismatch' },
      { position: `${topic}/0/5`, error_code: 'payload_too_large' },
    ]);
    const copies = await until(async () => {
      const found = await cluster.consume(`${topic}.dlq`);
      return found.length >= 3 ? found : undefined;
    });
    const first = copies.find(({ payload }) => payload === 'no')!;
    expect(first.headers.join(' ')).toMatch(
      new RegExp(
        `error-code invalid_json error-message .* original-topic ${topic} original-partition 0 original-offset 1`,
      ),
    );
  });

  test('reading goes on at the larger of the stored offset and that of the group', async () => {
    await cluster.produce(
      topic,
      Array.from({ length: 20 }, (_, index) => event(index)),
      { partition: 1 },
    );
    await database.sql`
      insert into ingest_checkpoints (organization_id, connector, key, rank, value, received, stored, replayed, dead,
        updated_at)
      values (${organizationId}, 'stream', ${`${topic}/1`}, 11, '{"next":"12"}', 0, 0, 0, 0, now())`;
    const first = start();
    await received(8);
    await first.close();
    expect(await counts()).toMatchObject({ received: 8, stored: 8, replayed: 0 });
    const group = await groupOffsets();
    expect(group.get(1)).toBe('20');
    // Whoever moves the group ahead of what is stored is followed.
    await database.sql`
      update ingest_checkpoints set rank = 14, value = '{"next":"15"}' where organization_id = ${organizationId}`;
    await cluster.produce(
      topic,
      Array.from({ length: 10 }, (_, index) => event(20 + index)),
      { partition: 1 },
    );
    start();
    await received(18);
    expect(await counts()).toMatchObject({ received: 18, stored: 18, replayed: 0 });
    const stored = await database.sql`select transaction_id from events where organization_id = ${organizationId}`;
    expect(stored.map((row) => row.transaction_id).sort()).toEqual(
      Array.from({ length: 18 }, (_, index) => `t${12 + index}`),
    );
  });

  test('a topic that was made anew is read from its start', async () => {
    await cluster.produce(topic, [event(1)], { partition: 0 });
    await database.sql`
      insert into ingest_checkpoints (organization_id, connector, key, rank, value, received, stored, replayed, dead,
        updated_at)
      values (${organizationId}, 'stream', ${`${topic}/0`}, 999, '{"next":"1000"}', 0, 0, 0, 0, now())`;
    start();
    await received(1);
    await cluster.produce(topic, [event(2)], { partition: 0 });
    await received(2);
    const [checkpoint] = await database.sql`
      select rank::int as rank from ingest_checkpoints where organization_id = ${organizationId} and key = ${`${topic}/0`}`;
    expect(checkpoint!.rank).toBe(1);
  });

  test('processes come and go, and every message is stored once', async () => {
    let sent = 0;
    const send = async (count: number) => {
      await cluster.produce(
        topic,
        Array.from({ length: count }, (_, index) => event(sent + index)),
      );
      sent += count;
    };
    await send(2000);
    const first = start();
    await received(2000);
    const others = [start(), start()];
    await send(3000);
    await received(5000);
    await first.close();
    await send(3000);
    await received(8000);
    await others[1]!.close();
    await send(2000);
    await received(10_000);
    const { stored, dead } = await counts();
    expect({ stored, dead }).toEqual({ stored: 10_000, dead: 0 });
    expect(await database.sql`select from events where organization_id = ${organizationId}`).toHaveLength(10_000);
    await until(() => others[0]!.state().lag.messages === 0);
  });

  test('a topic that is missing and brokers that are away are named, and reading begins when they are there', async () => {
    const away = start({ brokers: ['127.0.0.1:9'] });
    await until(() => away.state().status === 'retrying');
    expect(away.state().error).toBe('the brokers cannot be reached: 127.0.0.1:9 (ECONNREFUSED)');
    await away.close();
    const missing = start();
    await until(() => missing.state().status === 'retrying');
    expect(missing.state().error).toBe(`the topics are missing: ${topic}`);
    await cluster.produce(topic, [event(1)]);
    await received(1);
    expect(missing.state()).toMatchObject({ status: 'running', error: null });
  });

  const groupOffsets = async () => {
    const admin = new kafkajs.Kafka({ brokers: cluster.brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      const [found] = await admin.fetchOffsets({ groupId: `svc-ingest-${organizationId}`, topics: [topic] });
      return new Map(found!.partitions.map(({ partition, offset }) => [partition, offset]));
    } finally {
      await admin.disconnect();
    }
  };
});
