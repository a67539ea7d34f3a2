import { z } from 'zod';
import { boolean, oneOf, optionalText, text } from '../../../platform/schema/fields.ts';
import { instantField } from '../../../platform/schema/instant-field.ts';
import { MODEL_MAX_BYTES, PROVIDER_MAX_BYTES } from '../../catalog/price-book/schema.ts';
import { POLICIES } from '../../catalog/usage-policies/schema.ts';

/** How many characters a reason may have. */
const REASON_MAX = 255;

export const RerateCreate = z.object({
  from: instantField(),
  to: instantField(),
  provider: optionalText({ maxBytes: PROVIDER_MAX_BYTES }),
  model: optionalText({ maxBytes: MODEL_MAX_BYTES }),
  external_subscription_id: optionalText(),
  dry_run: boolean().nullish(),
  policy: oneOf(POLICIES).nullish(),
  reason: text({ max: REASON_MAX }),
});
export type RerateCreate = z.output<typeof RerateCreate>;

const Sums = z.object({ before: z.string(), after: z.string() });
const Figures = z.object({
  examined: z.int(),
  changed: z.int(),
  precise_cost_cents: Sums,
  precise_amount_cents: Sums,
});

/** What a run has found so far, as it is stored and shown. */
export const RerateResult = Figures.extend({
  by_model: z.array(Figures.extend({ provider: z.string(), model: z.string() })),
});
export type RerateFigures = z.output<typeof Figures>;
export type RerateResult = z.output<typeof RerateResult>;

export const RerateEnvelope = z.object({
  rerate: z.object({
    svc_id: z.uuid(),
    status: z.enum(['pending', 'running', 'succeeded', 'failed', 'canceled']),
    progress: z.object({ done: z.int(), total: z.int().nullable(), percent: z.int() }),
    result: RerateResult.nullable(),
    error: z.record(z.string(), z.any()).nullable(),
    created_at: z.iso.datetime(),
    started_at: z.iso.datetime().nullable(),
    finished_at: z.iso.datetime().nullable(),
  }),
});
