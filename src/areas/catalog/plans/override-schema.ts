import { z } from 'zod';
import { CURRENCIES } from '../../../engine/money/currency.ts';
import { anyValue, list } from '../../../platform/schema/bounded.ts';
import { elementErrors } from '../../../platform/schema/element-errors.ts';
import { INVALID, integer, oneOf, optionalText, text } from '../../../platform/schema/fields.ts';
import { LINE_MAX, PROSE_MAX, SCALAR_MAX } from '../../../platform/schema/sizes.ts';
import { textList } from '../../../platform/schema/typed-text.ts';
import { CHARGES_MAX } from '../charges/most-charges.ts';
import { ChargeElement } from '../charges/schema.ts';
import { FixedChargeOverrideElement } from '../fixed-charges/schema.ts';
import { CommitmentInput } from '../minimum-commitments/schema.ts';
import { UsageThresholdsInput } from '../usage-thresholds/schema.ts';
import { Metadata } from './metadata.ts';
import { trialPeriod } from './schema.ts';

/** A field that an override cannot change: one word that must equal the plan's. */
const word = anyValue({ max: SCALAR_MAX, textMax: LINE_MAX });

/**
 * The changes that a subscription makes to its plan. Fields that cannot be overridden are refused unless they equal the
 * plan's.
 */
export const PlanOverrides = z
  .object(
    {
      name: text().optional(),
      invoice_display_name: optionalText(),
      description: optionalText({ max: PROSE_MAX }),
      amount_cents: integer({ min: 0 }).optional(),
      amount_currency: oneOf(CURRENCIES).optional(),
      trial_period: trialPeriod,
      tax_codes: textList(),
      metadata: Metadata.nullish(),
      minimum_commitment: CommitmentInput,
      usage_thresholds: UsageThresholdsInput.nullish(),
      charges: list(ChargeElement, { max: CHARGES_MAX }).nullish(),
      fixed_charges: list(FixedChargeOverrideElement, { max: CHARGES_MAX }).nullish(),
      code: word,
      interval: word,
      pay_in_advance: word,
      bill_charges_monthly: word,
      bill_fixed_charges_monthly: word,
    },
    INVALID,
  )
  .partial()
  .check(elementErrors('usage_thresholds', 'charges', 'fixed_charges'));
export type PlanOverrides = z.infer<typeof PlanOverrides>;
