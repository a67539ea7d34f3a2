import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import { actionsOf, type DriftRow } from './queries.ts';
import type { DriftView } from './schema.ts';

export const driftView = (row: DriftRow): DriftView => ({
  svc_id: row.id,
  payment_provider_code: row.provider_code,
  kind: row.kind,
  severity: row.severity,
  status: row.status,
  provider_object_id: row.provider_object_id,
  ours: row.ours,
  theirs: row.theirs,
  actions: [...actionsOf(row)],
  svc_payment_id: row.payment_id,
  external_customer_id: row.external_customer_id,
  first_seen_at: seconds(row.first_seen_at),
  last_seen_at: seconds(row.last_seen_at),
  closed_at: secondsOrNull(row.closed_at),
  resolution: row.resolution as DriftView['resolution'],
});
