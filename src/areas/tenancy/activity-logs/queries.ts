import type { Temporal } from 'temporal-polyfill';
import { own } from '../../../engine/own.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalCustomerId, ExternalSubscriptionId, OrganizationId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { boundedPage } from '../../../platform/lists/bounded-page.ts';
import { countMatching } from '../../../platform/lists/count.ts';
import { type Counted, limitOf } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { ActivityLogsQuery } from './schema.ts';

export interface ActivityLogRow {
  id: string;
  organization_id: OrganizationId;
  activity_type: string;
  activity_source: 'api' | 'front' | 'system';
  activity_object: Record<string, unknown> | null;
  activity_object_changes: Record<string, unknown>;
  user_email: string | null;
  resource_id: string;
  resource_type: string;
  external_customer_id: ExternalCustomerId | null;
  external_subscription_id: ExternalSubscriptionId | null;
  logged_at: Temporal.Instant;
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  id, organization_id, activity_type, activity_source, activity_object, activity_object_changes, user_email,
    resource_id,
  resource_type, external_customer_id, external_subscription_id, logged_at, created_at`;

/** Record classes that have a longer name in the log. */
const LONG_NAMES: Readonly<Record<string, string>> = { Feature: 'Entitlement::Feature' };

/** @throws Refusal 404 activity_log, of another organization or no longer shown too */
export async function getActivityLog(
  { db, organizationId }: Scope,
  id: string,
  since: Temporal.Instant,
): Promise<ActivityLogRow> {
  const [row] = isUuid(id)
    ? await db<ActivityLogRow[]>`
        select ${columns(db)} from activity_logs
        where organization_id = ${organizationId} and id = ${id} and created_at >= ${since}`
    : [];
  if (!row) throw refuse.notFound('activity_log');
  return row;
}

/**
 * A page of the entries since an instant of real time, newest first, and how many there are.
 *
 * @throws Refusal 422 page: value_is_out_of_range, too deep in a list that goes on there
 */
export async function listActivityLogs(
  scope: Scope,
  query: ActivityLogsQuery,
  since: Temporal.Instant,
): Promise<{ rows: readonly ActivityLogRow[]; total: Counted }> {
  const { db } = scope;
  const { limit, offset } = limitOf(query);
  const matching = matches(scope, query, since);
  return boundedPage(query, {
    rows: () => db<ActivityLogRow[]>`
      select ${columns(db)} from activity_logs where ${matching}
      order by logged_at desc, id desc
      limit ${limit} offset ${offset}`,
    count: () => countMatching(db, db`activity_logs where ${matching}`),
  });
}

function matches({ db, organizationId }: Scope, query: ActivityLogsQuery, since: Temporal.Instant) {
  const types = query.resource_types?.map((name) => own(LONG_NAMES, name) ?? name);
  return db`
    organization_id = ${organizationId} and created_at >= ${since}
    ${query.from_date ? db`and logged_at >= ${query.from_date}` : db``}
    ${query.to_date ? db`and logged_at < ${query.to_date}` : db``}
    ${query.activity_types ? db`and activity_type = any (${query.activity_types})` : db``}
    ${query.activity_sources ? db`and activity_source = any (${query.activity_sources})` : db``}
    ${query.user_emails ? db`and user_email = any (${query.user_emails})` : db``}
    ${query.external_customer_id === undefined ? db`` : db`and external_customer_id = ${query.external_customer_id}`}
    ${
      query.external_subscription_id === undefined
        ? db``
        : db`and external_subscription_id = ${query.external_subscription_id}`
    }
    ${query.resource_ids ? db`and resource_id = any (${query.resource_ids.filter(isUuid)}::uuid[])` : db``}
    ${types ? db`and resource_type = any (${types})` : db``}`;
}
