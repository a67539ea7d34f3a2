import { seconds } from '../../../platform/schema/view.ts';
import type { SecurityLogRow } from './queries.ts';
import type { SecurityLogView } from './schema.ts';

export const securityLogView = (log: SecurityLogRow): SecurityLogView => ({
  log_id: log.id,
  log_type: log.log_type,
  log_event: log.log_event,
  user_email: log.user_email,
  logged_at: seconds(log.logged_at),
  created_at: seconds(log.created_at),
  resources: log.resources,
  device_info: log.device_info,
});
