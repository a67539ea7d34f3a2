import type { UsageInput } from '../../../src/engine/ai/extract-usage.ts';

/** A golden call: what its provider reported, the parts that it consists of, and the flags of reading it. */
export interface GoldenCall {
  number: string;
  input: UsageInput;
  parts: Record<string, number>;
  flags: string[];
  inputTotal?: number;
}

const chat = (model: string, usage: object): UsageInput => ({
  format: 'openai_chat',
  body: { id: 'c1', model, usage },
});
const messages = (usage: object): UsageInput => ({
  format: 'anthropic_messages',
  body: { id: 'm1', type: 'message', model: 'beta', usage },
});
const gemini = (usageMetadata: object): UsageInput => ({
  format: 'gemini',
  body: { responseId: 'g1', modelVersion: 'gamma', usageMetadata },
});
const CACHED = { cache_creation_input_tokens: 10_000, cache_read_input_tokens: 40_000 };

/** Rule: ai-usage.md#golden-cases. */
export const GOLDEN_CALLS: readonly GoldenCall[] = [
  {
    number: 'AI1',
    input: chat('alpha', { prompt_tokens: 1000, completion_tokens: 200 }),
    parts: { input: 1000, output: 200 },
    flags: [],
  },
  {
    number: 'AI2',
    input: chat('alpha', {
      prompt_tokens: 3819,
      prompt_tokens_details: { cached_tokens: 3712 },
      completion_tokens: 20,
    }),
    parts: { input: 107, cache_read: 3712, output: 20 },
    flags: [],
    inputTotal: 3819,
  },
  {
    number: 'AI3',
    input: chat('alpha', {
      prompt_tokens: 33,
      completion_tokens: 1579,
      completion_tokens_details: { reasoning_tokens: 832, rejected_prediction_tokens: 50 },
    }),
    parts: { input: 33, output: 747, reasoning: 832 },
    flags: [],
  },
  {
    number: 'AI4',
    input: chat('alpha', {
      prompt_tokens: 500,
      prompt_tokens_details: { audio_tokens: 400 },
      completion_tokens: 300,
      completion_tokens_details: { audio_tokens: 250 },
    }),
    parts: { input: 100, input_audio: 400, output: 50, output_audio: 250 },
    flags: [],
  },
  {
    number: 'AI5',
    input: chat('alpha', {
      prompt_tokens: 500,
      prompt_tokens_details: { audio_tokens: 400, cached_tokens: 200 },
      completion_tokens: 10,
    }),
    parts: { input: 0, cache_read: 100, input_audio: 300, cache_read_audio: 100, output: 10 },
    flags: ['overlap_assumed'],
    inputTotal: 500,
  },
  {
    number: 'AI6',
    input: {
      format: 'openai_responses',
      body: {
        id: 'r1',
        object: 'response',
        model: 'alpha',
        usage: {
          input_tokens: 12_000,
          input_tokens_details: { cached_tokens: 8000, cache_write_tokens: 2000 },
          output_tokens: 981,
          output_tokens_details: { reasoning_tokens: 320 },
        },
      },
    },
    parts: { input: 2000, cache_read: 8000, cache_write: 2000, output: 661, reasoning: 320 },
    flags: [],
  },
  {
    number: 'AI7',
    input: chat('alpha', { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 160 }, completion_tokens: 5 }),
    parts: { input: 100, cache_read: 160, output: 5 },
    flags: ['parts_exceed_total'],
    inputTotal: 260,
  },
  {
    number: 'AI8',
    input: chat('alpha', { prompt_tokens: 900, prompt_cache_hit_tokens: 640, completion_tokens: 100 }),
    parts: { input: 260, cache_read: 640, output: 100 },
    flags: [],
  },
  {
    number: 'AI9',
    input: messages({
      input_tokens: 13,
      cache_creation_input_tokens: 2803,
      cache_creation: { ephemeral_5m_input_tokens: 2803 },
      cache_read_input_tokens: 0,
      output_tokens: 30,
    }),
    parts: { input: 13, cache_write: 2803, cache_read: 0, output: 30 },
    flags: [],
    inputTotal: 2816,
  },
  {
    number: 'AI10',
    input: messages({
      input_tokens: 50,
      ...CACHED,
      cache_creation: { ephemeral_5m_input_tokens: 4000, ephemeral_1h_input_tokens: 6000 },
      output_tokens: 1200,
      output_tokens_details: { thinking_tokens: 700 },
      server_tool_use: { web_search_requests: 3 },
    }),
    parts: {
      input: 50,
      cache_write: 4000,
      cache_write_1h: 6000,
      cache_read: 40_000,
      output: 500,
      reasoning: 700,
      web_search: 3,
    },
    flags: [],
  },
  {
    number: 'AI11',
    input: messages({ input_tokens: 50, ...CACHED, output_tokens: 1200 }),
    parts: { input: 50, cache_write: 10_000, cache_read: 40_000, output: 1200 },
    flags: [],
  },
  {
    number: 'AI12',
    input: {
      format: 'anthropic_messages',
      body: [
        {
          type: 'message_start',
          message: {
            id: 'm1',
            type: 'message',
            model: 'beta',
            usage: { input_tokens: 25, cache_read_input_tokens: 900, output_tokens: 1 },
          },
        },
        { type: 'message_delta', usage: { output_tokens: 15 } },
        { type: 'message_delta', usage: { input_tokens: null, output_tokens: 310 } },
      ],
    },
    parts: { input: 25, cache_read: 900, output: 310 },
    flags: [],
  },
  {
    number: 'AI13',
    input: messages({ input_tokens: 150_000, cache_read_input_tokens: 60_000, output_tokens: 2000 }),
    parts: { input: 150_000, cache_read: 60_000, output: 2000 },
    flags: [],
    inputTotal: 210_000,
  },
  {
    number: 'AI14',
    input: messages({ input_tokens: 140_000, cache_read_input_tokens: 60_000, output_tokens: 2000 }),
    parts: { input: 140_000, cache_read: 60_000, output: 2000 },
    flags: [],
    inputTotal: 200_000,
  },
  {
    number: 'AI15',
    input: gemini({
      promptTokenCount: 27,
      candidatesTokenCount: 1003,
      thoughtsTokenCount: 1546,
      totalTokenCount: 2576,
    }),
    parts: { input: 27, output: 1003, reasoning: 1546 },
    flags: [],
  },
  {
    number: 'AI16',
    input: gemini({
      promptTokenCount: 10_000,
      cachedContentTokenCount: 8000,
      toolUsePromptTokenCount: 500,
      candidatesTokenCount: 400,
      thoughtsTokenCount: 100,
      totalTokenCount: 11_000,
    }),
    parts: { input: 2500, cache_read: 8000, output: 400, reasoning: 100 },
    flags: [],
  },
  {
    number: 'AI17',
    input: gemini({
      promptTokenCount: 5000,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 1500 },
        { modality: 'AUDIO', tokenCount: 3500 },
      ],
      cachedContentTokenCount: 1000,
      cacheTokensDetails: [
        { modality: 'TEXT', tokenCount: 400 },
        { modality: 'AUDIO', tokenCount: 600 },
      ],
      candidatesTokenCount: 100,
    }),
    parts: { input: 1100, cache_read: 400, cache_read_audio: 600, input_audio: 2900, output: 100 },
    flags: [],
    inputTotal: 5000,
  },
  {
    number: 'AI18',
    input: gemini({ promptTokenCount: 250_000, candidatesTokenCount: 1000 }),
    parts: { input: 250_000, output: 1000 },
    flags: [],
  },
  {
    number: 'AI19',
    input: {
      format: 'bedrock_converse',
      model: 'delta',
      body: { usage: { inputTokens: 21, outputTokens: 37, totalTokens: 58 } },
    },
    parts: { input: 21, output: 37 },
    flags: [],
  },
  {
    number: 'AI20',
    input: {
      format: 'bedrock_converse',
      model: 'beta',
      body: {
        usage: {
          inputTokens: 100,
          cacheReadInputTokens: 5000,
          cacheWriteInputTokens: 3000,
          cacheDetails: [
            { ttl: '1h', inputTokens: 1000 },
            { ttl: '5m', inputTokens: 2000 },
          ],
          outputTokens: 200,
          totalTokens: 8300,
        },
      },
    },
    parts: { input: 100, cache_read: 5000, cache_write: 2000, cache_write_1h: 1000, output: 200 },
    flags: [],
    inputTotal: 8100,
  },
  {
    number: 'AI21',
    input: {
      format: 'mistral',
      body: {
        id: 'i1',
        model: 'epsilon',
        usage: { prompt_tokens: 1210, prompt_tokens_details: { cached_tokens: 1024 }, completion_tokens: 14 },
      },
    },
    parts: { input: 186, cache_read: 1024, output: 14 },
    flags: [],
  },
  {
    number: 'AI22',
    input: {
      format: 'mistral',
      body: {
        id: 'i2',
        model: 'epsilon',
        usage: { prompt_tokens: 30, completion_tokens: 120, prompt_audio_seconds: 203 },
      },
    },
    parts: { input: 30, output: 120, audio_seconds: 203 },
    flags: [],
  },
  {
    number: 'AI23',
    input: {
      format: 'cohere',
      model: 'zeta',
      body: {
        id: 'h1',
        usage: {
          billed_units: { input_tokens: 98, output_tokens: 250, search_units: 2 },
          tokens: { input_tokens: 1402, output_tokens: 262 },
          cached_tokens: 1000,
        },
      },
    },
    parts: { input: 98, output: 250, search_units: 2 },
    flags: [],
  },
  {
    number: 'AI24',
    input: {
      format: 'vercel_ai',
      provider: 'openai',
      model: 'alpha',
      body: {
        usage: {
          inputTokens: 3819,
          inputTokenDetails: { cacheReadTokens: 3712 },
          outputTokens: 1579,
          outputTokenDetails: { reasoningTokens: 832 },
        },
      },
    },
    parts: { input: 107, cache_read: 3712, output: 747, reasoning: 832 },
    flags: [],
  },
  {
    number: 'AI25',
    input: {
      format: 'otel',
      body: {
        'gen_ai.provider.name': 'anthropic',
        'gen_ai.response.model': 'beta',
        'gen_ai.usage.input_tokens': 50_050,
        'gen_ai.usage.cache_read.input_tokens': 40_000,
        'gen_ai.usage.cache_creation.input_tokens': 10_000,
        'gen_ai.usage.output_tokens': 1200,
      },
    },
    parts: { input: 50, cache_write: 10_000, cache_read: 40_000, output: 1200 },
    flags: [],
  },
  {
    number: 'AI26',
    input: {
      format: 'otel',
      body: {
        'gen_ai.provider.name': 'anthropic',
        'gen_ai.response.model': 'beta',
        'gen_ai.usage.input_tokens': 50,
        'gen_ai.usage.cache_read.input_tokens': 40_000,
        'gen_ai.usage.output_tokens': 1200,
      },
    },
    parts: { input: 50, cache_read: 40_000, output: 1200 },
    flags: ['parts_exceed_total'],
  },
  {
    number: 'AI27',
    input: {
      format: 'litellm',
      body: {
        id: 'l1',
        call_type: 'acompletion',
        custom_llm_provider: 'anthropic',
        model: 'beta',
        metadata: {
          usage_object: {
            prompt_tokens: 50_050,
            completion_tokens: 1200,
            cache_read_input_tokens: 40_000,
            cache_creation_input_tokens: 10_000,
          },
        },
      },
    },
    parts: { input: 50, cache_write: 10_000, cache_read: 40_000, output: 1200 },
    flags: [],
  },
  {
    number: 'AI28',
    input: chat('delta', {
      prompt_tokens: 100,
      prompt_tokens_details: { audio_tokens: 60 },
      completion_tokens: 10,
      completion_tokens_details: { audio_tokens: 4 },
    }),
    parts: { input: 40, input_audio: 60, output: 6, output_audio: 4 },
    flags: [],
  },
  {
    number: 'AI29',
    input: chat('alpha', { prompt_tokens: 100 }),
    parts: { input: 100 },
    flags: ['missing:output_tokens'],
  },
  {
    number: 'AI30',
    input: chat('alpha', { prompt_tokens: 8, total_tokens: 8 }),
    parts: { input: 8 },
    flags: [],
  },
  {
    number: 'AI31',
    input: chat('alpha', {
      prompt_tokens: 500,
      prompt_tokens_details: { audio_tokens: 600, cached_tokens: 50 },
      completion_tokens: 10,
    }),
    parts: { input: 500, cache_read: 50, input_audio: 600, output: 10 },
    flags: ['parts_exceed_total'],
  },
];
