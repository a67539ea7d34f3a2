import { z } from 'zod';
import { Decimal } from '../../../engine/money/decimal.ts';
import { boolean, decimalInput, OUT_OF_RANGE, optionalText, text } from '../../../platform/schema/fields.ts';
import { PROSE_MAX } from '../../../platform/schema/sizes.ts';
import { resettable } from '../../../platform/schema/typed-text.ts';

/** Longest code: an index of the database holds it. */
const CODE_MAX = 255;
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
