import { z } from 'zod';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { optionalText, text } from '../../../platform/schema/fields.ts';
import { MODEL_MAX_BYTES, PROVIDER_MAX_BYTES } from '../../catalog/price-book/schema.ts';

export const UnknownModelsQuery = z.object(pageQuery);
export type UnknownModelsQuery = z.output<typeof UnknownModelsQuery>;

export const UnknownModelList = z.object({
  unknown_models: z.array(
    z.object({
      provider: z.string(),
      model: z.string(),
      tier: z.string(),
      missing_kinds: z.array(z.string()),
      events: z.int(),
      tokens: z.string(),
      first_seen_at: z.iso.datetime(),
      last_seen_at: z.iso.datetime(),
      nearest: z.array(z.object({ provider: z.string(), model: z.string() })),
    }),
  ),
  meta: PageMeta,
});

export const IgnoreUnknown = z.object({
  provider: text({ maxBytes: PROVIDER_MAX_BYTES }),
  model: text({ maxBytes: MODEL_MAX_BYTES }),
  reason: optionalText({ max: 255 }),
});
export type IgnoreUnknown = z.output<typeof IgnoreUnknown>;

export const IgnoredUnknown = z.object({
  ignored: z.object({ provider: z.string(), model: z.string(), events: z.int() }),
});
