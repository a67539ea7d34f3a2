import { FIRST, type Format } from './format.ts';

const PREFIX = 'gen_ai.usage.';
const INPUT = `${PREFIX}input_tokens`;
const OUTPUT = `${PREFIX}output_tokens`;

/** Attributes of spans and log records; names are those of the conventions, old ones behind new ones. */
export const otel: Format = {
  code: 'otel',
  version: 1,
  from: FIRST,
  provider: null,
  marks: [],
  usage: [''],
  stream: [],
  flatPrefix: PREFIX,
  names: {
    model: ['gen_ai.response.model', 'gen_ai.request.model'],
    provider: ['gen_ai.provider.name', 'gen_ai.system'],
    tier: ['gen_ai.openai.response.service_tier', 'openai.response.service_tier'],
  },
  variants: [
    {
      fields: [
        { path: [INPUT, `${PREFIX}prompt_tokens`], kind: 'input' },
        {
          path: [
            `${PREFIX}cache_read.input_tokens`,
            `${PREFIX}cache_read_input_tokens`,
            `${PREFIX}input_tokens.cached`,
          ],
          kind: 'cache_read',
          within: INPUT,
        },
        {
          path: [
            `${PREFIX}cache_creation.input_tokens`,
            `${PREFIX}cache_write.input_tokens`,
            `${PREFIX}cache_creation_input_tokens`,
            `${PREFIX}cache_write_input_tokens`,
            `${PREFIX}input_tokens.cache_write`,
          ],
          kind: 'cache_write',
          within: INPUT,
        },
        { path: [OUTPUT, `${PREFIX}completion_tokens`], kind: 'output' },
        {
          path: [`${PREFIX}reasoning.output_tokens`, `${PREFIX}reasoning_tokens`],
          kind: 'reasoning',
          within: OUTPUT,
        },
      ],
    },
  ],
  grand: `${PREFIX}total_tokens`,
  completeWithout: [['gen_ai.operation.name=embeddings']],
  also: [],
};
