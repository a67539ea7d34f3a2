import type { Context } from '../../../platform/context.ts';
import type { StepPayload } from '../../../steps.ts';

/** How many models without a price an organization is told of on one day. */
const MOST_A_DAY = 1000;

/** Step `tell-unknown-models`: announces a model for which calls of today have no amount. */
export async function tellUnknownModel(ctx: Context, model: StepPayload<'tell-unknown-models'>): Promise<void> {
  const [row] = await ctx.db<{ told: number }[]>`
    select count(*) as told from ai_unpriced_models
    where organization_id = ${ctx.organizationId} and told_on = (${ctx.now()}::timestamptz at time zone 'UTC')::date`;
  if (row!.told > MOST_A_DAY) return;
  ctx.record({
    webhook: { type: 'price_book.model_unknown', objectType: 'unknown_model', objectId: null, object: model },
  });
}
