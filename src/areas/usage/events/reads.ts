import type { z } from 'zod';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { EventId } from '../../../platform/ids.ts';
import { boundedPage } from '../../../platform/lists/bounded-page.ts';
import { booleanFilter } from '../../../platform/lists/filters.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { Answer } from '../../../platform/operation.ts';
import { type FieldErrors, refuse } from '../../../platform/refusal.ts';
import { INVALID } from '../../../platform/schema/fields.ts';
import { cursorOf, placeOf } from './cursor.ts';
import { countEvents, type EventPage, findLatestStart, getEvent, listEvents, listEventsById } from './queries.ts';
import type { EventListQuery, EventPageMeta } from './schema.ts';
import { eventText, type ShownEvent } from './view.ts';

/** @throws Refusal 404 event */
export async function showEvent(ctx: Context, { transaction_id }: { transaction_id: string }): Promise<Answer> {
  const event = await getEvent(ctx, transaction_id);
  return new Answer(null, { json: `{"event":${eventText(event)}}` });
}

/**
 * Events of the organization, newest timestamp first. Rule: events.md#lists.
 *
 * @throws Refusal 422 as `readEventPage`
 */
export async function showEvents(ctx: Context, { query }: { query: EventListQuery }): Promise<Answer> {
  const { rows, meta } = await readEventPage(ctx, query, listEvents);
  return new Answer(null, { json: `{"events":[${rows.map(eventText).join(',')}],"meta":${JSON.stringify(meta)}}` });
}

/**
 * A page of events with its `meta`, by `page` or, to any depth and with the same filters, after the `next_cursor` of
 * another page. At most six statements, each of a bounded number of events.
 *
 * @throws Refusal 422 page: value_is_out_of_range, too deep in a list that goes on there
 * @throws Refusal 422 code: value_is_mandatory, for a subscription with events of very many codes
 * @throws Refusal 422 after: value_is_invalid
 * @throws Refusal 422 timestamp_from_started_at: value_is_invalid, or a text of events.md#lists for what it needs and
 * excludes
 */
export async function readEventPage<Row extends ShownEvent>(
  ctx: Context,
  query: EventListQuery,
  list: (scope: Scope, filters: EventListQuery, page: EventPage) => Promise<Row[]>,
): Promise<{ rows: readonly Row[]; meta: z.output<typeof EventPageMeta> }> {
  const after = query.after === undefined ? null : placeOf(query.after);
  const filters = await fromStart(ctx, query);
  const { rows, total } = await boundedPage(after === null ? query : { ...query, page: 1 }, {
    rows: () => list(ctx, filters, { ...query, after }),
    count: () => countEvents(ctx, filters),
  });
  const last = rows.length === query.per_page ? rows.at(-1) : undefined;
  const meta = pageMeta(query, total);
  const isLong = 'isEstimated' in total && total.isEstimated;
  const isMore =
    last !== undefined && (meta.next_page !== null || isLong || (after !== null && !('isUncounted' in total)));
  return { rows, meta: isMore ? { ...meta, next_cursor: cursorOf(last) } : meta };
}

/**
 * The filters of a list, with the start of the most recent subscription as lower bound, if requested.
 *
 * @throws Refusal 422 timestamp_from_started_at and filters that exclude it
 */
async function fromStart(ctx: Context, query: EventListQuery): Promise<EventListQuery> {
  if (!isFromStart(query)) return query;
  const start = await findLatestStart(ctx, query.external_subscription_id!);
  return start ? { ...query, timestamp_from: start } : query;
}

/** Whether the lower bound is the start of the most recent subscription. */
function isFromStart(query: EventListQuery): boolean {
  if (query.timestamp_from_started_at === undefined) return false;
  const isAsked = booleanFilter.parse(query.timestamp_from_started_at);
  if (isAsked === undefined) throw refuse.invalid({ timestamp_from_started_at: [INVALID] });
  if (!isAsked) return false;
  const errors: FieldErrors = {};
  if (query.external_subscription_id === undefined)
    errors.external_subscription_id = ['required with timestamp_from_started_at'];
  if (query.timestamp_from !== undefined) errors.timestamp_from = ['cannot be used with timestamp_from_started_at'];
  if (Object.keys(errors).length > 0) throw refuse.invalid(errors);
  return true;
}

/** JSON texts of events by id, in the requested order; missing ones are left out. */
export async function readEventsAgain(ctx: Context, ids: readonly EventId[]): Promise<string[]> {
  const byId = new Map((await listEventsById(ctx, ids)).map((event) => [event.id, event]));
  return ids.flatMap((id) => (byId.has(id) ? [eventText(byId.get(id)!)] : []));
}
