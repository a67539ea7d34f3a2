import type { Context } from '../../../platform/context.ts';
import { findRow } from '../../../platform/db/rows.ts';
import { refuse } from '../../../platform/refusal.ts';
import { createBillableMetric } from '../../catalog/billable-metrics/commands.ts';
import { billableMetrics } from '../../catalog/billable-metrics/queries.ts';
import { type DoorSettings, doorSettings } from './door-settings.ts';
import { countSubjects, readAiSettings } from './queries.ts';
import type { SubjectsUpdate } from './schema.ts';
import { type MappedSubject, subjectName } from './subjects.ts';
import { deleteSubjects, lockSubjects, upsertSubjects } from './writes.ts';

/** How many subjects of an organization may be mapped. */
const MOST_SUBJECTS = 100_000;

/**
 * Maps subjects to subscriptions, or takes them from the map where the subscription is null; of one that is sent twice
 * the last counts. Others stay. Rule: ai-usage.md#whose-usage.
 *
 * @throws Refusal 422 subjects: value_is_out_of_range, beyond 100 000 of the organization
 */
export async function updateSubjects(ctx: Context, { body }: { body: SubjectsUpdate }) {
  const sent = [...new Map(body.subjects.map((subject) => [subjectName(subject), subject])).values()];
  const mapped = sent.filter((subject): subject is MappedSubject => subject.external_subscription_id !== null);
  const removed = sent.filter(({ external_subscription_id }) => external_subscription_id === null);
  await lockSubjects(ctx);
  if (removed.length > 0) await deleteSubjects(ctx, removed);
  if (mapped.length > 0) await upsertSubjects(ctx, mapped);
  if (mapped.length > 0 && (await countSubjects(ctx)) > MOST_SUBJECTS)
    throw refuse.invalid({ subjects: ['value_is_out_of_range'] });
  return { subjects: mapped };
}

/**
 * Makes the metrics that count usage of models, those that are missing. Rule: ai-usage.md#setup.
 *
 * @throws Refusal 422 as for a billable metric
 */
export async function setUp(ctx: Context) {
  const settings = doorSettings(await readAiSettings(ctx));
  const metrics = [];
  for (const { code, field_name, name } of metricsOf(settings)) {
    const known = await findRow(ctx, billableMetrics, code);
    const { billable_metric } = known
      ? { billable_metric: { svc_id: known.id } }
      : await createBillableMetric(ctx, { body: { code, name, field_name, aggregation_type: 'sum_agg' } });
    metrics.push({ svc_id: billable_metric.svc_id, code, is_new: known === undefined });
  }
  return { setup: { billable_metrics: metrics } };
}

/** Calls, so that units are never 0 where an amount is; beside them tokens, where each part is an event. */
function metricsOf({ eventCode, emit }: DoorSettings) {
  const calls = { code: eventCode, name: 'Calls of models', field_name: 'calls' };
  const tokens = { code: `${eventCode}_tokens`, name: 'Tokens of models', field_name: 'tokens' };
  return emit === 'kinds' ? [calls, tokens] : [calls];
}
