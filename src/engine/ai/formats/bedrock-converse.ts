import { FIRST, type Format } from './format.ts';

const WRITTEN = 'cache_write_input_tokens';

export const bedrockConverse: Format = {
  code: 'bedrock_converse',
  version: 1,
  from: FIRST,
  provider: 'bedrock',
  // Other libraries spell these names in the same way.
  marks: [['inputTokens', 'totalTokens']],
  needsProvider: true,
  usage: ['usage', ''],
  stream: ['metadata', ''],
  names: { tier: ['service_tier.type'] },
  variants: [
    {
      fields: [
        { path: ['input_tokens'], kind: 'input' },
        { path: ['cache_read_input_tokens'], kind: 'cache_read' },
        { path: [WRITTEN], kind: 'cache_write' },
        { path: ['cache_details[ttl=1h].input_tokens'], kind: 'cache_write_1h', within: WRITTEN },
        { path: ['output_tokens'], kind: 'output' },
      ],
    },
  ],
  grand: 'total_tokens',
  also: ['cache_read_input_token_count', 'cache_write_input_token_count', 'server_tool_usage'],
};
