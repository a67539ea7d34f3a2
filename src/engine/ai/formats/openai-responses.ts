import { FIRST, type Format } from './format.ts';

const INPUT = 'input_tokens';
const OUTPUT = 'output_tokens';
const CACHED_AUDIO = 'input_tokens_details.cached_tokens_details.audio_tokens';

export const openaiResponses: Format = {
  code: 'openai_responses',
  version: 1,
  from: FIRST,
  provider: 'openai',
  marks: [['input_tokens_details'], ['object=response']],
  usage: ['usage', ''],
  stream: ['response', ''],
  names: { id: ['id'], model: ['model'], tier: ['service_tier'], cost: ['usage.cost', 'cost'] },
  variants: [
    {
      fields: [
        { path: [INPUT], kind: 'input' },
        { path: ['input_tokens_details.cached_tokens'], kind: 'cache_read', within: INPUT, less: CACHED_AUDIO },
        { path: ['input_tokens_details.cache_write_tokens'], kind: 'cache_write', within: INPUT },
        { path: ['input_tokens_details.audio_tokens'], kind: 'input_audio', within: INPUT, less: CACHED_AUDIO },
        { path: ['input_tokens_details.image_tokens'], kind: 'input_image', within: INPUT },
        { path: [CACHED_AUDIO], kind: 'cache_read_audio', within: INPUT },
        { path: [OUTPUT], kind: 'output' },
        { path: ['output_tokens_details.reasoning_tokens'], kind: 'reasoning', within: OUTPUT },
        { path: ['output_tokens_details.audio_tokens'], kind: 'output_audio', within: OUTPUT },
        { path: ['output_tokens_details.image_tokens'], kind: 'output_image', within: OUTPUT },
      ],
    },
  ],
  grand: 'total_tokens',
  cachedDetails: 'input_tokens_details.cached_tokens_details',
  counts: [{ list: 'output', type: 'web_search_call', kind: 'web_search' }],
  also: [
    'input_tokens_details.text_tokens',
    'input_tokens_details.cached_tokens_details',
    'output_tokens_details.text_tokens',
    'cost',
    'cost_details',
  ],
};
