import { seconds } from '../../../platform/schema/view.ts';
import type { MethodRow } from './queries.ts';
import type { MethodView } from './schema.ts';

/** A payment method as the API shows it. Rule: payments.md#payment-methods. */
export const methodView = (row: MethodRow): MethodView => ({
  svc_id: row.id,
  is_default: row.is_default,
  payment_provider_code: row.provider_code,
  payment_provider_name: row.provider_name,
  payment_provider_type: row.provider_type,
  provider_method_id: row.provider_method_id,
  created_at: seconds(row.created_at),
});
