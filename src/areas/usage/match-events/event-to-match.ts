import type { Db } from '../../../platform/db/connect.ts';
import { isoText } from '../../../platform/db/iso-text.ts';

/** Columns of an `EventToMatch`, of the event `e` and its live metric `m`. */
export const eventToMatch = (db: Db) => db`
  e.id, e.organization_id, e.external_subscription_id, e.code, ${isoText(db, db`e.timestamp`)} as timestamp,
  ${isoText(db, db`e.created_at`)} as created_at, m.id as metric_id, m.aggregation_type, m.recurring,
  e.properties ->> m.field_name as value`;

/** The live metric `m` of the event `e`, if there is one. */
export const joinLiveMetric = (db: Db) => db`
  left join billable_metrics m on m.organization_id = e.organization_id and m.code = e.code and m.deleted_at is null`;
