import { FIRST, type FieldRow, type Format } from './format.ts';

const INPUT = 'input_tokens';
const OUTPUT = 'output_tokens';
const WRITTEN = 'cache_creation_input_tokens';

const OTHERS: readonly FieldRow[] = [
  { path: ['cache_creation.ephemeral_1h_input_tokens'], kind: 'cache_write_1h', within: WRITTEN },
  { path: [OUTPUT], kind: 'output' },
  { path: ['output_tokens_details.thinking_tokens'], kind: 'reasoning', within: OUTPUT },
  { path: ['server_tool_use.web_search_requests'], kind: 'web_search' },
  { path: ['server_tool_use.web_fetch_requests'], kind: 'web_fetch' },
];
/** Without their sum, both lives of what was written are added. */
const WRITTEN_PATHS = [WRITTEN, 'cache_creation.ephemeral_5m_input_tokens + cache_creation.ephemeral_1h_input_tokens'];

export const anthropicMessages: Format = {
  code: 'anthropic_messages',
  version: 1,
  from: FIRST,
  provider: 'anthropic',
  marks: [[INPUT, 'cache_creation_input_tokens'], [INPUT, 'cache_creation'], ['type=message']],
  usage: ['usage', ''],
  stream: ['message', ''],
  isMerged: true,
  names: {
    id: ['id'],
    model: ['model'],
    tier: ['usage.speed=fast', 'speed=fast', 'usage.service_tier', 'service_tier'],
  },
  variants: [
    {
      option: 'input_includes_cache',
      fields: [
        { path: [INPUT], kind: 'input' },
        { path: ['cache_read_input_tokens'], kind: 'cache_read', within: INPUT },
        { path: WRITTEN_PATHS, kind: 'cache_write', within: INPUT },
        ...OTHERS,
      ],
    },
    {
      fields: [
        { path: [INPUT], kind: 'input' },
        { path: ['cache_read_input_tokens'], kind: 'cache_read' },
        { path: WRITTEN_PATHS, kind: 'cache_write' },
        ...OTHERS,
      ],
    },
  ],
  also: ['cache_creation.ephemeral_5m_input_tokens', 'service_tier', 'speed', 'inference_geo'],
};
