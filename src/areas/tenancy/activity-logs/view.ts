import { seconds } from '../../../platform/schema/view.ts';
import type { ActivityLogRow } from './queries.ts';
import type { ActivityLogView } from './schema.ts';

export const activityLogView = (log: ActivityLogRow): ActivityLogView => ({
  activity_id: log.id,
  activity_type: log.activity_type,
  activity_source: log.activity_source,
  activity_object: log.activity_object,
  activity_object_changes: log.activity_object_changes,
  user_email: log.user_email,
  resource_id: log.resource_id,
  resource_type: log.resource_type,
  external_customer_id: log.external_customer_id,
  external_subscription_id: log.external_subscription_id,
  organization_id: log.organization_id,
  logged_at: seconds(log.logged_at),
  created_at: seconds(log.created_at),
});
