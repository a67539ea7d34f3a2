import { Buffer } from 'node:buffer';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '../../../support/client.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';

let service: TestService;
let client: Client & { organization: { organization_id: string; api_key: string } };

beforeAll(async () => {
  service = await startService({
    pools: ['events', 'writes', 'billing', 'aggregation'],
    settings: { RATE_LIMIT_EVENTS_BULK: '1000' },
  });
});
afterAll(() => service.stop());
beforeEach(async () => {
  client = await service.org();
});

const line = (id: string | number, changes: object = {}) =>
  JSON.stringify({
    transaction_id: `t${id}`,
    external_subscription_id: 's',
    code: 'c',
    timestamp: 1_700_000_000,
    ...changes,
  });
/** What is told of one field of a line. */
const fault = (field: string, code: string) => ({
  error_details: { [field]: [code] },
  error_places: [{ path: field, code }],
});
const lines = (count: number) => Array.from({ length: count }, (_, index) => line(index));
const send = (raw: string | Buffer, headers: Record<string, string> = {}, query = '') =>
  client.post(`/events/bulk${query}`, undefined, {
    raw,
    headers: { 'content-type': 'application/x-ndjson', ...headers },
  });
const stored = async () => {
  const [row] = await service.sql<{ count: number }[]>`
    select count(*) as count from events where organization_id = ${client.organization.organization_id}`;
  return row!.count;
};

describe('POST /events/bulk', () => {
  test('a bulk request stores ten thousand lines except the bad ones, and replays them (EV7)', async () => {
    const sent = lines(10_000);
    sent[16] = line(17, { timestamp: 'abc' });
    sent[500] = '{"transaction_id":';
    sent[9999] = line('', { code: '' });
    const first = await send(sent.join('\n'));
    expect(first.status).toBe(200);
    expect(first.body.bulk).toMatchObject({
      lines: 10_000,
      stored: 9997,
      replayed: 0,
      rejected: 3,
      errors_truncated: false,
    });
    expect(first.body.bulk.errors).toEqual([
      { line: 17, transaction_id: 't17', ...fault('timestamp', 'invalid_format') },
      { line: 501, transaction_id: null, error_details: { line: ['invalid_json'] } },
      { line: 10_000, transaction_id: 't', ...fault('code', 'value_is_mandatory') },
    ]);
    const again = await send(sent.join('\n'));
    expect(again.body.bulk).toMatchObject({ lines: 10_000, stored: 0, replayed: 9997, rejected: 3 });
    expect(await stored()).toBe(9997);
  });

  test('a bulk request refuses the line beyond ten thousand and keeps those before it (EV8)', async () => {
    const answer = await send(lines(10_001).join('\n'));
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      error_details: { events: ['too_many_events'] },
      bulk: { lines: 10_000, stored: 10_000, replayed: 0, rejected: 0 },
    });
    expect(await stored()).toBe(10_000);
  });

  test('a bulk request accepts bare and wrapped events, skips blank lines and numbers all of them', async () => {
    const raw = [
      '',
      line(1),
      ' \r',
      JSON.stringify({ event: JSON.parse(line(2)) }),
      '[1]',
      '"x"',
      '5',
      line(1, { code: 'd' }),
    ];
    const { body } = await send(`${raw.join('\r\n')}\n`);
    expect(body.bulk).toEqual({
      lines: 6,
      stored: 2,
      replayed: 0,
      rejected: 4,
      errors_truncated: false,
      errors: [
        { line: 5, transaction_id: null, error_details: { line: ['value_is_invalid'] } },
        { line: 6, transaction_id: null, error_details: { line: ['value_is_invalid'] } },
        { line: 7, transaction_id: null, error_details: { line: ['value_is_invalid'] } },
        { line: 8, transaction_id: 't1', ...fault('transaction_id', 'value_already_exist') },
      ],
    });
  });

  test('an empty bulk body has no lines', async () => {
    const { status, body } = await send('\n \n');
    expect(status).toBe(200);
    expect(body.bulk).toMatchObject({ lines: 0, stored: 0, rejected: 0, errors: [] });
  });

  test('a bulk request rejects a line that is too long or not UTF-8 and goes on', async () => {
    const long = line(1, { properties: { x: 'x'.repeat(65_536) } });
    const raw = Buffer.concat([Buffer.from(`${long}\n`), Buffer.from([0x22, 0xff, 0x22, 0x0a]), Buffer.from(line(3))]);
    const { body } = await send(raw);
    expect(body.bulk).toMatchObject({ lines: 3, stored: 1, rejected: 2 });
    expect(body.bulk.errors.map((each: { error_details: object }) => each.error_details)).toEqual([
      { line: ['value_is_too_long'] },
      { line: ['invalid_json'] },
    ]);
  });

  test('a bulk request keeps numbers as they were written', async () => {
    await send(
      '{"transaction_id":"n","code":"c","external_subscription_id":"s","properties":{"x":12345678901234567890.10}}',
    );
    expect((await client.get('/events/n')).text).toContain('12345678901234567890.1');
  });

  test('a bulk request lists at most a thousand errors', async () => {
    const { body } = await send(Array.from({ length: 1001 }, () => '{').join('\n'));
    expect(body.bulk.errors).toHaveLength(1000);
    expect(body.bulk).toMatchObject({ lines: 1001, rejected: 1001, errors_truncated: true });
  });

  test('a bulk request unpacks gzip', async () => {
    const { body } = await send(gzipSync(lines(1200).join('\n')), { 'content-encoding': 'gzip' });
    expect(body.bulk).toMatchObject({ lines: 1200, stored: 1200 });
  });

  test('a broken gzip stream keeps the chunks before the break', async () => {
    const packed = gzipSync(Array.from({ length: 3000 }, (_, index) => line(`${index}-${Math.random()}`)).join('\n'));
    const { status, body } = await send(packed.subarray(0, packed.length - 5000), { 'content-encoding': 'gzip' });
    expect(status).toBe(400);
    expect(body.bulk.stored).toBeGreaterThan(0);
    expect(await stored()).toBe(body.bulk.stored);
    expect((await send('no gzip', { 'content-encoding': 'gzip' })).status).toBe(400);
  });

  test('a bulk request refuses a decompression bomb, too large a body, and other types and encodings', async () => {
    const bomb = await send(gzipSync(' '.repeat(4_000_000)), { 'content-encoding': 'gzip' });
    expect(bomb.status).toBe(413);
    expect(bomb.body).toMatchObject({ code: 'payload_too_large', bulk: { lines: 0 } });
    expect((await send(' '.repeat(33 * 1024 * 1024))).status).toBe(413);
    expect((await send(line(1), { 'content-type': 'application/json' })).status).toBe(415);
    expect((await send(line(1), { 'content-encoding': 'br' })).status).toBe(415);
  });

  test('a bulk request counts by reason what is not billed when it is asked to', async () => {
    expect((await send(lines(3).join('\n'), {}, '?explain=true')).body.bulk).toMatchObject({
      stored: 3,
      not_counted: { metric_not_found: 3 },
    });
    expect((await send(lines(3).join('\n'))).body.bulk.not_counted).toBeUndefined();
  });

  test('bulk requests have a rate limit of their own', async () => {
    expect((await send(line(1))).headers['x-ratelimit-limit']).toBe('1000');
  });

  test('a connection cut in the middle of a bulk request keeps the complete chunks', async () => {
    const { port } = new URL(service.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `POST /api/v1/events/bulk HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.organization.api_key}\r\n` +
        `Content-Type: application/x-ndjson\r\nContent-Length: 9000000\r\n\r\n${lines(700).join('\n')}\n{"transaction_id":"half`,
    );
    await until(async () => (await stored()) === 500);
    socket.destroy();
    expect((await send(line('after'))).body.bulk.stored).toBe(1);
    expect(await stored()).toBe(501);
  });
});
