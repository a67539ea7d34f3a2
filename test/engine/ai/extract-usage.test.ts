import { expect, test } from 'vitest';
import { extractUsage, type UsageInput } from '../../../src/engine/ai/extract-usage.ts';
import { FORMATS, formatOf } from '../../../src/engine/ai/formats/formats.ts';
import { KeptNumber } from '../../../src/engine/metrics/property-text.ts';
import { GOLDEN_CALLS } from './golden-calls.ts';

const AT = '2026-03-01T00:00:00.000000Z';

/** What a call consists of, with plain numbers; its faults, if it has any. */
function read(input: UsageInput) {
  const extraction = extractUsage(input, AT);
  if (!extraction.ok) return 'faults' in extraction ? extraction.faults : 'ignored';
  const { parts, inputTotal, outputTotal, ...rest } = extraction.usage;
  const numbers = Object.fromEntries(
    Object.entries(parts).map(([kind, quantity]) => [kind, Number(quantity.toFixed())]),
  );
  return { ...rest, parts: numbers, inputTotal: inputTotal?.toNumber(), outputTotal: outputTotal?.toNumber() };
}

test.each(GOLDEN_CALLS)('the parts of a call are disjoint and lose no token ($number)', (golden) => {
  const { parts, flags, inputTotal } = golden;
  expect(read(golden.input)).toMatchObject({ flags, ...(inputTotal === undefined ? {} : { inputTotal }) });
  expect((read(golden.input) as { parts: object }).parts).toEqual(parts);
});

test.each(GOLDEN_CALLS.filter(({ number, input }) => input.format !== 'otel' && number !== 'AI21'))(
  'the format of a body is recognised by its marks ($number)',
  ({ input }) => {
    expect(read({ ...input, format: 'auto', provider: 'someone' })).toMatchObject({ format: `${input.format}/1` });
  },
);

test('input and output tokens alone say nothing about who counted them', () => {
  expect(read({ body: { model: 'm', usage: { input_tokens: 5, output_tokens: 7 } } })).toEqual({
    format: ['value_is_mandatory'],
  });
});

test('a bare usage object that several libraries spell alike needs a provider', () => {
  const body = { inputTokens: 5, outputTokens: 7, totalTokens: 12 };
  expect(read({ body, model: 'm' })).toEqual({ provider: ['value_is_mandatory'] });
  expect(read({ body, model: 'm', provider: 'aws.bedrock' })).toMatchObject({
    format: 'bedrock_converse/1',
    provider: 'bedrock',
  });
});

test.each([
  [{}, { body: ['value_is_mandatory'] }],
  [{ format: 'openai_chat', body: { model: 'm' } }, { body: ['value_is_mandatory'] }],
  [{ format: 'openai_chat', body: 'text' }, { body: ['value_is_invalid'] }],
  [{ format: 'openai_chat', body: [] }, { body: ['value_is_mandatory'] }],
  [{ format: 'no_such' }, { format: ['unsupported_value'] }],
  [{ format: 'constructor' }, { format: ['unsupported_value'] }],
  [{ format: 7 }, { format: ['value_is_invalid'] }],
  [{ format: 'canonical', model: 'm', provider: 'p' }, { parts: ['value_is_mandatory'] }],
  [{ parts: { input: 5, tokens: 1 }, model: 'm', provider: 'p' }, { parts: ['value_is_invalid'] }],
  [{ parts: [5], model: 'm', provider: 'p' }, { parts: ['value_is_invalid'] }],
  [{ body: { usage: { prompt_tokens: 5 } } }, { model: ['value_is_mandatory'] }],
  [{ body: { usage: { prompt_tokens: 5 } }, model: 'm'.repeat(256) }, { model: ['value_is_too_long'] }],
  [{ body: { usage: { prompt_tokens: 5 } }, model: 'é'.repeat(128) }, { model: ['value_is_too_long'] }],
  [
    { body: { usage: { prompt_tokens: 5 } }, model: 'm', provider: 'p'.repeat(65) },
    { provider: ['value_is_too_long'] },
  ],
  [{ body: { usage: { prompt_tokens: 5 } }, model: 'm', tier: 't'.repeat(33) }, { tier: ['value_is_too_long'] }],
  [{ body: { usage: { prompt_tokens: 5 } }, model: 'm', tier: 'Über' }, { tier: ['value_is_invalid'] }],
  [{ body: { usage: { prompt_tokens: 5 } }, model: '\ud800' }, { model: ['invalid_format'] }],
  [{ body: { usage: { prompt_tokens: 5 } }, model: { m: 1 } }, { model: ['value_is_invalid'] }],
  [{ body: { model: 'm', usage: { prompt_tokens: 5 } }, reported_cost: '-1' }, { reported_cost: ['invalid_format'] }],
  [{ body: { model: 'm', usage: { prompt_tokens: 5, cost: 'x' } } }, { 'body.usage.cost': ['invalid_format'] }],
] as [UsageInput, object][])('what cannot be read is refused by its field: %j', (input, faults) => {
  expect(read(input)).toEqual(faults);
});

test.each([-1, 1.5, '12', 1e12 + 1, Number.POSITIVE_INFINITY, [5], { a: 5 }, true, new KeptNumber('1e999')])(
  'a count of tokens that is no count is refused with its place: %j',
  (bad) => {
    const usage = { prompt_tokens: 5, completion_tokens: bad };
    expect(read({ format: 'openai_chat', body: { model: 'm', usage } })).toEqual({
      'body.usage.completion_tokens': ['invalid_format'],
    });
    expect(read({ format: 'openai_chat', body: usage, model: 'm' })).toEqual({
      'body.completion_tokens': ['invalid_format'],
    });
    expect(read({ parts: { input: bad }, model: 'm', provider: 'p' })).toEqual({ 'parts.input': ['invalid_format'] });
  },
);

test('negative zero, a whole number with a point and the largest count are counts', () => {
  const usage = { prompt_tokens: -0, completion_tokens: new KeptNumber('1000000000000.0') };
  const found = read({ body: { model: 'm', usage } }) as { parts: Record<string, number> };
  expect(Object.is(found.parts.input, 0)).toBe(true);
  expect(found.parts.output).toBe(1_000_000_000_000);
});

test('seconds of audio may have fractions of up to 15 digits', () => {
  const usage = (seconds: unknown) => ({
    body: { model: 'm', usage: { prompt_tokens: 1, completion_tokens: 1, prompt_audio_seconds: seconds } },
  });
  expect(read(usage(12.5))).toMatchObject({ parts: { audio_seconds: 12.5 } });
  expect(read(usage(new KeptNumber('0.0000000000000001')))).toEqual({
    'body.usage.prompt_audio_seconds': ['invalid_format'],
  });
});

test('names that every object inherits are no fields', () => {
  const body = JSON.parse('{"model":"m","__proto__":{"usage":{"prompt_tokens":5}},"constructor":{"prompt_tokens":5}}');
  expect(read({ format: 'openai_chat', body })).toEqual({ body: ['value_is_mandatory'] });
  const stream = JSON.parse(
    '[{"message":{"model":"b","usage":{"input_tokens":1,"output_tokens":2,"__proto__":{"cache_read_input_tokens":9}}}}]',
  );
  expect(read({ format: 'anthropic_messages', body: stream })).toMatchObject({ parts: { input: 1, output: 2 } });
});

test('a gateway whose input contains what was cached says so', () => {
  const body = { model: 'beta', usage: { input_tokens: 100, cache_read_input_tokens: 60, output_tokens: 1 } };
  const input = { format: 'anthropic_messages', body, input_includes_cache: true };
  expect(read(input)).toMatchObject({ parts: { input: 40, cache_read: 60, output: 1 }, inputTotal: 100 });
  expect(read({ ...input, input_includes_cache: false })).toMatchObject({ parts: { input: 100 }, inputTotal: 160 });
  expect(read({ ...input, input_includes_cache: 'yes' })).toEqual({ input_includes_cache: ['value_is_invalid'] });
});

test('a grand total that differs from ours is flagged and does not count', () => {
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 150 };
  expect(read({ body: { model: 'm', usage } })).toMatchObject({ flags: ['total_differs'], inputTotal: 100 });
});

test('unknown numbers of a usage object are shown and flagged, texts are not shown', () => {
  const usage = {
    prompt_tokens: 1,
    completion_tokens: 1,
    prompt_tokens_details: { hologram_tokens: 7, smell_tokens: 0 },
    note: 'SECRET',
    'a,b': 3,
    is_odd: true,
  };
  expect(read({ body: { model: 'm', usage } })).toMatchObject({
    unmapped: {
      'prompt_tokens_details.hologram_tokens': 7,
      'prompt_tokens_details.smell_tokens': 0,
      a_b: 3,
      is_odd: true,
    },
    flags: ['unmapped_field:a_b', 'unmapped_field:prompt_tokens_details.hologram_tokens'],
  });
});

test('at most 50 unknown fields are shown and 20 flagged', () => {
  const many = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`x${n}`, n + 1]));
  const found = read({ body: { model: 'm', usage: { prompt_tokens: 1, completion_tokens: 1, ...many } } });
  const { unmapped, flags } = found as { unmapped: object; flags: string[] };
  expect([Object.keys(unmapped).length, flags.length]).toEqual([50, 20]);
});

test.each([
  ['default', 'standard'],
  ['AUTO', 'standard'],
  ['on_demand', 'standard'],
  ['batch', 'batch'],
  ['Priority', 'priority'],
  ['what is this?', 'standard'],
])('the tier %s of a body means %s', (sent, tier) => {
  const body = { model: 'm', service_tier: sent, usage: { prompt_tokens: 1, completion_tokens: 1 } };
  expect(read({ body })).toMatchObject({ tier });
});

test('the speed of an answer is its tier, and what is sent beside the body wins', () => {
  const usage = {
    input_tokens: 1,
    output_tokens: 1,
    cache_creation_input_tokens: 0,
    service_tier: 'standard',
    speed: 'fast',
  };
  const body = { model: 'beta', usage };
  expect(read({ body })).toMatchObject({ tier: 'fast', provider: 'anthropic', model: 'beta' });
  expect(read({ body, tier: 'batch', provider: 'aws.bedrock', model: 'own' })).toMatchObject({
    tier: 'batch',
    provider: 'bedrock',
    model: 'own',
  });
});

test("a gateway's failed call without usage is ignored, and its cache hit is told", () => {
  const failed = { id: 'x', call_type: 'completion', custom_llm_provider: 'openai', model: 'm', status: 'failure' };
  const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  expect(read({ body: { ...failed, ...usage } })).toBe('ignored');
  expect(read({ body: { ...failed, ...usage, prompt_tokens: 5, total_tokens: 5 } })).toMatchObject({
    parts: { input: 5 },
  });
  expect(read({ body: { ...failed, ...usage, status: 'success', cache_hit: 'True', spend: 3e-5 } })).toMatchObject({
    servedFromCache: true,
    flags: ['served_from_cache'],
    reportedCost: '0.00003',
  });
  expect(read({ format: 'litellm', body: failed })).toBe('ignored');
  expect(read({ body: failed })).toBe('ignored');
});

test('a format is never used before its time, and an old version stays readable', () => {
  expect(formatOf('openai_chat', '2025-12-31T23:59:59Z')).toBeUndefined();
  expect(formatOf('openai_chat', AT, 1)?.version).toBe(1);
  expect(formatOf('openai_chat', AT, 2)).toBeUndefined();
  expect(new Set(FORMATS.map(({ code, version }) => `${code}/${version}`)).size).toBe(FORMATS.length);
});
