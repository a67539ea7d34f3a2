import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { runConnector } from '../../../../src/areas/usage/connectors/run-connector.ts';
import type { Sql } from '../../../../src/platform/db/connect.ts';
import { createMetrics } from '../../../../src/platform/metrics/metrics.ts';
import {
  type SourceHost,
  SourceTrouble,
  type StreamMessage,
  type StreamSource,
} from '../../../../src/platform/streams/source.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { until } from '../../../support/until.ts';
import { storage } from '../ingest-events/build.ts';
import { fullDisk } from './full-disk.ts';

let database: TestDatabase;
let organizationId: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  organizationId = (await createOrganization(database.sql, { name: 'Acme', sandbox: false })).organization_id;
});

const metrics = createMetrics('test');
const message = (offset: number): StreamMessage => ({
  position: `calls/0/${offset}`,
  bytes: Buffer.from(JSON.stringify({ transaction_id: `t${offset}`, external_subscription_id: 's', code: 'calls' })),
  sourceTime: '2026-03-10T12:00:00.000000Z',
  checkpoint: { key: 'calls/0', rank: String(offset), value: { next: offset + 1 } },
});

const FULL_DISK = 'events cannot be stored, and wait: the service has trouble of its own (53100)';

/** A database whose disk is full as long as the test says so, whichever statement it meets. */
function smallDisk(sql: Sql) {
  const disk = { isFull: false };
  const full = fullDisk();
  const refusing = new Proxy(sql, {
    apply: (target, self, input) => Reflect.apply(disk.isFull ? full : target, self, input),
  });
  return { disk, sql: refusing };
}

/** A source that a test drives: its messages come behind the stored checkpoint. */
class Driven implements StreamSource {
  host: SourceHost | undefined;
  runs = 0;
  next = 0;
  trouble: Error | undefined;

  async run(host: SourceHost): Promise<void> {
    this.runs += 1;
    if (this.trouble) throw this.trouble;
    const [checkpoint] = await host.checkpoints('calls/');
    this.next = (checkpoint?.value.next as number | undefined) ?? 0;
    host.isReading();
    host.lag(() => ({ messages: 5, seconds: 1.5 }));
    this.host = host;
    await new Promise((resolve) => host.signal.addEventListener('abort', resolve));
    this.host = undefined;
  }

  async send(count: number, text?: (offset: number) => string): Promise<void> {
    const host = await until(() => this.host);
    const from = this.next;
    this.next += count;
    const messages = Array.from({ length: count }, (_, index) => message(from + index));
    await host.deliver(
      text === undefined
        ? messages
        : messages.map((each, index) => ({ ...each, bytes: Buffer.from(text(from + index)) })),
    );
  }
}

function start(source: StreamSource, of = organizationId, sql = database.sql) {
  const connector = { organizationId: of, code: 'stream', kind: 'driven', isSandbox: false };
  const running = runConnector({ ...storage(sql).deps, metrics }, connector, source);
  onTestFinished(() => running.close());
  return running;
}

const reader = async () =>
  (
    await database.sql`select status, error, lag_messages from ingest_readers where organization_id = ${organizationId}`
  )[0];
const countEvents = async () =>
  (await database.sql`select from events where organization_id = ${organizationId}`).length;
const pause = (isPaused: boolean) => database.sql`
  update ingest_connectors set paused_at = case when ${isPaused} then now() end where organization_id = ${organizationId}`;

test('a source goes on behind its checkpoint when the process starts anew', async () => {
  const source = new Driven();
  const first = start(source);
  await source.send(3);
  await first.close();
  expect(await reader()).toBeUndefined();
  const again = new Driven();
  start(again);
  await until(() => again.host);
  expect(again.next).toBe(3);
  await again.send(2);
  expect(await countEvents()).toBe(5);
});

test('metrics say how many messages came, what became of their events, how long that took, and the lag', async () => {
  const source = new Driven();
  start(source);
  await source.send(3);
  await source.send(2, () => `${message(0).bytes}`); // the first one again
  await source.send(1, () => 'no JSON');
  await until(async () => (await reader())?.lag_messages === 5);
  const text = await metrics.registry.metrics();
  const lineOf = (name: string, more = '') => {
    const labels = `organization="${organizationId}",connector="stream"${more}`;
    return text.split('\n').find((line) => line.startsWith(`meterstone_stream_${name}{`) && line.includes(labels));
  };
  const figures = {
    messages_total: 6,
    lag_messages: 5,
    lag_seconds: 1.5,
    batch_seconds_count: 3,
  };
  for (const [name, value] of Object.entries(figures)) expect(lineOf(name)).toMatch(new RegExp(` ${value}$`));
  for (const [outcome, value] of Object.entries({ stored: 3, replayed: 2, dead: 1 }))
    expect(lineOf('events_total', `,outcome="${outcome}"`)).toMatch(new RegExp(` ${value}$`));
});

test('a source in trouble is read again, and what is wrong is said', async () => {
  const source = new Driven();
  source.trouble = new SourceTrouble('the brokers cannot be reached: a:9092');
  const running = start(source);
  await until(async () => (await reader())?.status === 'retrying');
  expect(await reader()).toMatchObject({ error: 'the brokers cannot be reached: a:9092' });
  source.trouble = undefined;
  await source.send(1);
  expect(running.state()).toMatchObject({ status: 'running', error: null });
  expect(source.runs).toBeGreaterThan(1);
});

test('a paused connector reads nothing until it is resumed', async () => {
  const source = new Driven();
  start(source);
  await source.send(1);
  await pause(true);
  await until(async () => (await reader())?.status === 'paused');
  expect(source.host).toBeUndefined();
  await pause(false);
  await source.send(1);
  expect(await countEvents()).toBe(2);
  await until(async () => (await reader())?.lag_messages === 5);
});

test('while nothing can be stored messages wait, and none is put aside', async () => {
  const { sql } = database;
  await sql.unsafe(`
    create or replace function disk_full() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file' using errcode = '53100'; end $$;
    create trigger disk_full before insert on events for each statement execute function disk_full()`);
  const source = new Driven();
  const running = start(source);
  const sent = source.send(2);
  try {
    await until(() => running.state().status === 'retrying');
    expect(running.state().error).toBe(FULL_DISK);
  } finally {
    await sql.unsafe('drop trigger disk_full on events');
  }
  await sent;
  expect(await countEvents()).toBe(2);
  expect(await sql`select from ingest_dead_letters where organization_id = ${organizationId}`).toHaveLength(0);
  expect(running.state().status).toBe('running');
});

test('a full disk is one sentence also where it stops what a source keeps beside its events', async () => {
  const { disk, sql } = smallDisk(database.sql);
  let [runs, asked] = [0, 0];
  const seen = new Set<string>();
  const source: StreamSource = {
    async run(host) {
      runs += 1;
      host.isReading();
      if (runs > 1) seen.add(`${running.state().status}: ${running.state().error}`);
      disk.isFull ||= runs === 1;
      await host.claim('calls/0');
      asked += 1;
      await host.deliver([message(0)]);
      await new Promise((resolve) => host.signal.addEventListener('abort', resolve));
    },
  };
  const running = start(source, organizationId, sql);
  await until(() => runs > 1);
  expect(running.state()).toMatchObject({ status: 'retrying', error: FULL_DISK });
  disk.isFull = false;
  await until(() => running.state().status === 'running');
  expect([...seen]).toEqual([`retrying: ${FULL_DISK}`]);
  expect(asked).toBe(1);
  expect(await countEvents()).toBe(1);
});

test('a full disk that met no message is over when nothing has failed for ten seconds', async () => {
  const { disk, sql } = smallDisk(database.sql);
  const source: StreamSource = {
    async run(host) {
      disk.isFull = runs === 0;
      runs += 1;
      await host.claim('k');
      host.isReading();
      await new Promise((resolve) => host.signal.addEventListener('abort', resolve));
    },
  };
  let runs = 0;
  const running = start(source, organizationId, sql);
  await until(() => runs === 2);
  expect(running.state()).toMatchObject({ status: 'retrying', error: FULL_DISK });
  await until(() => running.state().status === 'running');
  expect(running.state().error).toBeNull();
});

test('a connector that the full disk does not even let in says so', async () => {
  const { disk, sql } = smallDisk(database.sql);
  disk.isFull = true;
  const source = new Driven();
  const running = start(source, organizationId, sql);
  await until(() => running.state().status === 'retrying');
  expect(running.state().error).toBe(FULL_DISK);
  disk.isFull = false;
  await source.send(1);
  expect(running.state()).toMatchObject({ status: 'running', error: null });
});

test.each([
  ['letters', { letters: 20, bytes: 1_000_000 }],
  ['bytes of them', { letters: 1000, bytes: 170 }],
])('a stream waits while it has too many %s, and goes on when they are fewer', async (_, deadLetters) => {
  const source = new Driven();
  const connector = { organizationId, code: 'stream', kind: 'driven', isSandbox: false };
  const running = runConnector({ ...storage(database.sql).deps, metrics, deadLetters }, connector, source);
  onTestFinished(() => running.close());
  const letters = async () =>
    (await database.sql`select from ingest_dead_letters where organization_id = ${organizationId} and status = 'open'`)
      .length;
  for (const _turn of [1, 2]) await source.send(10, (offset) => `no JSON ${offset}`);
  const waits = source.send(10, (offset) => (offset % 2 === 0 ? `no JSON ${offset}` : `${message(offset).bytes}`));
  await until(() => running.state().status === 'retrying');
  expect(running.state().error).toBe(
    'events cannot be stored, and wait: too many dead letters of the connector are open: retry or discard them',
  );
  expect(await letters()).toBe(20);
  expect(await countEvents()).toBe(0);
  await database.sql`
    update ingest_dead_letters set status = 'discarded'
    where organization_id = ${organizationId} and position in ('calls/0/3', 'calls/0/4', 'calls/0/5', 'calls/0/6')`;
  await waits;
  expect(await letters()).toBe(21);
  expect(await countEvents()).toBe(5);
  expect(running.state()).toMatchObject({ status: 'running', error: null });
});

test('a source that answers while nothing can be stored does not look as if it were read', async () => {
  const { sql } = database;
  await sql.unsafe(`
    create or replace function disk_full() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file' using errcode = '53100'; end $$;
    create trigger disk_full before insert on events for each statement execute function disk_full()`);
  const source = new Driven();
  const running = start(source);
  const sent = source.send(1);
  try {
    await until(() => running.state().status === 'retrying');
    source.host!.isReading();
    expect(running.state()).toMatchObject({ status: 'retrying', error: FULL_DISK });
  } finally {
    await sql.unsafe('drop trigger disk_full on events');
  }
  await sent;
  source.host!.isReading();
  expect(running.state()).toMatchObject({ status: 'running', error: null });
});

test('a source that never says its lag silences no process: it is seen, and is paused', async () => {
  const source = new Driven();
  start(source);
  await source.send(1);
  let asked = 0;
  source.host!.lag(() => {
    asked += 1;
    return new Promise(() => {});
  });
  await until(async () => (await reader())?.lag_messages === null);
  await until(async () => (await reader())?.status === 'retrying');
  expect(await reader()).toMatchObject({ error: 'the source does not answer' });
  await pause(true);
  await until(async () => (await reader())?.status === 'paused');
  expect(asked).toBe(1);
  await pause(false);
});

test('two processes that read the same messages store each event once', async () => {
  const sources = [new Driven(), new Driven()];
  for (const source of sources) start(source);
  await Promise.all(sources.map((source) => source.send(40)));
  expect(await countEvents()).toBe(40);
  const [counts] = await database.sql`
    select received, stored, replayed from ingest_checkpoints where organization_id = ${organizationId}`;
  expect(counts).toEqual({ received: 80, stored: 40, replayed: 40 });
});

test('a stream that floods delays that of another organization by some of its transactions, not by all', async () => {
  const [flood, quiet] = [new Driven(), new Driven()];
  start(flood);
  const FLOOD = 20_000;
  const flooded = flood.send(FLOOD);
  const { organization_id: other } = await createOrganization(database.sql, { name: 'Quiet', sandbox: false });
  start(quiet, other);
  await until(async () => (await countEvents()) > 0);
  for (let message = 0; message < 3; message += 1) await quiet.send(1);
  expect(await countEvents()).toBeLessThan(FLOOD);
  expect(await database.sql`select from events where organization_id = ${other}`).toHaveLength(3);
  await flooded;
  expect(await countEvents()).toBe(FLOOD);
});
