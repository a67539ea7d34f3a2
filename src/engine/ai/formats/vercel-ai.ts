import { FIRST, type Format } from './format.ts';

const INPUT = 'input_tokens';
const OUTPUT = 'output_tokens';

export const vercelAi: Format = {
  code: 'vercel_ai',
  version: 1,
  from: FIRST,
  provider: null,
  marks: [['inputTokenDetails'], ['inputTokens', 'cachedInputTokens'], ['inputTokens', 'reasoningTokens']],
  // Of a call with several steps, the sum of all.
  usage: ['total_usage', 'usage', ''],
  stream: [''],
  names: { id: ['response.id'], model: ['response.model_id'] },
  variants: [
    {
      fields: [
        { path: [INPUT], kind: 'input' },
        { path: ['input_token_details.cache_read_tokens', 'cached_input_tokens'], kind: 'cache_read', within: INPUT },
        { path: ['input_token_details.cache_write_tokens'], kind: 'cache_write', within: INPUT },
        { path: [OUTPUT], kind: 'output' },
        { path: ['output_token_details.reasoning_tokens', 'reasoning_tokens'], kind: 'reasoning', within: OUTPUT },
      ],
    },
  ],
  grand: 'total_tokens',
  also: ['input_token_details.no_cache_tokens', 'output_token_details.text_tokens', 'raw'],
};
