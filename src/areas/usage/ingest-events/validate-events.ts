import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { selected } from '../../../platform/db/keyset.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import { findNextCheck, listFaults, listUnchecked, markChecked } from './unchecked-events.ts';

const hourOf = (at: Temporal.Instant): Temporal.Instant => at.round({ smallestUnit: 'hour', roundingMode: 'floor' });

/**
 * Announces events of the full hours since the last check that no metric counts as sent: webhook `events.errors`, once
 * an organization. Rules: periodic-jobs.md#validate-events, events.md#after-storing.
 */
export const validateEvents = periodicJob({
  name: 'validate-events',
  item: z.object({ from: z.iso.datetime(), until: z.iso.datetime() }),
  async select(sql, at, reach, page) {
    const until = hourOf(at);
    return selected(await listUnchecked(sql, until, reach, page), page, ({ organization_id, sandbox, from }) => ({
      organization_id,
      sandbox,
      item: { from: from.toString(), until: until.toString() },
      key: `validate-${organization_id}-${until.epochMilliseconds}`,
    }));
  },
  async work(ctx, { from, until }) {
    const end = Temporal.Instant.from(until);
    const marked = await markChecked(ctx, end);
    if (!marked) return;
    const range = { from: Temporal.Instant.from(from), until: end, firstOpenId: marked.first_open_event_id };
    const faults = await listFaults(ctx, range);
    if (Object.values(faults).every((ids) => ids.length === 0)) return;
    // No event can miss a group key any longer, but the contract still requires the list.
    const object = { ...faults, missing_group_key: [] };
    ctx.record({ webhook: { type: 'events.errors', objectType: 'events_errors', objectId: null, object } });
  },
  nextDueAt: findNextCheck,
});
