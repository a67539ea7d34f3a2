import { seconds } from '../../../platform/schema/view.ts';
import type { TaxRow } from '../taxes/queries.ts';
import { taxView } from '../taxes/view.ts';
import type { AddOnRow } from './queries.ts';
import type { AddOnView } from './schema.ts';

/** An add-on as the API shows it. */
export const addOnView = (addOn: AddOnRow, taxes: readonly TaxRow[]): AddOnView => ({
  svc_id: addOn.id,
  name: addOn.name,
  invoice_display_name: addOn.invoice_display_name,
  code: addOn.code,
  amount_cents: addOn.amount_cents,
  amount_currency: addOn.amount_currency,
  description: addOn.description,
  created_at: seconds(addOn.created_at),
  taxes: taxes.map(taxView),
});
