import { z } from 'zod';
import { textFilter, wordsFilter } from '../../../platform/lists/filters.ts';
import { OUT_OF_RANGE } from '../../../platform/schema/fields.ts';

/** In the order in which rows of one instant stand. */
export const TIMELINE_KINDS = ['activity', 'payment', 'usage_day', 'webhook'] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

const LIMIT_MAX = 200;
const LIMIT_DEFAULT = '50';

export const CustomerTimelineQuery = z.object({
  kinds: wordsFilter(TIMELINE_KINDS),
  from: textFilter,
  to: textFilter,
  cursor: textFilter,
  limit: textFilter
    .transform((value, context) => {
      const text = (value ?? LIMIT_DEFAULT).trim();
      const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
      if (limit >= 1 && limit <= LIMIT_MAX) return limit;
      context.addIssue({ code: 'custom', message: OUT_OF_RANGE });
      return z.NEVER;
    })
    .meta({ type: 'integer', minimum: 1, maximum: LIMIT_MAX }),
});
export type CustomerTimelineQuery = z.output<typeof CustomerTimelineQuery>;

const TextOrNull = z.string().nullable();

const Entry = z.object({
  at: z.iso.datetime(),
  kind: z.enum(TIMELINE_KINDS),
  name: z.string(),
  title: TextOrNull,
  svc_id: z.string(),
  resource_type: TextOrNull,
  svc_resource_id: TextOrNull,
  amount_cents: z.int().nullable(),
  currency: TextOrNull,
  status: TextOrNull,
  path: TextOrNull,
});
export type TimelineEntry = z.infer<typeof Entry>;
export const CustomerTimeline = z.object({
  timeline: z.array(Entry),
  meta: z.object({ next_cursor: TextOrNull }),
});
export type CustomerTimeline = z.infer<typeof CustomerTimeline>;
