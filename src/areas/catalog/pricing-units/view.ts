import { seconds } from '../../../platform/schema/view.ts';
import type { PricingUnitRow } from './queries.ts';
import type { PricingUnitView } from './schema.ts';

/** A pricing unit as the API shows it. Rule: other-routes.md#records. */
export const pricingUnitView = (unit: PricingUnitRow): PricingUnitView => ({
  svc_id: unit.id,
  code: unit.code,
  name: unit.name,
  short_name: unit.short_name,
  description: unit.description,
  created_at: seconds(unit.created_at),
  updated_at: seconds(unit.updated_at),
});
