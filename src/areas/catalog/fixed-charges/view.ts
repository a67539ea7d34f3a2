import type { Decimal } from '../../../engine/money/decimal.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { taxView } from '../taxes/view.ts';
import type { FixedChargeView } from './schema.ts';
import type { FixedChargeShown } from './show-fixed-charges.ts';

/**
 * A fixed charge as the API shows it. Without a name of its own it shows its add-on's, since the contract has no null
 * here.
 *
 * @param units of one subscription, where they are asked for
 */
export const fixedChargeView = ({ fixedCharge, taxes }: FixedChargeShown, units?: Decimal): FixedChargeView => ({
  svc_id: fixedCharge.id,
  svc_add_on_id: fixedCharge.add_on_id,
  invoice_display_name: fixedCharge.invoice_display_name ?? fixedCharge.add_on_name,
  add_on_code: fixedCharge.add_on_code,
  created_at: seconds(fixedCharge.created_at),
  code: fixedCharge.code,
  charge_model: fixedCharge.charge_model,
  pay_in_advance: fixedCharge.pay_in_advance,
  prorated: fixedCharge.prorated,
  properties: fixedCharge.properties,
  units: (units ?? fixedCharge.units).toNumber(),
  svc_parent_id: fixedCharge.parent_id,
  taxes: taxes.map(taxView),
});
