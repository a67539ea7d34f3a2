import { z } from 'zod';
import { listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { fromFilter, untilMillisecondFilter } from '../../../platform/lists/time-filters.ts';
import { optionalText } from '../../../platform/schema/fields.ts';
import { EventView } from '../events/schema.ts';
import { UNMATCHED_REASONS } from '../match-events/match-event.ts';

const Reason = z.enum(UNMATCHED_REASONS);

/** Filters of `GET /events/unmatched`; `from` and `to` are of the event's timestamp. */
export const UnmatchedListQuery = z.object({
  ...pageQuery,
  reasons: listFilter,
  code: textFilter,
  external_subscription_id: textFilter,
  statuses: listFilter,
  from: fromFilter,
  to: untilMillisecondFilter,
});
export type UnmatchedListQuery = z.output<typeof UnmatchedListQuery>;

export const UnmatchedList = z.object({
  unmatched_events: z.array(
    z.object({
      event: EventView,
      reason: Reason,
      status: z.enum(['open', 'healed', 'ignored']),
      first_seen_at: z.iso.datetime(),
      healed_at: z.iso.datetime().nullable(),
    }),
  ),
  meta: PageMeta,
});

export const UnmatchedSummary = z.object({
  unmatched_summary: z.array(
    z.object({
      reason: Reason,
      code: z.string(),
      count: z.int(),
      first_seen_at: z.iso.datetime(),
      last_seen_at: z.iso.datetime(),
      sample_transaction_ids: z.array(z.string()),
    }),
  ),
});

/** Open events that are matched again; without code and external id, all of them. */
export const HealCreate = z.object({
  code: optionalText(),
  external_subscription_id: optionalText(),
  bill_in_advance: z.literal(false, 'unsupported_value').nullish(),
});
export type HealCreate = z.output<typeof HealCreate>;

export const HealEnvelope = z.object({
  heal: z.object({
    svc_id: z.uuid(),
    status: z.enum(['pending', 'running', 'succeeded', 'failed', 'canceled']),
    progress: z.object({ done: z.int(), total: z.int().nullable(), percent: z.int() }),
    result: z.object({ examined: z.int(), healed: z.int(), still_open: z.int(), fees_created: z.int() }).nullable(),
    error: z.record(z.string(), z.any()).nullable(),
    created_at: z.iso.datetime(),
    started_at: z.iso.datetime().nullable(),
    finished_at: z.iso.datetime().nullable(),
  }),
});
