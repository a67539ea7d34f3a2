import { z } from 'zod';
import { CURRENCIES } from '../../engine/money/currency.ts';
import { elementErrors } from '../../platform/schema/element-errors.ts';
import { INVALID, integer, oneOf, optionalText, text } from '../../platform/schema/fields.ts';
import { textList } from '../../platform/schema/typed-text.ts';
import { ChargeElement } from '../charges/schema.ts';
import { FixedChargeOverrideElement } from '../fixed-charges/schema.ts';
import { CommitmentInput } from '../minimum-commitments/schema.ts';
import { UsageThresholdsInput } from '../usage-thresholds/schema.ts';
import { Metadata } from './metadata.ts';
import { trialPeriod } from './schema.ts';

/** What a subscription changes of its plan; fields that no override has are refused unless they say what the plan does. */
export const PlanOverrides = z
  .object(
    {
      name: text().optional(),
      invoice_display_name: optionalText(),
      description: optionalText(),
      amount_cents: integer({ min: 0 }).optional(),
      amount_currency: oneOf(CURRENCIES).optional(),
      trial_period: trialPeriod,
      tax_codes: textList(),
      metadata: Metadata.nullish(),
      minimum_commitment: CommitmentInput,
      usage_thresholds: UsageThresholdsInput.nullish(),
      charges: z.array(ChargeElement, INVALID).nullish(),
      fixed_charges: z.array(FixedChargeOverrideElement, INVALID).nullish(),
      code: z.unknown(),
      interval: z.unknown(),
      pay_in_advance: z.unknown(),
      bill_charges_monthly: z.unknown(),
      bill_fixed_charges_monthly: z.unknown(),
    },
    INVALID,
  )
  .partial()
  .check(elementErrors('usage_thresholds', 'charges', 'fixed_charges'));
export type PlanOverrides = z.infer<typeof PlanOverrides>;
