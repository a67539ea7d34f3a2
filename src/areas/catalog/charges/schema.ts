import { z } from 'zod';
import { CHARGE_MODELS } from '../../../engine/pricing/charge-models.ts';
import { isPriced } from '../../../engine/pricing/price.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { anyValue, list, named } from '../../../platform/schema/bounded.ts';
import { elementErrors } from '../../../platform/schema/element-errors.ts';
import {
  boolean,
  FORMAT,
  INVALID,
  integer,
  MANDATORY,
  oneOf,
  oneOfOffered,
  optionalText,
  text,
} from '../../../platform/schema/fields.ts';
import { renameErrors } from '../../../platform/schema/flat-errors.ts';
import { SCALAR_MAX } from '../../../platform/schema/sizes.ts';
import { isStorableJson } from '../../../platform/schema/storable.ts';
import { resettable, textList } from '../../../platform/schema/typed-text.ts';
import { TaxView } from '../taxes/view.ts';
import { FILTERS_MAX } from './most-charges.ts';
import { chargePropertiesShape } from './properties-shape.ts';

/** Longest code: an index of the database holds it, and a generated one is longer than its metric's. */
const CODE_MAX = 300;

/** Whatever is wrong within a field is reported under the field: `values` and not `values.region.0`. */
const ownErrors = <Output>() =>
  renameErrors<Output>((path) => (path[0] === 'applied_pricing_unit' ? path.slice(-1) : path.slice(0, 1)));

/** How many keys a filter may have (metrics hardly have ten), and how many values a key. */
const FILTER_KEYS_MAX = 100;
const FILTER_VALUES_MAX = 500;
/**
 * How many properties a charge may have, and how many elements a list in them: tiers of a graduated price above all.
 */
const PROPERTIES_MAX = 500;
/** How many characters a text in properties may have; amounts are texts. */
const PROPERTY_TEXT_MAX = 1000;
/** Deepest nesting of lists and objects in properties; no model has more than four. */
const MAX_DEPTH = 20;

// Their content is checked against the charge model (charges.md#properties).
export const Properties = named(anyValue({ max: PROPERTIES_MAX, textMax: PROPERTY_TEXT_MAX }), {
  max: PROPERTIES_MAX,
  wrong: { error: () => 'invalid_type' },
})
  .refine((properties) => isStorableJson(properties, MAX_DEPTH), FORMAT)
  .meta(chargePropertiesShape);

const filterFields = {
  invoice_display_name: optionalText(),
  properties: Properties.nullish(),
  values: named(list(text(), { max: FILTER_VALUES_MAX }), {
    max: FILTER_KEYS_MAX,
    wrong: { error: (issue) => (issue.input === undefined || issue.input === null ? MANDATORY : INVALID) },
  }),
  cascade_updates: boolean().nullish(),
};

/** Input of a charge filter, in a charge's list or alone. Rule: groups-and-filters.md#filters-of-a-charge. */
export const ChargeFilterCreate = z.object(filterFields).check(ownErrors());
export type ChargeFilterCreate = z.infer<typeof ChargeFilterCreate>;

export const ChargeFilterUpdate = z.object(filterFields).partial().check(ownErrors());
export type ChargeFilterUpdate = z.infer<typeof ChargeFilterUpdate>;

/** The pricing unit of a charge; without a code or rate it has none. Rule: pricing-units.md. */
const AppliedPricingUnit = z
  .object({ code: optionalText(), conversion_rate: anyValue({ max: SCALAR_MAX }).optional() }, { error: () => INVALID })
  .nullish();

const UNPRICED = CHARGE_MODELS.filter((model) => !isPriced(model));

const fields = {
  billable_metric_id: text(),
  code: text({ max: CODE_MAX }).nullish(),
  charge_model: oneOfOffered(CHARGE_MODELS, UNPRICED),
  invoice_display_name: optionalText(),
  pay_in_advance: resettable(boolean(), false),
  prorated: resettable(boolean(), false),
  invoiceable: resettable(boolean(), true),
  regroup_paid_fees: oneOf(['invoice']).nullish(),
  min_amount_cents: resettable(integer({ min: 0 }), 0),
  accepts_target_wallet: resettable(boolean(), false),
  properties: Properties.nullish(),
  filters: list(ChargeFilterCreate, { max: FILTERS_MAX }).nullish(),
  tax_codes: textList(),
  applied_pricing_unit: AppliedPricingUnit,
  cascade_updates: boolean().nullish(),
};

// Errors of a filter move to the filter's field first, then the rest to the charge's own field.
const checked = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape).check(elementErrors('filters')).check(ownErrors());

/** Input of a new charge. Rule: charges.md#fields. */
export const ChargeCreate = checked(fields);
export type ChargeCreate = z.infer<typeof ChargeCreate>;

/** Input of `PUT …/charges/{charge_code}`: what is absent stays. */
export const ChargeUpdate = checked(z.object(fields).partial().shape);
export type ChargeUpdate = z.infer<typeof ChargeUpdate>;

/** An element of `PUT /plans/{code}` `charges[]`: with the id of a charge it changes it, without it makes one. */
export const ChargeElement = checked({ id: text().nullish(), ...z.object(fields).partial().shape });
export type ChargeElement = z.infer<typeof ChargeElement>;

/** Optional body of the deletions. */
export const CascadeBody = z.object({ cascade_updates: boolean().nullish() });
export type CascadeBody = z.infer<typeof CascadeBody>;

export const ShownProperties = z
  .record(z.string(), z.unknown())
  .meta({ ...chargePropertiesShape, id: 'ShownChargeProperties' });

const ShownFilter = z.object({
  invoice_display_name: z.string().nullable(),
  properties: ShownProperties,
  values: z.record(z.string(), z.array(z.string())),
});

export const ChargeView = z.object({
  svc_id: z.uuid(),
  svc_billable_metric_id: z.uuid(),
  code: z.string(),
  invoice_display_name: z.string().nullable(),
  billable_metric_code: z.string(),
  created_at: z.iso.datetime(),
  charge_model: z.enum(CHARGE_MODELS),
  invoiceable: z.boolean(),
  regroup_paid_fees: z.literal('invoice').nullable(),
  pay_in_advance: z.boolean(),
  prorated: z.boolean(),
  min_amount_cents: z.int(),
  accepts_target_wallet: z.boolean(),
  properties: ShownProperties,
  applied_pricing_unit: z.object({ code: z.string(), conversion_rate: z.string() }).nullable(),
  svc_parent_id: z.uuid().nullable(),
  filters: z.array(ShownFilter),
  taxes: z.array(TaxView),
});
export type ChargeView = z.infer<typeof ChargeView>;

export const ChargeFilterView = z.object({ svc_id: z.uuid(), charge_code: z.string(), ...ShownFilter.shape });
export type ChargeFilterView = z.infer<typeof ChargeFilterView>;

export const ChargeEnvelope = z.object({ charge: ChargeView });
export const ChargeList = z.object({ charges: z.array(ChargeView), meta: PageMeta });
export const ChargeFilterEnvelope = z.object({ filter: ChargeFilterView });
export const ChargeFilterList = z.object({ filters: z.array(ChargeFilterView), meta: PageMeta });
export const PageQuery = z.object(pageQuery);
