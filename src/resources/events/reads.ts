import type { Context } from '../../platform/context.ts';
import { booleanFilter } from '../../platform/lists/filters.ts';
import { pageMeta } from '../../platform/lists/pagination.ts';
import { Answer } from '../../platform/operation.ts';
import { countEvents, findLatestStart, getEvent, listEvents } from './queries.ts';
import type { EventListQuery } from './schema.ts';
import { eventText } from './view.ts';

/** @throws Refusal 404 event */
export async function showEvent(ctx: Context, { transaction_id }: { transaction_id: string }): Promise<Answer> {
  const event = await getEvent(ctx.db, ctx.organizationId, transaction_id);
  return new Answer(null, { json: `{"event":${eventText(event)}}` });
}

/** Events of the organization, newest timestamp first. Rule: usage-and-charges A.8. */
export async function showEvents(ctx: Context, { query }: { query: EventListQuery }): Promise<Answer> {
  const filters = { ...query };
  if (booleanFilter.parse(query.timestamp_from_started_at)) {
    const start = await findLatestStart(ctx.db, ctx.organizationId, query.external_subscription_id!);
    if (start) filters.timestamp_from = start;
  }
  const [rows, total] = await Promise.all([
    listEvents(ctx.db, ctx.organizationId, filters, query),
    countEvents(ctx.db, ctx.organizationId, filters),
  ]);
  const meta = JSON.stringify(pageMeta(query, total));
  return new Answer(null, { json: `{"events":[${rows.map(eventText).join(',')}],"meta":${meta}}` });
}
