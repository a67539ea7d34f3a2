import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { ExternalCustomerId } from '../../../platform/ids.ts';
import { type FieldErrors, refuse } from '../../../platform/refusal.ts';
import { parseBound } from '../../../platform/schema/instant-field.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import { shownSince } from '../../tenancy/retention/queries.ts';
import { cursorOf, placeOf } from './cursor.ts';
import { KINDS, type Looked, type TimelineRow } from './kinds.ts';
import { type CustomerTimeline, type CustomerTimelineQuery, TIMELINE_KINDS } from './schema.ts';

/**
 * What happened around a customer, newest first, of the kinds that the key may read. At most six statements, each of
 * at most `limit + 1` rows, merged in memory.
 *
 * @throws Refusal 404 customer; 422 from, to: invalid_date; cursor: value_is_invalid
 * Rule: console-reads.md#timeline.
 */
export async function showCustomerTimeline(
  ctx: Context,
  { external_id, query }: { external_id: ExternalCustomerId; query: CustomerTimelineQuery },
): Promise<CustomerTimeline> {
  const { limit } = query;
  const after = query.cursor === undefined ? undefined : placeOf(query.cursor);
  const bounds = readBounds(query);
  const [customer, logsSince] = await Promise.all([getCustomer(ctx, external_id), shownSince(ctx, 'activity_logs')]);
  const { db, organizationId } = ctx;
  const looked: Looked = {
    db,
    organizationId,
    customerId: customer.id,
    externalId: customer.external_id,
    ...bounds,
    logsSince,
    after,
    limit,
  };
  const kinds = TIMELINE_KINDS.filter(
    (kind) =>
      (query.kinds === undefined || query.kinds.includes(kind)) && ctx.holds?.(KINDS[kind].permission, 'read') === true,
  );
  const rows = (await Promise.all(kinds.map((kind) => KINDS[kind].rows(looked)))).flat().sort(newestFirst);
  const shown = rows.slice(0, limit);
  return {
    timeline: shown.map(({ at, id, resource_id, ...row }) => ({
      at: seconds(at),
      ...row,
      svc_id: id,
      svc_resource_id: resource_id,
    })),
    meta: { next_cursor: rows.length > limit ? cursorOf(shown.at(-1)!) : null },
  };
}

const newestFirst = (a: TimelineRow, b: TimelineRow): number =>
  Temporal.Instant.compare(b.at, a.at) ||
  TIMELINE_KINDS.indexOf(a.kind) - TIMELINE_KINDS.indexOf(b.kind) ||
  (a.id < b.id ? 1 : -1);

function readBounds(query: Pick<CustomerTimelineQuery, 'from' | 'to'>): Pick<Looked, 'from' | 'to'> {
  const errors: FieldErrors = {};
  const read = (name: 'from' | 'to') => {
    const given = query[name];
    const instant = given === undefined ? undefined : parseBound(given);
    if (given !== undefined && !instant) errors[name] = ['invalid_date'];
    return instant;
  };
  const bounds = { from: read('from'), to: read('to') };
  if (Object.keys(errors).length > 0) throw refuse.invalid(errors);
  return bounds;
}
