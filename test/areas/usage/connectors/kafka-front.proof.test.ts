import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { runConnector } from '../../../../src/areas/usage/connectors/run-connector.ts';
import { READINESS_CHECKS, type ReadinessDeps } from '../../../../src/ingress/readiness-checks.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { createMetrics } from '../../../../src/platform/metrics/metrics.ts';
import { openKafka } from '../../../../src/platform/streams/kafka/kafka-source.ts';
import { kafkaSettings } from '../../../../src/platform/streams/kafka/settings.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { hasKcat, KafkaCluster } from '../../../support/kafka-cluster.ts';
import { KafkaFront, type KafkaFrontInput } from '../../../support/kafka-front.ts';
import { selfSigned } from '../../../support/tls-front.ts';
import { until } from '../../../support/until.ts';
import { storage } from '../ingest-events/build.ts';

// Brokers that ask who is there, and topics that do not keep still (streams.md#kafka).
const metrics = createMetrics('test');
const JOIN_WITHIN_MS = 60_000;
const SECRET = 'hunter2-of-the-broker';
const SERVER_NAME = 'kafka.example.com';

describe.skipIf(!hasKcat())('a broker behind a front', { timeout: 120_000 }, () => {
  let cluster: KafkaCluster;
  let database: TestDatabase;
  let folder: string;
  let organizationId: string;
  let number = 0;
  beforeAll(async () => {
    [cluster, database, folder] = await Promise.all([
      KafkaCluster.start(1),
      createTestDatabase(),
      mkdtemp(join(tmpdir(), 'meterstone-kafka-front-')),
    ]);
  });
  afterAll(async () => {
    await cluster.stop();
    await database.drop();
    await rm(folder, { recursive: true });
  });
  beforeEach(async () => {
    organizationId = (await createOrganization(database.sql, { name: 'Acme', sandbox: false })).organization_id;
    number += 1;
  });
  const topic = () => `calls-${number}`;

  const event = (id: string | number) =>
    JSON.stringify({ transaction_id: `t${id}`, external_subscription_id: 's', code: 'calls' });
  const events = (from: number, count: number) => Array.from({ length: count }, (_, index) => event(from + index));
  const stored = async () => {
    const rows = await database.sql`
      select substr(transaction_id, 2)::int as number from events where organization_id = ${organizationId} order by 1`;
    return rows.map((row) => row.number);
  };
  const untilStored = (count: number) => until(async () => (await stored()).length >= count, JOIN_WITHIN_MS);

  async function front(changes: Partial<KafkaFrontInput> = {}): Promise<KafkaFront> {
    const started = await KafkaFront.start({ broker: cluster.brokers[0]!, ...changes });
    onTestFinished(() => started.stop());
    return started;
  }

  /** Starts a connector; its log is kept. */
  function start(code: string, settings: object) {
    const lines: string[] = [];
    const log = createLog({ level: 'trace', process: 'test' }, {
      write: (line: string) => void lines.push(line),
    } as never);
    const given = { topics: [topic()], session_timeout_seconds: 6, ...settings };
    const parsed = { ...kafkaSettings({ PASSWORD: SECRET }).parse(given), group: `${code}-${organizationId}` };
    const connector = { organizationId, code, kind: 'kafka', isSandbox: false };
    const running = runConnector({ ...storage(database.sql).deps, metrics, log }, connector, openKafka(parsed));
    let closed: Promise<void> | undefined;
    const close = () => (closed ??= running.close());
    onTestFinished(close);
    return { state: running.state, close, lines };
  }

  async function caFile(cert: string): Promise<string> {
    const path = join(folder, `ca-${number}.pem`);
    await writeFile(path, cert);
    return path;
  }

  const password = { mechanism: 'plain', username: 'meterstone', password: { env: 'PASSWORD' } };
  const [own, another] = [selfSigned(SERVER_NAME), selfSigned(SERVER_NAME)];
  const noFront: Partial<KafkaFrontInput> = {};
  type Case = [what: string, front: Partial<KafkaFrontInput>, settings: (ca: string) => object, error: RegExp];
  test.each<Case>([
    ['a certificate that nobody trusts', { tls: own }, () => ({ tls: true }), /\(DEPTH_ZERO_SELF_SIGNED_CERT\)$/],
    [
      'a certificate of another authority',
      { tls: another },
      (ca) => ({ tls: { ca_file: ca, server_name: SERVER_NAME } }),
      /\(DEPTH_ZERO_SELF_SIGNED_CERT\)$/,
    ],
    [
      'a certificate for another name',
      { tls: own },
      (ca) => ({ tls: { ca_file: ca, server_name: 'kafka.example.org' } }),
      /\(ERR_TLS_CERT_ALTNAME_INVALID\)$/,
    ],
    ['a broker without TLS', noFront, () => ({ tls: true }), /^the brokers cannot be reached: /],
    ['a broker with TLS that is asked without', { tls: own }, () => ({}), /^the brokers cannot be reached: /],
    [
      'a wrong password',
      { tls: own, user: { username: 'meterstone', password: 'another' } },
      (ca) => ({ tls: { ca_file: ca, server_name: SERVER_NAME }, sasl: password }),
      /^the brokers refuse the credentials of sasl \(plain\)$/,
    ],
  ])(
    '%s is named in a line without secrets and by /ready, is tried again, and stops no other stream',
    async (...row) => {
      const [, behind, settings, error] = row;
      await cluster.produce(topic(), events(0, 3));
      const other = start('other', { brokers: cluster.brokers });
      const { address } = await front(behind);
      const running = start('wrong', { brokers: [address], ...settings(await caFile(own.cert)) });
      await until(() => running.state().status === 'retrying');
      expect(running.state().error).toMatch(error);
      const told = () => running.lines.map((line) => JSON.parse(line)).filter(({ level }) => level >= WARN);
      expect(told()).toEqual([expect.objectContaining({ msg: 'a stream is not read', error: running.state().error })]);
      await until(() => told().length > 1);
      const reasons = async () =>
        (await READINESS_CHECKS.streams!({ sql: database.sql } as ReadinessDeps))
          .filter(({ reason }) => reason.includes(organizationId))
          .map(({ reason, stops }) => ({ reason, stops }));
      await until(async () => (await reasons()).length > 0);
      expect(await reasons()).toEqual([
        {
          reason: `the stream wrong of the organization ${organizationId} is not read: ${running.state().error}`,
          stops: undefined,
        },
      ]);
      await untilStored(3);
      await cluster.produce(topic(), events(3, 3));
      await untilStored(6);
      expect(other.state()).toMatchObject({ status: 'running', error: null });
      expect(running.lines.join()).not.toContain(SECRET);
    },
  );

  test('messages are read through TLS with a password', async () => {
    await cluster.produce(topic(), events(0, 20));
    const { address } = await front({ tls: own, user: { username: 'meterstone', password: SECRET } });
    const tls = { ca_file: await caFile(own.cert), server_name: SERVER_NAME };
    const running = start('stream', { brokers: [address], tls, sasl: password });
    await untilStored(20);
    expect(running.state()).toMatchObject({ status: 'running', error: null });
    expect(running.lines.join()).not.toContain(SECRET);
  });

  test('a topic that is made anew while it is read is read from its start', async () => {
    const anew = await KafkaCluster.start(1);
    onTestFinished(() => anew.stop());
    await cluster.produce(topic(), events(0, 30), { partition: 0 });
    await anew.produce(topic(), events(30, 5), { partition: 0 });
    const before = await front();
    start('stream', { brokers: [before.address] });
    await untilStored(30);
    before.topicsOf = anew.brokers[0];
    await untilStored(35);
    await anew.produce(topic(), events(35, 5), { partition: 0 });
    await untilStored(40);
    expect(await stored()).toEqual(Array.from({ length: 40 }, (_, index) => index));
    const [checkpoint] = await database.sql`
      select rank::int as rank, received::int as received from ingest_checkpoints
      where organization_id = ${organizationId}`;
    expect(checkpoint).toEqual({ rank: 9, received: 40 });
  });

  test('a partition that its topic no longer has leaves nothing but its counts', async () => {
    await cluster.produce(topic(), events(0, 3), { partition: 0 });
    await database.sql`
      insert into ingest_checkpoints (organization_id, connector, key, rank, value, received, stored, replayed, dead,
        updated_at)
      values (${organizationId}, 'stream', ${`${topic()}/7`}, 5, '{"next":"6"}', 6, 5, 0, 1, now()),
        (${organizationId}, 'stream', 'another/7', 5, '{"next":"6"}', 0, 0, 0, 0, now())`;
    start('stream', { brokers: cluster.brokers });
    await untilStored(3);
    const rows = await database.sql`
      select key, received::int as received, stored::int as stored, dead::int as dead from ingest_checkpoints
      where organization_id = ${organizationId} order by key`;
    expect(rows).toEqual([
      { key: 'another/7', received: 0, stored: 0, dead: 0 },
      { key: `${topic()}/0`, received: 3, stored: 3, dead: 0 },
      { key: 'removed', received: 6, stored: 5, dead: 1 },
    ]);
  });
});

/** As the log numbers its levels. */
const WARN = 40;
