import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { generateText, streamText, wrapLanguageModel } from 'ai';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Meterstone, meter, meterModel, openMeterstone, withMeter } from '../../packages/ai-client/src/index.ts';
import { extractUsage } from '../../src/engine/ai/extract-usage.ts';
import { until } from '../support/until.ts';
import { type Receiver, startProviders, startReceiver } from './servers.ts';

let providers: Awaited<ReturnType<typeof startProviders>>;
let receiver: Receiver;
let to: Meterstone;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  providers = await startProviders();
  receiver = await startReceiver();
});
afterAll(async () => {
  await providers.close();
  await receiver.close();
});
beforeEach(() => {
  receiver.stored.clear();
  to = openMeterstone({ url: receiver.url, key: 'k', dir: mkdtempSync(join(tmpdir(), 'ai-client-')) });
  const options = { to, subscription: 'ada-1' };
  openai = meter(new OpenAI({ apiKey: 'k', baseURL: `${providers.url}/v1`, maxRetries: 0 }), options);
  anthropic = meter(new Anthropic({ apiKey: 'k', baseURL: providers.url, maxRetries: 0 }), options);
});
afterEach(() => to.close());

const chat = { model: 'alpha', messages: [{ role: 'user' as const, content: 'a secret question' }] };
const message = { model: 'beta', max_tokens: 10, messages: [{ role: 'user' as const, content: 'a secret question' }] };

/** The one usage that was reported, and its parts as the service reads them. */
async function reported() {
  await until(() => receiver.stored.size === 1);
  const [usage] = receiver.stored.values();
  const extraction = extractUsage(usage!, '2026-03-01T00:00:00.000000Z');
  if (!extraction.ok) throw new Error(JSON.stringify(extraction));
  const { parts, model, provider, id } = extraction.usage;
  const figures = Object.fromEntries(Object.entries(parts).map(([kind, figure]) => [kind, figure.toNumber()]));
  expect(JSON.stringify(usage)).not.toMatch(/secret|hello/);
  return { usage: usage!, parts: figures, model, provider, id };
}

test('a chat completion is answered as without the meter, and its usage is reported without any text', async () => {
  const plain = new OpenAI({ apiKey: 'k', baseURL: `${providers.url}/v1` });
  const { data, response } = await openai.chat.completions.create(chat).withResponse();
  expect(data).toEqual(await plain.chat.completions.create(chat));
  expect(response.status).toBe(200);
  expect(openai).toBeInstanceOf(OpenAI);
  const { parts, model, provider, id, usage } = await reported();
  expect({ parts, model, provider, id }).toEqual({
    parts: { input: 1000, output: 200 },
    model: 'alpha',
    provider: 'openai',
    id: 'chatcmpl-1',
  });
  expect(usage).toMatchObject({ external_subscription_id: 'ada-1', timestamp: expect.any(Number) });
});

test('usage of a streamed chat is asked for, and its extra chunk hidden from who did not ask', async () => {
  const asked = providers.asked.length;
  const contents = [];
  for await (const chunk of await openai.chat.completions.create({ ...chat, stream: true }))
    contents.push(chunk.choices[0]!.delta.content);
  expect(contents).toEqual(['hel', 'lo']);
  expect(providers.asked[asked]).toMatchObject({ stream_options: { include_usage: true } });
  expect((await reported()).parts).toEqual({ input: 1000, output: 200 });
});

test('who asked for the usage of a stream sees its chunk, and who declined it is not asked', async () => {
  const sizes = [];
  for (const include_usage of [true, false]) {
    let size = 0;
    const stream = await openai.chat.completions.create({ ...chat, stream: true, stream_options: { include_usage } });
    for await (const _ of stream) size += 1;
    sizes.push(size);
  }
  expect(sizes).toEqual([3, 2]);
  expect((await reported()).parts).toEqual({ input: 1000, output: 200 });
  expect(to.stats().lost).toBe(1);
});

test('responses and embeddings are reported, a search too', async () => {
  await openai.responses.create({ model: 'alpha', input: 'a secret question' });
  expect((await reported()).parts).toEqual({
    input: 4000,
    cache_read: 8000,
    output: 661,
    reasoning: 320,
    web_search: 1,
  });
  receiver.stored.clear();
  const stream = await openai.responses.create({ model: 'alpha', input: 'a secret question', stream: true });
  for await (const _ of stream) {
    // read to its end
  }
  expect((await reported()).parts).toMatchObject({ cache_read: 8000 });
  receiver.stored.clear();
  await openai.embeddings.create({ model: 'alpha', input: 'a secret question' });
  const { parts, usage } = await reported();
  expect(parts).toEqual({ input: 8 });
  expect(usage.transaction_id).toMatch(/^call:/);
});

test('helpers of the client that make calls themselves are reported', async () => {
  const runner = openai.chat.completions.stream(chat);
  expect(await runner.finalContent()).toBe('hello');
  expect((await reported()).parts).toEqual({ input: 1000, output: 200 });
});

test('a message of Anthropic and its stream are reported (AI12)', async () => {
  expect((await anthropic.messages.create(message)).content).toEqual([{ type: 'text', text: 'hello' }]);
  expect((await reported()).parts).toMatchObject({ input: 25, cache_read: 900, output: 310 });
  receiver.stored.clear();
  const types = [];
  for await (const event of await anthropic.messages.create({ ...message, stream: true })) types.push(event.type);
  expect(types).toHaveLength(6);
  expect((await reported()).parts).toMatchObject({ input: 25, cache_read: 900, output: 310 });
  receiver.stored.clear();
  expect(await anthropic.messages.stream(message).finalText()).toBe('hello');
  expect((await reported()).parts).toMatchObject({ output: 310 });
});

test('an error of the provider reaches the caller as it is, and nothing is reported', async () => {
  const failed = openai.chat.completions.create({ ...chat, model: 'wrong' });
  await expect(failed).rejects.toBeInstanceOf(OpenAI.BadRequestError);
  await to.close();
  expect([receiver.stored.size, to.stats().lost]).toEqual([0, 0]);
});

test('of a stream that breaks off or is left what was counted is reported, and a call without any is told', async () => {
  const read = async (stream: PromiseLike<AsyncIterable<unknown>>) => {
    for await (const _ of await stream) {
      // until it breaks
    }
  };
  const broken = { model: 'breaking', stream: true as const };
  await expect(read(anthropic.messages.create({ ...message, ...broken }))).rejects.toThrow();
  expect((await reported()).usage).toMatchObject({ properties: { stream_broken: true } });
  await expect(read(openai.chat.completions.create({ ...chat, ...broken }))).rejects.toThrow();
  await until(() => to.stats().lost === 1);
  receiver.stored.clear();
  for await (const _ of await openai.chat.completions.create({ ...chat, stream: true })) break;
  expect((await reported()).parts).toEqual({ input: 1000, output: 200 });
});

test('calls within withMeter are of its subscription, and its properties are added to those around', async () => {
  await withMeter({ subscription: 'bob-1', properties: { agent: 'planner' } }, () =>
    withMeter({ properties: { step: 3 } }, () => openai.chat.completions.create(chat)),
  );
  expect((await reported()).usage).toMatchObject({
    external_subscription_id: 'bob-1',
    properties: { agent: 'planner', step: 3 },
  });
});

test('what has no withOptions is no client', () => {
  expect(() => meter({}, { to })).toThrow(TypeError);
});

test('models of the AI SDK are reported by the middleware, plain and streamed', async () => {
  const middleware = meterModel({ to, subscription: 'ada-1' });
  const gpt = createOpenAI({ apiKey: 'k', baseURL: `${providers.url}/v1` }).responses('alpha');
  const { text } = await generateText({
    model: wrapLanguageModel({ model: gpt, middleware }),
    prompt: 'a secret question',
  });
  expect(text).toBe('hello');
  const { parts, provider, model } = await reported();
  expect({ parts, provider, model }).toEqual({
    parts: { input: 4000, cache_read: 8000, output: 661, reasoning: 320 },
    provider: 'openai',
    model: 'alpha',
  });
  receiver.stored.clear();
  const claude = createAnthropic({ apiKey: 'k', baseURL: providers.url }).messages('beta');
  const stream = streamText({ model: wrapLanguageModel({ model: claude, middleware }), prompt: 'a secret question' });
  expect(await stream.text).toBe('hello');
  expect(await reported()).toMatchObject({ parts: { input: 25, cache_read: 900, output: 310 }, provider: 'anthropic' });
});
