import { z } from 'zod';
import { EXEMPTION_CODE } from '../../../engine/e-documents/rules/code-lists.ts';
import { EXEMPTIONS } from '../../../engine/e-documents/rules/long-code-lists.ts';
import { VAT_CATEGORIES } from '../../../engine/invoices/vat-breakdown.ts';
import { Decimal } from '../../../engine/money/decimal.ts';
import {
  boolean,
  cleanText,
  decimalInput,
  FORMAT,
  INVALID,
  OUT_OF_RANGE,
  oneOf,
  optionalText,
  TOO_LONG,
  text,
} from '../../../platform/schema/fields.ts';
import { PROSE_MAX } from '../../../platform/schema/sizes.ts';
import { clearable, resettable } from '../../../platform/schema/typed-text.ts';

/** Longest code: an index of the database holds it. */
const CODE_MAX = 255;
/** Longest reason why no tax is charged. */
const EXEMPTION_TEXT_MAX = 500;
// The greatest rate: far above any tax, and within what the column holds.
const RATE_MAX = new Decimal('1e18');

const blankToAbsent = (value: unknown): unknown =>
  value === null || (typeof value === 'string' && value.trim() === '') ? undefined : value;

// Only a number has a size.
const rate = z.preprocess(
  blankToAbsent,
  decimalInput().refine((percent) => new Decimal(percent).gte(0) && new Decimal(percent).lte(RATE_MAX), OUT_OF_RANGE),
);

const fields = {
  name: text(),
  code: text({ max: CODE_MAX }),
  rate,
  description: optionalText({ max: PROSE_MAX }),
  applied_to_organization: resettable(boolean(), false),
  vat_category: clearable(oneOf(VAT_CATEGORIES)),
  exemption_code: clearable(
    z
      .string(INVALID)
      .max(CODE_MAX, { error: TOO_LONG, abort: true })
      .regex(EXEMPTION_CODE, { error: FORMAT, abort: true })
      .refine((code) => EXEMPTIONS.has(code), INVALID),
  ),
  exemption_text: cleanText({ max: EXEMPTION_TEXT_MAX }),
  not_vat: resettable(boolean(), false),
};

/** Input of `POST /taxes`. Rule: taxes.md#resource. */
export const TaxCreate = z.object(fields);
export type TaxCreate = z.infer<typeof TaxCreate>;

/** Input of `PUT /taxes/{code}`: what is absent stays. */
export const TaxUpdate = z.object({
  ...fields,
  name: fields.name.optional(),
  code: fields.code.optional(),
  rate: rate.optional(),
});
export type TaxUpdate = z.infer<typeof TaxUpdate>;
