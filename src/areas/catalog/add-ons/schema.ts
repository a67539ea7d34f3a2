import { z } from 'zod';
import { CURRENCIES } from '../../../engine/money/currency.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { integer, oneOf, optionalText, text } from '../../../platform/schema/fields.ts';
import { PROSE_MAX } from '../../../platform/schema/sizes.ts';
import { textList } from '../../../platform/schema/typed-text.ts';
import { TaxView } from '../taxes/schema.ts';

/** Longest code: an index of the database holds it. */
const CODE_MAX = 255;

const fields = {
  name: text(),
  invoice_display_name: optionalText(),
  code: text({ max: CODE_MAX }),
  amount_cents: integer({ min: 1 }),
  amount_currency: oneOf(CURRENCIES),
  description: optionalText({ max: PROSE_MAX }),
  tax_codes: textList(),
};

/** Input of `POST /add_ons`. Rule: one-off-invoices.md. */
export const AddOnCreate = z.object(fields);
export type AddOnCreate = z.infer<typeof AddOnCreate>;

/** Input of `PUT /add_ons/{code}`: what is absent stays. */
export const AddOnUpdate = z.object(fields).partial();
export type AddOnUpdate = z.infer<typeof AddOnUpdate>;

export const AddOnView = z.object({
  svc_id: z.uuid(),
  name: z.string(),
  invoice_display_name: z.string().nullable(),
  code: z.string(),
  amount_cents: z.int(),
  amount_currency: z.string(),
  description: z.string().nullable(),
  created_at: z.iso.datetime(),
  taxes: z.array(TaxView),
});
export type AddOnView = z.infer<typeof AddOnView>;

export const AddOnEnvelope = z.object({ add_on: AddOnView });
export const AddOnList = z.object({ add_ons: z.array(AddOnView), meta: PageMeta });
export const AddOnListQuery = z.object(pageQuery);
