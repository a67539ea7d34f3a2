import { FIRST, type FieldRow, type Format } from './format.ts';

const INPUT = 'prompt_token_count';
const OUTPUT = 'candidates_token_count';
const CACHED_AUDIO = 'cache_tokens_details[modality=AUDIO].token_count';

const prompt = (modality: string, kind: FieldRow['kind']): FieldRow => ({
  path: [`prompt_tokens_details[modality=${modality}].token_count`],
  kind,
  within: INPUT,
  less: `cache_tokens_details[modality=${modality}].token_count`,
});
const written = (modality: string, kind: FieldRow['kind']): FieldRow => ({
  path: [
    `candidates_tokens_details[modality=${modality}].token_count`,
    `response_tokens_details[modality=${modality}].token_count`,
  ],
  kind,
  within: OUTPUT,
});

export const gemini: Format = {
  code: 'gemini',
  version: 1,
  from: FIRST,
  provider: 'google',
  marks: [['usage_metadata'], [INPUT]],
  usage: ['usage_metadata', ''],
  stream: [''],
  names: {
    id: ['response_id'],
    model: ['model_version'],
    tier: ['usage_metadata.traffic_type', 'traffic_type'],
  },
  variants: [
    {
      fields: [
        { path: [INPUT], kind: 'input' },
        { path: ['cached_content_token_count'], kind: 'cache_read', within: INPUT, less: CACHED_AUDIO },
        prompt('AUDIO', 'input_audio'),
        prompt('IMAGE', 'input_image'),
        prompt('VIDEO', 'input_video'),
        { path: [CACHED_AUDIO], kind: 'cache_read_audio', within: INPUT },
        { path: ['tool_use_prompt_token_count'], kind: 'input' },
        { path: [OUTPUT, 'response_token_count'], kind: 'output' },
        written('AUDIO', 'output_audio'),
        written('IMAGE', 'output_image'),
        { path: ['thoughts_token_count'], kind: 'reasoning' },
      ],
    },
  ],
  grand: 'total_token_count',
  cachedDetails: 'cache_tokens_details',
  also: ['tool_use_prompt_tokens_details', 'traffic_type'],
};
