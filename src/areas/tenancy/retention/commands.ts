import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Config } from '../../../platform/config.ts';
import type { Context } from '../../../platform/context.ts';
import { changedKeys } from '../../../platform/records/changes.ts';
import { refuse } from '../../../platform/refusal.ts';
import { lockOrganization } from '../organizations/queries.ts';
import { type ChosenRetention, daysOf, readRetention, upsertRules } from './queries.ts';
import { classOf, RETENTION_CLASS_NAMES } from './retention-classes.ts';
import type { RetentionUpdate, RetentionView } from './schema.ts';

const UNSUPPORTED = 'unsupported_value';

/** How long the caller's organization keeps rows, by class. Rule: retention.md. */
export async function showRetention(ctx: Context) {
  return { retention: retentionView(await readRetention(ctx), ctx.config) };
}

/**
 * Sets how long rows are kept, for the classes sent. The job `retention` deletes by it, in real time.
 *
 * @throws Refusal 422 of a class: value_is_out_of_range; unsupported_value, for a class whose rows no job deletes yet
 */
export async function updateRetention(ctx: Context, { body }: { body: RetentionUpdate }) {
  await lockOrganization(ctx);
  const before = retentionView(await readRetention(ctx), ctx.config);
  const sent = RETENTION_CLASS_NAMES.filter((name) => body[name] !== undefined);
  const wrong = sent.filter((name) => classOf(name).isFixed && body[name] !== before[name]);
  if (wrong.length > 0) throw refuse.invalid(Object.fromEntries(wrong.map((name) => [name, [UNSUPPORTED]])));
  const rules = sent
    .filter((name) => !classOf(name).isFixed)
    .map((name) => ({ class: name, days: body[name] as number }));
  await upsertRules(ctx, rules, realNow());
  const after = retentionView(await readRetention(ctx), ctx.config);
  ctx.record({
    activity: {
      type: 'retention.updated',
      resourceType: 'Organization',
      resourceId: ctx.organizationId,
      object: after,
      changes: changedKeys(before, after),
    },
  });
  return { retention: after };
}

const retentionView = (chosen: ChosenRetention, config: Config): RetentionView =>
  Object.fromEntries(RETENTION_CLASS_NAMES.map((name) => [name, daysOf(chosen, name, config)])) as RetentionView;
