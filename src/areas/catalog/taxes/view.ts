import { seconds } from '../../../platform/schema/view.ts';
import type { TaxRow } from './queries.ts';
import type { TaxView } from './schema.ts';

/** A tax as the API shows it. The counters are always 0, kept for old clients (taxes.md#resource). */
export const taxView = (tax: TaxRow): TaxView => ({
  svc_id: tax.id,
  name: tax.name,
  code: tax.code,
  description: tax.description,
  rate: tax.rate.toNumber(),
  applied_to_organization: tax.applied_to_organization,
  applied_to_billing_entities_codes: tax.applied_to_billing_entities_codes,
  add_ons_count: 0,
  customers_count: 0,
  plans_count: 0,
  charges_count: 0,
  commitments_count: 0,
  created_at: seconds(tax.created_at),
});
