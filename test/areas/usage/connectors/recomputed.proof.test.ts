import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { runConnector } from '../../../../src/areas/usage/connectors/run-connector.ts';
import { createMetrics } from '../../../../src/platform/metrics/metrics.ts';
import { createProducer } from '../../../../src/platform/queue/producer.ts';
import { openKafka } from '../../../../src/platform/streams/kafka/kafka-source.ts';
import { kafkaSettings } from '../../../../src/platform/streams/kafka/settings.ts';
import { openS3 } from '../../../../src/platform/streams/s3/s3-source.ts';
import { s3Settings } from '../../../../src/platform/streams/s3/settings.ts';
import type { StreamSource } from '../../../../src/platform/streams/source.ts';
import { hasKcat, KafkaCluster } from '../../../support/kafka-cluster.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';
import { storage } from '../ingest-events/build.ts';
import { centsOf, numberIn, Recomputed, textOf, UNIT, type Written } from './recomputed.ts';

// What a mixed set of messages comes to, by a calculation that shares nothing with the service, is what is stored and
// billed, whichever source they come from.
const JANUARY = BigInt(Date.UTC(2026, 0, 1)) * 1000n;
const FEBRUARY = BigInt(Date.UTC(2026, 1, 1)) * 1000n;
const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };

/** A message with all that goes with it; what stands in it was taken into the calculation. */
interface Sent {
  text: string;
  headers?: Record<string, string>;
}

/** Numbers that look random and are the same in each run. */
function createDice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % sides;
  };
}

const BYTES = [
  '1',
  '2.50',
  '"3.125"',
  '"much"',
  '"1,5"',
  '" 5 "',
  '"1e3"',
  '1e2',
  '-4',
  '1e-20',
  'true',
  'null',
  '"0x10"',
  '-0',
  '123.000000000000000000045',
  '""',
];

const OTHER_FORMS: Readonly<Record<string, string>> = { '1': '1.0', '2.50': '25e-1', '1e2': '100', '-4': '-400e-2' };
/** A mock broker keeps the newest 5 MiB of a partition. */
const MOST_LONG = 2;

function writtenAt(micros: bigint, form: number): NonNullable<Written['at']> {
  const [seconds, rest] = [micros / 1_000_000n, String(micros % 1_000_000n).padStart(6, '0')];
  const iso = (ms: bigint) => new Date(Number(ms)).toISOString().slice(0, 19);
  const later = iso(micros / 1000n + 5_400_000n);
  const forms = [
    `${seconds}.${rest}`,
    `"${seconds}.${rest}9"`,
    `"${iso(micros / 1000n)}.${rest}Z"`,
    `"${later}.${rest}+01:30"`,
    `" ${seconds}.${rest} "`,
    `${seconds}${rest}e-6`,
  ];
  return [forms[form % forms.length]!, micros];
}

const eventText = ({ id, subscription, code, at, properties }: Written, more = ''): string =>
  `{"transaction_id":"${id}","external_subscription_id":"${subscription}","code":"${code}"${
    at ? `,"timestamp":${at[0]}` : ''
  },"properties":{${Object.entries(properties).map(([name, value]) => `"${name}":${value}`)}}${more}}`;

/** As a CloudEvent: its id is that of the event behind the source. */
function cloudOf({ id, subscription, code, at, properties }: Written) {
  const data = `{${Object.entries(properties).map(([name, value]) => `"${name}":${value}`)}}`;
  const time = at ? { time: cloudTimeOf(at[1]) } : {};
  return {
    attributes: {
      specversion: '1.0',
      id: id.slice('/gw '.length),
      source: '/gw',
      type: code,
      subject: subscription,
      ...time,
    },
    data,
  };
}
const cloudTimeOf = (micros: bigint) =>
  `${new Date(Number(micros / 1000n)).toISOString().slice(0, 19)}.${String(micros % 1_000_000n).padStart(6, '0')}Z`;
const structured = (event: Written): string => {
  const { attributes, data } = cloudOf(event);
  return `${JSON.stringify(attributes).slice(0, -1)},"data":${data}}`;
};

/** Events with their copies, conflicts and poison; each of them is taken into the calculation as it is made. */
function messagesOf(total: Recomputed, hasHeaders: boolean): Sent[] {
  const roll = createDice(hasHeaders ? 7 : 11);
  const sent: Sent[] = [];
  const former: Written[] = [];
  const make = (number: number, isCloud: boolean): Written => {
    const code = ['calls', 'bytes', 'bytes', 'peak', 'users', 'unknown'][roll(6)]!;
    const micros = JANUARY + BigInt(roll(33 * 86_400)) * 1_000_000n + BigInt(roll(1_000_000));
    return {
      id: isCloud ? `/gw ${number}` : `t${number}`,
      subscription: roll(12) === 0 ? 'nobody' : 'sub',
      code,
      ...(roll(5) === 0 ? {} : { at: writtenAt(micros, roll(6)) }),
      properties: {
        bytes: BYTES[roll(BYTES.length)]!,
        user: `"u${roll(9)}"`,
        trace: '12345678901234567890.5',
      },
    };
  };
  for (let number = 0; number < 400; number += 1) {
    const kind = roll(hasHeaders ? 12 : 9);
    const isCloud = kind === 8 || kind > 8;
    const event = make(number, isCloud);
    if (!isCloud) former.push(event);
    const again = former[roll(former.length)];
    const bare = (value: Written) => {
      total.take(value);
      return eventText(value);
    };
    if (kind <= 1) sent.push({ text: bare(event) });
    else if (kind === 2) sent.push({ text: `{"event":${bare(event)}}` });
    else if (kind === 3) {
      const list = [bare(event), bare(make(1000 + number, false))];
      total.refuse('value_is_mandatory');
      sent.push({ text: `{"events":[${list[0]},{"code":"calls","external_subscription_id":"sub"},${list[1]}]}` });
    } else if (kind === 4 && again && again !== event) {
      // A copy, with the same number in another form and without a time.
      const { at: _, ...copy } = again;
      const { bytes } = copy.properties;
      const properties = { ...copy.properties, bytes: OTHER_FORMS[bytes!] ?? bytes! };
      sent.push({ text: bare(event) }, { text: `{"event":${bare({ ...copy, properties })}}` });
    } else if (kind === 5 && again && again !== event) {
      sent.push({ text: bare(event) }, { text: bare({ ...again, properties: { ...again.properties, bytes: '77' } }) });
    } else if (kind === 6 && again?.at && again !== event) {
      sent.push({ text: bare({ ...again, at: writtenAt(again.at[1] + 1n, 0) }) }, { text: bare(event) });
    } else if (kind === 7) {
      const poison: [code: string, text: string][] = [
        ['invalid_json', `{"transaction_id":"p${number}",`],
        ['invalid_json', '[['.repeat(5000)],
        ['invalid_timestamp', eventText({ ...event, at: ['"2026-01-05"', 0n] })],
        ['invalid_timestamp', eventText({ ...event, at: ['253402300800', 0n] })],
        ['invalid_event', `[${eventText(event)}]`],
        ['invalid_event', eventText({ ...event, properties: { bytes: '1e400' } })],
        ['invalid_event', eventText(event, ',"precise_total_amount_cents":"1,5"')],
        ['organization_mismatch', eventText(event, ',"organization_id":"another"')],
        ['payload_too_large', eventText({ ...event, properties: { text: `"${'x'.repeat(1_100_000)}"` } })],
        ['value_is_mandatory', eventText({ ...event, subscription: ' ' })],
      ];
      let [code, text] = poison[roll(poison.length)]!;
      if (code === 'payload_too_large' && (total.dead[code] ?? 0) === MOST_LONG) [code, text] = poison[0]!;
      former.pop();
      total.refuse(code);
      sent.push({ text });
    } else if (isCloud) {
      total.take(event);
      if (kind === 8 || kind === 9) sent.push({ text: structured(event) });
      else if (kind === 10)
        sent.push({
          text: `[${structured(event)}]`,
          headers: { 'content-type': 'application/cloudevents-batch+json' },
        });
      else {
        const { attributes, data } = cloudOf(event);
        const headers = Object.entries(attributes).map(([name, value]) => [`ce_${name}`, value]);
        sent.push({ text: data, headers: Object.fromEntries(headers) });
      }
    } else sent.push({ text: bare(event) });
  }
  return sent;
}

describe.skipIf(!hasKcat())('what is stored and billed is what is computed beside the service', () => {
  let service: TestService;
  let kafka: KafkaCluster;
  let s3: FauxqsServer;
  let client: S3Client;
  beforeAll(async () => {
    [service, kafka, s3] = await Promise.all([
      startService({ pools: ['writes', 'events', 'aggregation', 'billing', 'clocks'] }),
      KafkaCluster.start(),
      startFauxqs({ port: 0, logger: false }),
    ]);
    s3.createBucket('usage');
    const endpoint = `http://127.0.0.1:${s3.port}`;
    client = new S3Client({ region: 'us-east-1', endpoint, credentials, forcePathStyle: true });
  }, 120_000);
  afterAll(async () => {
    client?.destroy();
    await Promise.all([kafka?.stop(), s3?.stop()]);
    await service?.stop();
  });

  async function sell(): Promise<Story> {
    const story = await openStory(service, '2026-01-01T00:00:00Z');
    const metrics = {
      calls: await story.metric('calls'),
      bytes: await story.metric('bytes', { aggregation_type: 'sum_agg', field_name: 'bytes' }),
      peak: await story.metric('peak', { aggregation_type: 'max_agg', field_name: 'bytes' }),
      users: await story.metric('users', { aggregation_type: 'unique_count_agg', field_name: 'user' }),
    };
    const charge = (of: keyof typeof metrics, amount: string) => ({
      billable_metric_id: metrics[of].svc_id,
      charge_model: 'standard',
      properties: { amount },
    });
    const charges = [
      charge('calls', '0.013'),
      charge('bytes', '0.0047'),
      charge('peak', '0.51'),
      charge('users', '1.255'),
    ];
    await story.plan({ amount_cents: 0, charges });
    await story.customer();
    await ok(story.subscribe());
    return story;
  }

  function read(story: Story, source: StreamSource): void {
    const producer = createProducer(service.redis, service.config.REDIS_PREFIX);
    const connector = { organizationId: story.organizationId, code: 'stream', kind: 'test', isSandbox: true };
    const deps = { ...storage(service.sql).deps, producer, metrics: createMetrics('test') };
    const running = runConnector(deps, connector, source);
    onTestFinished(async () => {
      await running.close();
      await producer.close();
    });
  }

  const received = (story: Story, messages: number) =>
    until(async () => {
      const { connectors } = await ok(story.client.get('/ingestion/connectors'));
      return connectors[0]?.messages_received >= messages ? connectors[0] : undefined;
    }, 60_000);

  /** Compares what is stored, put aside and billed with the calculation. */
  async function compare(story: Story, total: Recomputed): Promise<void> {
    const { organizationId } = story;
    const rows = await service.sql<Record<string, string>[]>`
      select external_subscription_id || ' ' || transaction_id as key, code,
        (extract(epoch from timestamp) * 1000000)::bigint::text as micros, properties ->> 'bytes' as bytes,
        properties ->> 'user' as "user", properties ->> 'trace' as trace
      from events where organization_id = ${organizationId}`;
    const expected = [...total.stored].map(([key, { code, at, properties }]) => ({
      key,
      code,
      micros: String(at?.[1] ?? JANUARY),
      ...Object.fromEntries(['bytes', 'user', 'trace'].map((name) => [name, textOf(properties[name]!)])),
    }));
    const byKey = (one: { key?: string }, other: { key?: string }) => (one.key! < other.key! ? -1 : 1);
    expect([...rows].sort(byKey)).toEqual(expected.sort(byKey));
    const letters = await service.sql`
      select error_code, count(*)::int as letters from ingest_dead_letters where organization_id = ${organizationId}
      group by 1`;
    expect(Object.fromEntries(letters.map((row) => [row.error_code, row.letters]))).toEqual(total.dead);
    const { connectors } = await ok(story.client.get('/ingestion/connectors'));
    expect(connectors[0]).toMatchObject({ events_stored: total.stored.size, events_replayed: total.replayed });

    const of = (code: string) => total.of(code, 'sub', JANUARY, FEBRUARY, JANUARY);
    const numbers = (code: string) =>
      of(code).flatMap(({ properties }) => {
        const value = numberIn(properties.bytes);
        return value === undefined ? [] : [value];
      });
    const peak = numbers('peak').sort((one, other) => (one < other ? 1 : -1))[0]!;
    const sum = numbers('bytes').reduce((all, value) => all + value, 0n);
    const users = new Set(of('users').map(({ properties }) => properties.user)).size;
    const fees = {
      calls: centsOf(BigInt(of('calls').length) * UNIT, 13_000n),
      bytes: centsOf(sum, 4700n),
      peak: centsOf(peak, 510_000n),
      users: centsOf(BigInt(users) * UNIT, 1_255_000n),
    };
    await story.advanceTo('2026-02-02T00:00:00Z');
    const [invoice] = await story.invoices(1);
    const billed = invoice.fees
      .filter(({ item }: { item: { type: string } }) => item.type === 'charge')
      .map((fee: { item: { code: string }; amount_cents: number }) => [fee.item.code, BigInt(fee.amount_cents)]);
    expect(Object.fromEntries(billed)).toEqual(fees);
    expect(BigInt(invoice.total_amount_cents)).toBe(Object.values(fees).reduce((all, cents) => all + cents, 0n));
  }

  test('through Kafka, in every envelope', { timeout: 180_000 }, async () => {
    const total = new Recomputed();
    const messages = messagesOf(total, true);
    const story = await sell();
    // Those without headers go together; all to one partition, so that they are read in this order.
    for (let from = 0; from < messages.length; ) {
      const { headers } = messages[from]!;
      let to = from + 1;
      while (!headers && to < messages.length && !messages[to]!.headers) to += 1;
      const values = messages.slice(from, to).map(({ text }) => text);
      await kafka.produce('recomputed', values, { partition: 0, headers: headers ?? {} });
      from = to;
    }
    const settings = kafkaSettings({}).parse({ brokers: kafka.brokers, topics: ['recomputed'] });
    read(story, openKafka({ ...settings, group: 'recomputed' }));
    await received(story, messages.length);
    await compare(story, total);
  });

  test('through S3, in lines, in a list and in rows', { timeout: 180_000 }, async () => {
    const total = new Recomputed();
    const messages = messagesOf(total, false).map(({ text }) => text);
    const story = await sell();
    const rows = Array.from({ length: 40 }, (_, index): Written => {
      const literal = BYTES[index % BYTES.length]!;
      const text = textOf(literal) ?? '';
      return {
        id: `row${index}`,
        subscription: 'sub',
        code: ['bytes', 'peak', 'users', 'calls'][index % 4]!,
        at: writtenAt(JANUARY + BigInt(index) * 50_000_000_001n, 2),
        properties: { bytes: JSON.stringify(text), user: `"v${index % 3}"`, trace: '"00012.50"' },
      };
    });
    const table = [
      'transaction_id,external_subscription_id,code,timestamp,properties.bytes,properties.user,properties.trace',
    ];
    for (const { id, subscription, code, at, properties } of rows) {
      const { bytes, ...others } = properties;
      total.take({
        id,
        subscription,
        code,
        at: at!,
        properties: bytes === '""' ? { ...others, bytes: 'null' } : properties,
      });
      const cells = [bytes, properties.user, properties.trace].map((literal) => `"${JSON.parse(literal!)}"`);
      table.push([id, subscription, code, JSON.parse(at![0]), ...cells].join(','));
    }
    const isElement = (text: string) => !/^(\{"transaction_id":"p\d+",|\[\[)/.test(text);
    const [lines, elements] = [messages.slice(0, 250), messages.slice(250)];
    const files = {
      'a.ndjson': lines.join('\n'),
      'b.ndjson': elements.filter((text) => !isElement(text)).join('\n'),
      'c.json': `[${elements.filter(isElement).join(',\n')}]`,
      'd.csv': table.join('\r\n'),
    };
    const settings = s3Settings({ SECRET: 'any' }).parse({
      bucket: 'usage',
      region: 'us-east-1',
      endpoint: `http://127.0.0.1:${s3.port}`,
      credentials: { access_key_id: 'any', secret_access_key: { env: 'SECRET' } },
      poll_seconds: 1,
    });
    read(story, openS3(settings));
    let ended = 0;
    for (const [Key, Body] of Object.entries(files)) {
      await client.send(new PutObjectCommand({ Bucket: 'usage', Key, Body }));
      ended += 1;
      await until(
        async () =>
          (
            await service.sql`select from ingest_objects where organization_id = ${story.organizationId}
            and status <> 'reading'`
          ).length === ended,
        60_000,
      );
    }
    await compare(story, total);
  });
});
