import { z } from 'zod';
import { CURRENCIES } from '../../../engine/money/currency.ts';
import { integer, oneOf, optionalText, text } from '../../../platform/schema/fields.ts';
import { PROSE_MAX } from '../../../platform/schema/sizes.ts';
import { textList } from '../../../platform/schema/typed-text.ts';
import { unitCode } from '../unit-code.ts';

/** Longest code: the index on codes must be able to hold it. */
const CODE_MAX = 255;

const fields = {
  name: text(),
  invoice_display_name: optionalText(),
  code: text({ max: CODE_MAX }),
  amount_cents: integer({ min: 1 }),
  amount_currency: oneOf(CURRENCIES),
  description: optionalText({ max: PROSE_MAX }),
  unit_code: unitCode(),
  tax_codes: textList(),
};

/** Input of `POST /add_ons`. Rule: one-off-invoices.md. */
export const AddOnCreate = z.object(fields);
export type AddOnCreate = z.infer<typeof AddOnCreate>;

/** Input of `PUT /add_ons/{code}`: what is absent stays. */
export const AddOnUpdate = z.object(fields).partial();
export type AddOnUpdate = z.infer<typeof AddOnUpdate>;
