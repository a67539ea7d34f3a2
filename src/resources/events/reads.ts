import type { Context } from '../../platform/context.ts';
import { booleanFilter } from '../../platform/lists/filters.ts';
import { pageMeta } from '../../platform/lists/pagination.ts';
import { Answer } from '../../platform/operation.ts';
import { type FieldErrors, refuse } from '../../platform/refusal.ts';
import { INVALID } from '../../platform/schema/fields.ts';
import { countEvents, findLatestStart, getEvent, listEvents, listEventsById } from './queries.ts';
import type { EventListQuery } from './schema.ts';
import { eventText } from './view.ts';

/** @throws Refusal 404 event */
export async function showEvent(ctx: Context, { transaction_id }: { transaction_id: string }): Promise<Answer> {
  const event = await getEvent(ctx.db, ctx.organizationId, transaction_id);
  return new Answer(null, { json: `{"event":${eventText(event)}}` });
}

/**
 * Events of the organization, newest timestamp first. Rule: usage-and-charges A.8.
 *
 * @throws Refusal 422 timestamp_from_started_at: value_is_invalid, or a text of A.8 for what it needs and excludes
 */
export async function showEvents(ctx: Context, { query }: { query: EventListQuery }): Promise<Answer> {
  const filters = await fromStart(ctx, query);
  const [rows, total] = await Promise.all([
    listEvents(ctx.db, ctx.organizationId, filters, query),
    countEvents(ctx.db, ctx.organizationId, filters),
  ]);
  const meta = JSON.stringify(pageMeta(query, total));
  return new Answer(null, { json: `{"events":[${rows.map(eventText).join(',')}],"meta":${meta}}` });
}

/**
 * The filters of a list, the lower bound being the start of the most recent subscription where that is asked.
 *
 * @throws Refusal 422 timestamp_from_started_at and what does not go with it
 */
export async function fromStart(ctx: Context, query: EventListQuery): Promise<EventListQuery> {
  if (!isFromStart(query)) return query;
  const start = await findLatestStart(ctx.db, ctx.organizationId, query.external_subscription_id!);
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

/** JSON texts of events by id, in the order asked; those that are gone are left out. */
export async function readEventsAgain(ctx: Context, ids: readonly string[]): Promise<string[]> {
  const byId = new Map((await listEventsById(ctx.db, ctx.organizationId, ids)).map((event) => [event.id, event]));
  return ids.flatMap((id) => (byId.has(id) ? [eventText(byId.get(id)!)] : []));
}
