import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { importSpend } from '../../src/commands/ai/import-spend.ts';
import type { Client } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { ok, type Shown } from '../support/words.ts';

let service: TestService;
let client: Client & { organization: { organization_id: string; api_key: string } };
let folder: string;
beforeAll(async () => {
  service = await startService({ pools: ['events', 'writes', 'billing', 'aggregation'] });
});
afterAll(() => service.stop());
beforeEach(async () => {
  client = await service.org();
  folder = await mkdtemp(join(tmpdir(), 'spend-'));
  await ok(
    client.put('/ai/subjects', { subjects: [{ kind: 'team', value: 'red', external_subscription_id: 'ada-1' }] }),
  );
});
afterEach(() => rm(folder, { recursive: true }));

const row = (id: string, fields: object = {}) => ({
  request_id: id,
  call_type: 'acompletion',
  spend: 0.002,
  custom_llm_provider: 'openai',
  model: 'alpha',
  prompt_tokens: 8,
  completion_tokens: 2,
  total_tokens: 10,
  startTime: '2030-01-01 00:00:05.5',
  metadata: { user_api_key_team_id: 'red' },
  ...fields,
});
const lines = (...rows: unknown[]) => `${rows.map((each) => JSON.stringify(each)).join('\n')}\n`;

async function fileOf(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}
const run = (file: string, fields: object = {}) =>
  importSpend({
    file,
    form: file.endsWith('.csv') ? 'csv' : 'ndjson',
    baseUrl: `${service.url}/api/v1`,
    apiKey: client.organization.api_key,
    pauseMs: 1,
    ...fields,
  });
const eventOf = async (id: string) => (await ok(client.get(`/events/${encodeURIComponent(id)}`))).event;
const rejected = async (file: string) =>
  (await readFile(`${file}.rejected.ndjson`, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('rows of a file of lines become calls, and what is refused is listed by its row without its content', async () => {
  const sent = [
    row('a', { messages: [{ role: 'user', content: 'secret words' }] }),
    row('b', { metadata: {}, response: 'secret words' }),
    row('c', { status: 'failure', prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
  ];
  const file = await fileOf('log.ndjson', `${lines(...sent)}\n{"request_id":\n`);
  expect(await run(file)).toEqual({ rows: 4, skipped: 0, stored: 1, replayed: 0, rejected: 2, ignored: 1 });
  expect(await eventOf('openai:a')).toMatchObject({
    timestamp: '2030-01-01T00:00:05.500Z',
    external_subscription_id: 'ada-1',
    properties: { tokens_input: '8', tokens_output: '2', team: 'red' },
  });
  expect(await rejected(file)).toEqual([
    { row: 2, transaction_id: 'openai:b', error_details: { external_subscription_id: ['value_is_mandatory'] } },
    { row: 4, transaction_id: null, error_details: { line: ['invalid_json'] } },
  ]);
  expect(await readFile(`${file}.rejected.ndjson`, 'utf8')).not.toContain('secret');
});

test('rows of CSV are read by their header: numbers, JSON in a column, empty columns', async () => {
  const file = await fileOf(
    'log.csv',
    [
      'request_id,startTime,model,prompt_tokens,completion_tokens,total_tokens,spend,metadata,cache_hit,messages',
      '"r,1",2030-01-01 00:00:05.5,alpha,8,2,10,1e-05,"{""user_api_key_team_id"": ""red""}",,"[""x""]"',
      'r2,2030-01-01 00:00:06,alpha,8,2,10,,"{""user_api_key_team_id"": ""red""}",True,',
      'r3,2030-01-01 00:00:07,alpha,many,2,10,,"{""user_api_key_team_id"": ""red""}",,',
    ].join('\r\n'),
  );
  expect(await run(file, { provider: 'openai' })).toMatchObject({ rows: 3, stored: 2, rejected: 1 });
  const { properties } = await eventOf('openai:r,1');
  expect(properties).toMatchObject({ tokens_input: '8', ai_reported_cost_cents: '0.001' });
  expect((await eventOf('openai:r2')).properties.ai_flags).toContain('served_from_cache');
  expect(await rejected(file)).toMatchObject([{ row: 3, error_details: { 'body.prompt_tokens': ['invalid_format'] } }]);
});

test('a provider that a row names stays, and one that it lacks is that of the option', async () => {
  const nested = { user_api_key_team_id: 'red', custom_llm_provider: 'nobody' };
  const file = await fileOf(
    'log.ndjson',
    lines(
      row('a'),
      row('b', { custom_llm_provider: '' }),
      row('c', { custom_llm_provider: undefined, metadata: nested }),
    ),
  );
  expect(await run(file, { provider: 'mistral' })).toMatchObject({ stored: 3 });
  const { events } = await ok(client.get('/events'));
  expect(events.map(({ transaction_id }: Shown) => transaction_id).sort()).toEqual([
    'mistral:b',
    'mistral:c',
    'openai:a',
  ]);
});

test('a second run does nothing, goes on where the file has grown, and begins anew with another file', async () => {
  const file = await fileOf('log.ndjson', lines(row('a'), row('b')));
  expect(await run(file)).toMatchObject({ rows: 2, skipped: 0, stored: 2 });
  expect(await run(file)).toMatchObject({ rows: 2, skipped: 2, stored: 2, replayed: 0 });
  await writeFile(file, lines(row('a'), row('b'), row('c')));
  expect(await run(file)).toMatchObject({ rows: 3, skipped: 2, stored: 3, replayed: 0 });
  await writeFile(file, lines(row('z'), row('b'), row('c')));
  expect(await run(file)).toMatchObject({ rows: 3, skipped: 0, stored: 1, replayed: 2 });
});

test('more rows than one request takes are sent in several, each of them once', async () => {
  const file = await fileOf('log.ndjson', lines(...Array.from({ length: 2300 }, (_, n) => row(`r${n}`))));
  const seen: number[] = [];
  expect(await run(file, { onProgress: (rows: number) => seen.push(rows) })).toMatchObject({
    rows: 2300,
    stored: 2300,
  });
  expect(seen).toEqual([1000, 2000, 2300]);
});

/** Answers in the order given, then hands everything to the service. */
async function before(...statuses: number[]): Promise<{ url: string; server: Server }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const status = statuses.shift();
    if (status !== undefined) return response.writeHead(status).end('{"error":"x"}');
    const answer = await fetch(`${service.url}/api/v1${request.url}`, {
      method: 'POST',
      headers: { authorization: request.headers.authorization!, 'content-type': request.headers['content-type']! },
      body: Buffer.concat(chunks),
    });
    response.writeHead(answer.status).end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

test('a service that is away for a while is asked again; a refusal ends the run, and the next one goes on there', async () => {
  const { url, server } = await before(503, 429, 504);
  const file = await fileOf('log.ndjson', lines(row('a')));
  expect(await run(file, { baseUrl: url })).toMatchObject({ stored: 1 });
  server.close();
  const many = await fileOf('many.ndjson', lines(...Array.from({ length: 1500 }, (_, n) => row(`m${n}`))));
  await run(many, {
    onProgress: () => {
      throw new Error('killed');
    },
  }).catch((error: Error) => expect(error.message).toBe('killed'));
  await expect(run(many, { apiKey: 'nobody' })).rejects.toThrow(/^401: /);
  expect(await run(many)).toMatchObject({ rows: 1500, skipped: 1000, stored: 1500, replayed: 0 });
});

test('what is no CSV, and a file that is not there, end the run with a sentence', async () => {
  const file = await fileOf('log.csv', 'request_id,model\n"a,b\n');
  await expect(run(file)).rejects.toThrow('is no CSV');
  await expect(run(join(folder, 'nothing.csv'))).rejects.toThrow('ENOENT');
});
