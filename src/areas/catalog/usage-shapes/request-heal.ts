import type { Context } from '../../../platform/context.ts';
import type { ExternalSubscriptionId, MetricId } from '../../../platform/ids.ts';

/** Open unmatched events that are matched again; without any field, all of the organization. */
export interface HealSelection {
  metric_ids?: MetricId[];
  code?: string;
  external_subscription_id?: ExternalSubscriptionId;
}

/**
 * Owes a new matching of unmatched events. Call it in every command that may make events count: of metrics, charges and
 * filters (`refreshShapes` does), and when a subscription starts. Rule: event-verdicts.md#unmatched-events "healing".
 */
export const requestHeal = (ctx: Context, selection: HealSelection): void =>
  ctx.after({ step: 'heal-events', payload: selection });
