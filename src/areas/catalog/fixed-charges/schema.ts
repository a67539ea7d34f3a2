import { z } from 'zod';
import { decimal } from '../../../engine/money/decimal.ts';
import { FIXED_CHARGE_MODELS } from '../../../engine/pricing/fixed-charge-rules.ts';
import { SUBSCRIPTION_STATUSES } from '../../../engine/subscriptions/subscription-states.ts';
import { textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { boolean, decimalInput, OUT_OF_RANGE, oneOf, optionalText, text } from '../../../platform/schema/fields.ts';
import { renameErrors } from '../../../platform/schema/flat-errors.ts';
import { resettable, textList } from '../../../platform/schema/typed-text.ts';
import { Properties, ShownProperties } from '../charges/schema.ts';
import { TaxView } from '../taxes/view.ts';

/** Longest code: an index of the database holds it, and a generated one is longer than its add-on's. */
const CODE_MAX = 300;
/** The column holds 20 digits before the point. */
const MOST_UNITS = '1e20';

const units = resettable(
  decimalInput().refine((value) => decimal(value).gte(0) && decimal(value).lt(MOST_UNITS), OUT_OF_RANGE),
  '0',
);

const ownErrors = <Output>() => renameErrors<Output>((path) => path.slice(0, 1));

const overridable = {
  invoice_display_name: optionalText(),
  units,
  apply_units_immediately: boolean().nullish(),
  properties: Properties.nullish(),
  tax_codes: textList(),
};

const fields = {
  ...overridable,
  add_on_id: text().nullish(),
  add_on_code: text().nullish(),
  code: text({ max: CODE_MAX }).nullish(),
  charge_model: oneOf(FIXED_CHARGE_MODELS).optional(),
  pay_in_advance: resettable(boolean(), false),
  prorated: resettable(boolean(), false),
  cascade_updates: boolean().nullish(),
};

/** Input of a fixed charge, new or changed: what is absent stays. Rule: fixed-charges.md#fields. */
export const FixedChargeInput = z.object(fields).check(ownErrors());

/** An element of a plan's `fixed_charges`: with the id of a fixed charge it changes it, without it makes one. */
export const FixedChargeElement = z.object({ id: text().nullish(), ...fields }).check(ownErrors());
export type FixedChargeElement = z.infer<typeof FixedChargeElement>;

/** Input of an override for one subscription. Rule: fixed-charges.md#override. */
export const FixedChargeOverride = z
  .object({ ...overridable, charge_model: oneOf(FIXED_CHARGE_MODELS).optional() })
  .check(ownErrors());
export type FixedChargeOverride = z.infer<typeof FixedChargeOverride>;

/** An element of `plan_overrides.fixed_charges`. */
export const FixedChargeOverrideElement = z
  .object({ id: text(), ...overridable, charge_model: oneOf(FIXED_CHARGE_MODELS).optional() })
  .check(ownErrors());
export type FixedChargeOverrideElement = z.infer<typeof FixedChargeOverrideElement>;

export const FixedChargeView = z.object({
  svc_id: z.uuid(),
  svc_add_on_id: z.uuid(),
  invoice_display_name: z.string(),
  add_on_code: z.string(),
  created_at: z.iso.datetime(),
  code: z.string(),
  charge_model: z.enum(FIXED_CHARGE_MODELS),
  pay_in_advance: z.boolean(),
  prorated: z.boolean(),
  properties: ShownProperties,
  units: z.number(),
  svc_parent_id: z.uuid().nullable(),
  taxes: z.array(TaxView),
});
export type FixedChargeView = z.infer<typeof FixedChargeView>;

export const FixedChargeEnvelope = z.object({ fixed_charge: FixedChargeView });
export const FixedChargeList = z.object({ fixed_charges: z.array(FixedChargeView), meta: PageMeta });
export const FixedChargeListQuery = z.object(pageQuery);

/** Which record of an external id is meant; an unknown word is ignored. */
const subscriptionStatus = {
  subscription_status: textFilter
    .transform((value) => SUBSCRIPTION_STATUSES.find((each) => each === value) ?? ('active' as const))
    .meta({ type: 'string', enum: SUBSCRIPTION_STATUSES }),
};
export const SubscriptionQuery = z.object(subscriptionStatus);
export type SubscriptionQuery = z.infer<typeof SubscriptionQuery>;
export const SubscriptionListQuery = z.object({ ...subscriptionStatus, ...pageQuery });
export type SubscriptionListQuery = z.infer<typeof SubscriptionListQuery>;
