import type { Context } from '../../../platform/context.ts';
import { getRow } from '../../../platform/db/rows.ts';
import type { MetricId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { viewOf } from '../../../platform/schema/columns.ts';
import { raiseShapesVersion } from '../usage-shapes/commands.ts';
import { lockOrganizationEvents } from '../usage-shapes/shape-locks.ts';
import { announceFeature } from './announce.ts';
import { features, lockFeature } from './queries.ts';
import type { UsageLimitInput } from './schema.ts';
import { replaceUsageLimits } from './writes.ts';

/**
 * Gives a feature usage limits in the place of those it has: the granted value of a privilege is the most units of a
 * metric in a period.
 *
 * @throws Refusal 404 feature, privilege, billable_metric; 422 privilege_code: value_is_invalid, of one that is no
 *   integer
 * Rule: entitlements.md#usage-limits.
 */
export async function setUsageLimits(ctx: Context, { code, body }: { code: string; body: UsageLimitInput[] }) {
  const stored = await lockFeature(ctx, code);
  const metrics = await keepMetrics(
    ctx,
    body.map(({ billable_metric_code }) => billable_metric_code),
  );
  const limits = body.map((limit) => {
    const privilege = stored.privileges.find((each) => each.code === limit.privilege_code);
    if (!privilege) throw refuse.notFound('privilege');
    const metric = metrics.find((each) => each.code === limit.billable_metric_code);
    if (!metric) throw refuse.notFound('billable_metric');
    return { privilege, privilege_id: privilege.id, billable_metric_id: metric.id, period: limit.period };
  });
  if (limits.some(({ privilege }) => privilege.value_type !== 'integer'))
    throw refuse.invalid({ privilege_code: ['value_is_invalid'] });
  await replaceUsageLimits(ctx, stored.id, limits);
  if (limits.length > 0) {
    // Events stored from now on count against limited metrics.
    await lockOrganizationEvents(ctx);
    await raiseShapesVersion(ctx);
  }

  const feature = await getRow(ctx, features, code);
  announceFeature(ctx, 'updated', feature, stored);
  return { feature: viewOf(features, feature) };
}

const keepMetrics = (ctx: Context, codes: readonly string[]) => ctx.db<{ id: MetricId; code: string }[]>`
  select id, code from billable_metrics
  where organization_id = ${ctx.organizationId} and code = any (${codes}) and deleted_at is null
  order by id for key share`;
