import { z } from 'zod';
import { CURRENCIES } from '../../../engine/money/currency.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import { textFilter } from '../../../platform/lists/filters.ts';
import { countedPageQuery, PageMeta } from '../../../platform/lists/pagination.ts';
import { list } from '../../../platform/schema/bounded.ts';
import { elementErrors } from '../../../platform/schema/element-errors.ts';
import {
  boolean,
  decimalInput,
  integer,
  OUT_OF_RANGE,
  oneOf,
  optionalText,
  text,
} from '../../../platform/schema/fields.ts';
import { PROSE_MAX } from '../../../platform/schema/sizes.ts';
import { textList } from '../../../platform/schema/typed-text.ts';
import { CHARGES_MAX } from '../charges/most-charges.ts';
import { ChargeCreate, ChargeElement, ChargeView } from '../charges/schema.ts';
import { PlanEntitlementEnvelope } from '../entitlements/schema.ts';
import { FixedChargeElement, FixedChargeView } from '../fixed-charges/schema.ts';
import { CommitmentInput, CommitmentView } from '../minimum-commitments/schema.ts';
import { TaxView } from '../taxes/view.ts';
import { UsagePoliciesInput, UsagePoliciesView } from '../usage-policies/schema.ts';
import { ApplicableUsageThreshold, UsageThresholdObject, UsageThresholdsInput } from '../usage-thresholds/schema.ts';
import { Metadata, metadataErrors } from './metadata.ts';

export const INTERVALS = ['weekly', 'monthly', 'quarterly', 'semiannual', 'yearly'] as const;

/** Longest code: an index of the database holds it. */
const CODE_MAX = 255;
/** How many days a trial may last: about a century. */
const MAX_TRIAL_DAYS = 36_525;

/** Days of trial. */
export const trialPeriod = decimalInput()
  .refine((days) => decimal(days).gte(0) && decimal(days).lte(MAX_TRIAL_DAYS), OUT_OF_RANGE)
  .nullish();

const fields = {
  name: text(),
  invoice_display_name: optionalText(),
  code: text({ max: CODE_MAX }),
  description: optionalText({ max: PROSE_MAX }),
  interval: oneOf(INTERVALS),
  pay_in_advance: boolean(),
  amount_cents: integer({ min: 0 }),
  amount_currency: oneOf(CURRENCIES),
  trial_period: trialPeriod,
  bill_charges_monthly: boolean().nullish(),
  bill_fixed_charges_monthly: boolean().nullish(),
  tax_codes: textList(),
  metadata: Metadata.nullish(),
  fixed_charges: list(FixedChargeElement, { max: CHARGES_MAX }).nullish(),
  usage_thresholds: UsageThresholdsInput.nullish(),
  minimum_commitment: CommitmentInput,
  usage_policies: UsagePoliciesInput,
  cascade_updates: boolean().nullish(),
};

// Errors inside a charge and inside the metadata stand under the field that the rules name.

/** Input of `POST /plans`. Rule: plans.md#fields. */
export const PlanCreate = z
  .object({ ...fields, charges: list(ChargeCreate, { max: CHARGES_MAX }).nullish() })
  .check(elementErrors('usage_thresholds'))
  .check(elementErrors('charges', 'fixed_charges'))
  .check(metadataErrors());
export type PlanCreate = z.infer<typeof PlanCreate>;

/** Input of `PUT /plans/{code}`: what is absent stays; `charges` is the whole list. */
export const PlanUpdate = z
  .object({ ...z.object(fields).partial().shape, charges: list(ChargeElement, { max: CHARGES_MAX }).nullish() })
  .check(elementErrors('usage_thresholds'))
  .check(elementErrors('charges', 'fixed_charges'))
  .check(metadataErrors());
export type PlanUpdate = z.infer<typeof PlanUpdate>;

export const PlanView = z.object({
  svc_id: z.uuid(),
  name: z.string(),
  invoice_display_name: z.string().optional(),
  created_at: z.iso.datetime(),
  code: z.string(),
  interval: z.enum(INTERVALS),
  description: z.string().optional(),
  amount_cents: z.int(),
  amount_currency: z.string(),
  trial_period: z.number().optional(),
  pay_in_advance: z.boolean(),
  bill_charges_monthly: z.boolean().nullable(),
  bill_fixed_charges_monthly: z.boolean().nullable(),
  parent_id: z.uuid().nullable(),
  pending_deletion: z.boolean(),
  customers_count: z.literal(0),
  active_subscriptions_count: z.literal(0),
  draft_invoices_count: z.literal(0),
  charges: z.array(ChargeView),
  fixed_charges: z.array(FixedChargeView),
  taxes: z.array(TaxView),
  entitlements: z.array(PlanEntitlementEnvelope),
  usage_thresholds: z.array(UsageThresholdObject),
  applicable_usage_thresholds: z.array(ApplicableUsageThreshold),
  minimum_commitment: CommitmentView.optional(),
  metadata: z.record(z.string(), z.string().nullable()).optional(),
  usage_policies: UsagePoliciesView.optional(),
});
export type PlanView = z.infer<typeof PlanView>;

export const PlanEnvelope = z.object({ plan: PlanView });
export const PlanList = z.object({ plans: z.array(PlanView), meta: PageMeta });
export const PlanListQuery = z.object({ ...countedPageQuery, search_term: textFilter });
export type PlanListQuery = z.infer<typeof PlanListQuery>;
