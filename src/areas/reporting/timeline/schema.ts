import { z } from 'zod';
import { numberFilter, textFilter, wordsFilter } from '../../../platform/lists/filters.ts';

/** In the order in which rows of one instant stand. */
export const TIMELINE_KINDS = ['activity', 'payment', 'usage_day', 'webhook'] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

const LIMIT_MAX = 200;
const LIMIT_DEFAULT = 50;

export const CustomerTimelineQuery = z.object({
  kinds: wordsFilter(TIMELINE_KINDS),
  from: textFilter,
  to: textFilter,
  cursor: textFilter,
  limit: numberFilter({ min: 1, max: LIMIT_MAX, usual: LIMIT_DEFAULT }),
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
