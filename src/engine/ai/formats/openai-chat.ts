import { FIRST, type FieldRow, type Format, type Names } from './format.ts';

const INPUT = 'prompt_tokens';
const OUTPUT = 'completion_tokens';

/** Fields whose totals are those of chat completions; most compatible servers have them. */
export const CHAT_FIELDS: readonly FieldRow[] = [
  { path: [INPUT], kind: 'input' },
  {
    path: ['prompt_tokens_details.cached_tokens', 'prompt_cache_hit_tokens'],
    kind: 'cache_read',
    within: INPUT,
    less: 'prompt_tokens_details.cached_tokens_details.audio_tokens',
  },
  { path: ['prompt_tokens_details.cache_write_tokens'], kind: 'cache_write', within: INPUT },
  {
    path: ['prompt_tokens_details.audio_tokens'],
    kind: 'input_audio',
    within: INPUT,
    less: 'prompt_tokens_details.cached_tokens_details.audio_tokens',
  },
  { path: ['prompt_tokens_details.image_tokens'], kind: 'input_image', within: INPUT },
  { path: ['prompt_tokens_details.video_tokens'], kind: 'input_video', within: INPUT },
  {
    path: ['prompt_tokens_details.cached_tokens_details.audio_tokens'],
    kind: 'cache_read_audio',
    within: INPUT,
  },
  { path: [OUTPUT], kind: 'output' },
  { path: ['completion_tokens_details.reasoning_tokens'], kind: 'reasoning', within: OUTPUT },
  { path: ['completion_tokens_details.audio_tokens'], kind: 'output_audio', within: OUTPUT },
  { path: ['completion_tokens_details.image_tokens'], kind: 'output_image', within: OUTPUT },
];

/** Fields of chat completions that are inside a total and have no price of their own, or are no tokens. */
export const CHAT_ALSO = [
  'completion_tokens_details.accepted_prediction_tokens',
  'completion_tokens_details.rejected_prediction_tokens',
  'completion_tokens_details.text_tokens',
  'prompt_tokens_details.text_tokens',
  'prompt_tokens_details.cached_tokens_details',
  'prompt_cache_miss_tokens',
  'cost',
  'cost_details',
  'is_byok',
  'queue_time',
  'prompt_time',
  'completion_time',
  'total_time',
];

export const CHAT_NAMES: Names = {
  id: ['id'],
  model: ['model'],
  tier: ['service_tier'],
  cost: ['usage.cost', 'cost'],
};

/** Lists of vectors: their calls have no output. */
const EMBEDDINGS = ['object=list'];

export const openaiChat: Format = {
  code: 'openai_chat',
  version: 1,
  from: FIRST,
  provider: 'openai',
  marks: [[INPUT]],
  usage: ['usage', 'x_groq.usage', ''],
  stream: [''],
  names: CHAT_NAMES,
  variants: [{ fields: CHAT_FIELDS }],
  grand: 'total_tokens',
  cachedDetails: 'prompt_tokens_details.cached_tokens_details',
  completeWithout: [EMBEDDINGS],
  also: CHAT_ALSO,
};
