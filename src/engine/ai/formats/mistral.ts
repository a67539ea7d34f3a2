import { FIRST, type Format } from './format.ts';
import { CHAT_ALSO, CHAT_FIELDS, CHAT_NAMES } from './openai-chat.ts';

export const mistral: Format = {
  code: 'mistral',
  version: 1,
  from: FIRST,
  provider: 'mistral',
  marks: [['prompt_audio_seconds']],
  usage: ['usage', ''],
  stream: ['data', ''],
  names: CHAT_NAMES,
  variants: [{ fields: [...CHAT_FIELDS, { path: ['prompt_audio_seconds'], kind: 'audio_seconds' }] }],
  grand: 'total_tokens',
  cachedDetails: 'prompt_tokens_details.cached_tokens_details',
  completeWithout: [['object=list']],
  also: [...CHAT_ALSO, 'num_cached_tokens'],
};
