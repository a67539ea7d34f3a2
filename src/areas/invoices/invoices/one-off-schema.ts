import { z } from 'zod';
import { CURRENCIES } from '../../../engine/money/currency.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import { anyValue, list } from '../../../platform/schema/bounded.ts';
import {
  boolean,
  decimalInput,
  INVALID,
  integer,
  OUT_OF_RANGE,
  oneOf,
  optionalText,
  text,
} from '../../../platform/schema/fields.ts';
import { INSTANT_MAX, LINE_MAX, PROSE_MAX, SCALAR_MAX } from '../../../platform/schema/sizes.ts';
import { textList } from '../../../platform/schema/typed-text.ts';
import { SectionChoice } from '../../customers/invoice-custom-sections/schema.ts';

const PURCHASE_ORDER_NUMBER_MAX = 255;
/** Longest reference of a buyer that receivers of electronic documents keep. */
const BUYER_REFERENCE_MAX = 100;
/** The largest number of units: above any quantity that is sold, and far below what the columns hold. */
const MOST_UNITS = '1e15';
const MAX_FEES = 1000;
/** Checked by the command. */
const INSTANT = { max: SCALAR_MAX, textMax: INSTANT_MAX };
const WORD = { max: SCALAR_MAX, textMax: LINE_MAX };

const Fee = z.object({
  add_on_code: text(),
  invoice_display_name: optionalText(),
  unit_amount_cents: integer({ min: 0 }).nullish(),
  units: decimalInput()
    .refine((units) => decimal(units).gte(0) && decimal(units).lt(MOST_UNITS), OUT_OF_RANGE)
    .nullish(),
  description: optionalText({ max: PROSE_MAX }),
  // Both or none, and in order: checked together, so that the refusal names them as `boundaries`.
  from_datetime: anyValue(INSTANT).optional(),
  to_datetime: anyValue(INSTANT).optional(),
  tax_codes: textList(),
});
export type OneOffFee = z.infer<typeof Fee>;

/**
 * Input of `POST /invoices`. What has an order of refusal of its own is checked by the command.
 * Rule: one-off-invoices.md.
 */
export const OneOffInvoiceCreate = z.object({
  external_customer_id: text(),
  billing_entity_code: optionalText(),
  currency: oneOf(CURRENCIES).nullish(),
  skip_psp: boolean().nullish(),
  purchase_order_number: optionalText({ max: PURCHASE_ORDER_NUMBER_MAX }),
  buyer_reference: optionalText({ max: BUYER_REFERENCE_MAX }),
  fees: list(Fee, { max: MAX_FEES, tooMany: OUT_OF_RANGE }).nullish(),
  payment_method: z
    .object({ payment_method_type: anyValue(WORD).optional(), payment_method_id: anyValue(WORD).optional() }, INVALID)
    .nullish(),
  invoice_custom_section: SectionChoice,
});
export type OneOffInvoiceCreate = z.infer<typeof OneOffInvoiceCreate>;
