import { z } from 'zod';
import { textFilter } from '../../../platform/lists/filters.ts';
import { countedPageQuery, PageMeta } from '../../../platform/lists/pagination.ts';
import { fromFilter, untilMillisecondFilter } from '../../../platform/lists/time-filters.ts';
import { anyValue, list } from '../../../platform/schema/bounded.ts';
import { ErrorPlaces } from '../../../platform/schema/error-places.ts';
import { INSTANT_MAX, KEY_MAX_BYTES } from '../../../platform/schema/sizes.ts';

/** How many properties an event may have; the lane counts them before it parses (platform/json/json-shape.ts). */
const PROPERTIES_MAX = 1000;
/** How many events a tolerant batch may hold, unless the operator sets another number. */
const EVENTS_MAX = 1000;

const key = z.string().max(KEY_MAX_BYTES);
const EventInput = z.object({
  transaction_id: key,
  external_subscription_id: key,
  code: key,
  timestamp: z.union([z.number(), key]).nullish(),
  properties: anyValue({ max: PROPERTIES_MAX }).optional(),
  precise_total_amount_cents: z.union([key, z.number()]).nullish(),
});

/** Fields of an event as it is sent. */
export const EVENT_FIELDS: ReadonlySet<string> = new Set(Object.keys(EventInput.shape));

/** Bodies of the writes, as the documentation shows them; the events lane reads them with plain checks. */
export const EventBody = z.object({ event: EventInput });
export const EventsBody = z.object({ events: list(EventInput, { max: EVENTS_MAX }) });

/** An event as a CloudEvent 1.0 in its JSON form; other names are extensions (cloud-events.md#attributes). */
export const CloudEventBody = z.looseObject({
  specversion: z.literal('1.0').describe('Version of the standard'),
  id: z.string().describe('Unique within the source; both together are the transaction id'),
  source: z.string().describe('What made the event, without blanks'),
  type: key.describe('Code of the billable metric'),
  subject: key.nullish().describe('External id of the subscription'),
  time: z.string().max(INSTANT_MAX).nullish().describe('When it happened, RFC 3339 with zone; default now'),
  datacontenttype: z.string().nullish().describe('A JSON type; default `application/json`'),
  data: anyValue({ max: PROPERTIES_MAX }).nullish().describe('Properties by name'),
});
export const CloudEventsBody = list(CloudEventBody, { max: EVENTS_MAX });

/** `explain`: show how billing counts the events (event-verdicts.md#verdict). */
export const CreateEventQuery = z.object({ explain: textFilter });
/** `mode=tolerant`: each event is stored or refused alone (bulk-events.md#tolerant-batch). */
export const CreateEventsQuery = z.object({ explain: textFilter, mode: textFilter });

/** An event as the API shows it. */
export const EventView = z.object({
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

export const ExplanationView = z.object({
  outcome: z.enum(['counted', 'not_counted', 'replayed']),
  reasons: z.array(z.string()),
  warnings: z.array(z.string()),
  billable_metric_code: z.string().nullable(),
  svc_subscription_id: z.uuid().nullable(),
  external_customer_id: z.string().nullable(),
  plan_code: z.string().nullable(),
  period: z.object({ from: z.iso.datetime(), to: z.iso.datetime(), invoiced: z.boolean() }).nullable(),
  charges: z.array(
    z.object({
      svc_charge_id: z.uuid(),
      charge_code: z.string(),
      charge_model: z.string(),
      pay_in_advance: z.boolean(),
      svc_charge_filter_id: z.uuid().nullable(),
      filter_display_name: z.string().nullable(),
      grouped_by: z.record(z.string(), z.string().nullable()),
      value: z.string(),
    }),
  ),
});
/** Answer to a stored event; `verdict` only on request. */
export const CreatedEvent = z.object({ event: EventView, verdict: ExplanationView.optional() });
/** Answer to stored events; `results` and `counts` only for a tolerant batch. */
export const CreatedEvents = z.object({
  events: z.array(EventView),
  verdicts: z.array(ExplanationView).optional(),
  results: z
    .array(
      z.object({
        index: z.int(),
        transaction_id: z.string().nullable(),
        status: z.enum(['stored', 'replayed', 'rejected']),
        error_details: z.record(z.string(), z.any()).optional(),
        error_places: ErrorPlaces.optional(),
      }),
    )
    .optional(),
  counts: z.object({ stored: z.int(), replayed: z.int(), rejected: z.int() }).optional(),
});

/** Results of the lines of a bulk request; `not_counted` by reason, only on request. */
export const BulkEnvelope = z.object({
  bulk: z.object({
    lines: z.int(),
    stored: z.int(),
    replayed: z.int(),
    rejected: z.int(),
    errors_truncated: z.boolean(),
    errors: z.array(
      z.object({
        line: z.int(),
        transaction_id: z.string().nullable(),
        error_details: z.record(z.string(), z.any()),
        error_places: ErrorPlaces.optional(),
      }),
    ),
    not_counted: z.record(z.string(), z.int()).optional(),
  }),
});
/** `next_cursor` continues after the last event of the page when sent as `after`; absent on the last page. */
export const EventPageMeta = PageMeta.extend({ next_cursor: z.string().optional() });
export const EventList = z.object({ events: z.array(EventView), meta: EventPageMeta });

/** Filters of `GET /events`; the read checks which ones `timestamp_from_started_at` excludes. */
export const EventListQuery = z.object({
  ...countedPageQuery,
  code: textFilter,
  external_subscription_id: textFilter,
  transaction_id: textFilter,
  timestamp_from: fromFilter,
  timestamp_to: untilMillisecondFilter,
  timestamp_from_started_at: textFilter.meta({ type: 'boolean' }),
  after: textFilter,
});
export type EventListQuery = z.output<typeof EventListQuery>;
