import { z } from 'zod';
import { textFilter } from '../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../platform/lists/pagination.ts';
import { fromFilter } from '../../platform/lists/time-filters.ts';
import { parseInstant } from '../../platform/schema/instant-field.ts';
import { readEvents } from './requests.ts';

const EventInput = z.object({
  transaction_id: z.string(),
  external_subscription_id: z.string(),
  code: z.string(),
  timestamp: z.union([z.number(), z.string()]).nullish(),
  properties: z.any().optional(),
  precise_total_amount_cents: z.union([z.string(), z.number()]).nullish(),
});

/**
 * Bodies of the two writes, as the documentation shows them. The plain checks of `readEvents` judge them, on every path:
 * what does not fit the shape goes to them as it came. Out comes the list of checked events.
 */
export const EventBody = z
  .object({ event: EventInput })
  .catch(({ input }) => input as never)
  .transform((body) => readEvents('single', body));
export const EventsBody = z
  .object({ events: z.array(EventInput) })
  .catch(({ input }) => input as never)
  .transform((body) => readEvents('batch', body));

const EventView = z.object({
  svc_id: z.uuid(),
  transaction_id: z.string(),
  svc_customer_id: z.null(),
  code: z.string(),
  timestamp: z.iso.datetime(),
  precise_total_amount_cents: z.string().nullable(),
  properties: z.record(z.string(), z.any()),
  svc_subscription_id: z.null(),
  external_subscription_id: z.string(),
  created_at: z.iso.datetime(),
});
export const EventEnvelope = z.object({ event: EventView });
export const EventsEnvelope = z.object({ events: z.array(EventView) });
export const EventList = z.object({ events: z.array(EventView), meta: PageMeta });

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Upper bound, inclusive as shown: the instant BEFORE which the timestamp, cut to milliseconds, must lie. */
const timestampUntil = textFilter.transform((value, context) => {
  if (value === undefined) return undefined;
  const instant = parseInstant(value);
  if (instant)
    return DAY.test(value.trim())
      ? instant.add({ hours: 24 })
      : instant.round({ smallestUnit: 'millisecond', roundingMode: 'trunc' }).add({ milliseconds: 1 });
  context.addIssue({ code: 'custom', message: 'invalid_date' });
  return z.NEVER;
});

/** Filters of `GET /events`; how `timestamp_from_started_at` goes with others is checked by the read. */
export const EventListQuery = z.object({
  ...pageQuery,
  code: textFilter,
  external_subscription_id: textFilter,
  transaction_id: textFilter,
  timestamp_from: fromFilter,
  timestamp_to: timestampUntil,
  timestamp_from_started_at: textFilter,
});
export type EventListQuery = z.output<typeof EventListQuery>;
