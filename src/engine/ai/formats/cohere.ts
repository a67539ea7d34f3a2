import { FIRST, type Format } from './format.ts';

export const cohere: Format = {
  code: 'cohere',
  version: 1,
  from: FIRST,
  provider: 'cohere',
  marks: [['billed_units']],
  usage: ['usage', 'meta', ''],
  stream: ['delta', 'response', ''],
  names: { id: ['id', 'generation_id'], model: ['model'] },
  variants: [
    {
      when: 'billed_units',
      fields: [
        { path: ['billed_units.input_tokens'], kind: 'input' },
        { path: ['billed_units.output_tokens'], kind: 'output' },
        { path: ['billed_units.images'], kind: 'images' },
        { path: ['billed_units.search_units'], kind: 'search_units' },
        { path: ['billed_units.classifications'], kind: 'classifications' },
      ],
    },
    {
      flag: 'billed_units_missing',
      fields: [
        { path: ['tokens.input_tokens'], kind: 'input' },
        { path: ['tokens.output_tokens'], kind: 'output' },
      ],
    },
  ],
  // Vectors and orders of documents.
  completeWithout: [
    ['embeddings'],
    ['results'],
    ['classifications'],
    ['billed_units.search_units', '!billed_units.input_tokens', '!billed_units.output_tokens'],
    ['billed_units.classifications', '!billed_units.input_tokens', '!billed_units.output_tokens'],
  ],
  // What was read from a cache has no price of its own.
  also: ['cached_tokens', 'tokens', 'api_version', 'warnings'],
};
