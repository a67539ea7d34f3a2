import { FIRST, type Format } from './format.ts';
import { CHAT_ALSO, CHAT_FIELDS } from './openai-chat.ts';

const INPUT = 'prompt_tokens';
const WRITTEN = 'cache_creation_input_tokens';

/** The gateway adds what was read from and written to a cache to the prompt. */
export const litellm: Format = {
  code: 'litellm',
  version: 1,
  from: FIRST,
  provider: null,
  marks: [['call_type'], ['request_id', 'spend']],
  usage: ['metadata.usage_object', ''],
  stream: [''],
  names: {
    id: ['id', 'request_id'],
    model: ['model'],
    provider: ['custom_llm_provider'],
    cost: ['response_cost', 'spend'],
    cacheHit: ['cache_hit'],
  },
  variants: [
    {
      fields: [
        ...CHAT_FIELDS.filter(({ kind }) => kind !== 'cache_read' && kind !== 'cache_write'),
        {
          path: ['cache_read_input_tokens', 'prompt_tokens_details.cached_tokens', 'prompt_cache_hit_tokens'],
          kind: 'cache_read',
          within: INPUT,
          less: 'prompt_tokens_details.cached_tokens_details.audio_tokens',
        },
        {
          path: [WRITTEN, 'prompt_tokens_details.cache_write_tokens', 'prompt_tokens_details.cache_creation_tokens'],
          kind: 'cache_write',
          within: INPUT,
        },
        {
          path: ['prompt_tokens_details.cache_creation_token_details.ephemeral_1h_input_tokens'],
          kind: 'cache_write_1h',
          within: WRITTEN,
        },
        { path: ['server_tool_use.web_search_requests'], kind: 'web_search' },
      ],
    },
  ],
  grand: 'total_tokens',
  cachedDetails: 'prompt_tokens_details.cached_tokens_details',
  completeWithout: [
    ['call_type=embedding'],
    ['call_type=aembedding'],
    ['call_type=rerank'],
    ['call_type=arerank'],
    ['call_type=moderation'],
    ['call_type=amoderation'],
  ],
  failed: ['status=failure'],
  also: [
    ...CHAT_ALSO,
    'prompt_tokens_details.cache_creation_token_details',
    'prompt_tokens_details.cached_tokens',
    'prompt_tokens_details.cache_write_tokens',
    'prompt_tokens_details.cache_creation_tokens',
    'prompt_cache_hit_tokens',
    'inference_geo',
    'speed',
  ],
};
