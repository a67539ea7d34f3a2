import type { Context } from '../../../../platform/context.ts';
import { changedKeys } from '../../../../platform/records/changes.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { keepLateEventsPolicy } from '../../../catalog/usage-policies/writes.ts';
import { raiseShapesVersion } from '../../../catalog/usage-shapes/commands.ts';
import { lockOrganizationEvents } from '../../../catalog/usage-shapes/shape-locks.ts';
import { changesRating } from './ai-settings.ts';
import { lockSettings, readSettings, updateSettingsRow, usesCurrency } from './queries.ts';
import type { SettingsUpdate, SettingsView } from './schema.ts';
import { settingsView } from './view.ts';

/** Settings of the caller's organization beyond `/organizations`. Rule: other-routes.md#records. */
export async function showSettings(ctx: Context) {
  return { settings: settingsView(await readSettings(ctx), ctx.config) };
}

/**
 * Changes them: only keys that were sent. Only the operator changes rate limits.
 *
 * @throws Refusal 422 of a key: value_is_out_of_range; rate_limits value_is_frozen; ai.book_currency value_is_frozen
 */
export async function updateSettings(ctx: Context, { body }: { body: SettingsUpdate }) {
  const stored = await lockSettings(ctx);
  const before = settingsView(stored, ctx.config);
  if (body.rate_limits && !areLimits(body.rate_limits, before))
    throw refuse.invalid({ rate_limits: ['value_is_frozen'] });
  const changed = {
    ...stored,
    audit_logs_period_days: body.audit_logs_period ?? stored.audit_logs_period_days,
    wallet_limit: body.wallet_limit ?? stored.wallet_limit,
    hosted_page_wait_minutes: body.hosted_page_wait_minutes ?? stored.hosted_page_wait_minutes,
    deny_when_overdue: body.deny_when_overdue ?? stored.deny_when_overdue,
    usage_policies: body.usage_policies === undefined ? stored.usage_policies : policiesOf(body),
    ai_settings: { ...stored.ai_settings, ...body.ai },
  };
  const after = settingsView(changed, ctx.config);
  await updateSettingsRow(ctx, changed, ctx.now());
  if (changesRating(before.ai, after.ai)) await rateAnew(ctx, before.ai, after.ai);
  await keepLateEventsPolicy(ctx, { planId: null, policies: changed.usage_policies });
  ctx.record({
    activity: {
      type: 'organization.updated',
      resourceType: 'Organization',
      resourceId: ctx.organizationId,
      object: after,
      changes: changedKeys(before, after),
    },
    keysChanged: true,
  });
  return { settings: after };
}

/**
 * From its commit on, stored events are rated by the new settings.
 *
 * @throws Refusal 422 ai.book_currency: value_is_frozen, when prices or amounts of events stand in the former one
 */
async function rateAnew(ctx: Context, before: SettingsView['ai'], after: SettingsView['ai']): Promise<void> {
  await lockOrganizationEvents(ctx);
  if (before.book_currency !== after.book_currency && (await usesCurrency(ctx, before.event_code)))
    throw refuse.invalid({ 'ai.book_currency': ['value_is_frozen'] });
  await raiseShapesVersion(ctx);
}

/** Without any policy they are null, and plans decide. */
const policiesOf = ({ usage_policies: sent }: SettingsUpdate) => {
  const policies = { corrections: sent?.corrections ?? null, late_events: sent?.late_events ?? null };
  return policies.corrections === null && policies.late_events === null ? null : policies;
};

const areLimits = (sent: Record<string, unknown>, { rate_limits }: SettingsView): boolean =>
  Object.entries(sent).every(
    ([category, limit]) =>
      !Object.hasOwn(rate_limits, category) || rate_limits[category as keyof typeof rate_limits] === limit,
  );
