import { z } from 'zod';
import { CURRENCIES } from '../../../engine/money/currency.ts';
import { SUBSCRIPTION_STATUSES } from '../../../engine/subscriptions/subscription-states.ts';
import { booleanFilter, listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { countedPageQuery, PageMeta } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { anyValue } from '../../../platform/schema/bounded.ts';
import { boolean, INVALID, integer, oneOf, optionalText, text } from '../../../platform/schema/fields.ts';
import { renameErrors } from '../../../platform/schema/flat-errors.ts';
import { instantField } from '../../../platform/schema/instant-field.ts';
import { KEY_MAX_BYTES, LINE_MAX, SCALAR_MAX } from '../../../platform/schema/sizes.ts';
import { PlanOverrides } from '../../catalog/plans/override-schema.ts';
import { ApplicableUsageThreshold, UsageThresholdsInput } from '../../catalog/usage-thresholds/schema.ts';
import { SectionChoice, SelectedSectionView } from '../../customers/invoice-custom-sections/schema.ts';
import { SubscriptionEntitlementView } from '../entitlements/schema.ts';
import { ActivationRules, ActivationRuleView } from './activation-rules.ts';

const PURCHASE_ORDER_NUMBER_MAX = 255;
/** Longest reference of a buyer that receivers of electronic documents keep. */
const BUYER_REFERENCE_MAX = 100;

const isFilled = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  (typeof value !== 'object' || (Array.isArray(value) ? value : Object.keys(value)).length > 0);

/** Amount that the provider is to authorize before anything is created. Rule: subscriptions.md#fields. */
const Authorization = z.preprocess(
  (value) => (isFilled(value) ? value : undefined),
  z.object({ amount_cents: integer({ min: 1 }), amount_currency: oneOf(CURRENCIES) }, INVALID).optional(),
);
export type Authorization = NonNullable<z.infer<typeof Authorization>>;

const trimmed = (options: { max?: number } = {}) =>
  optionalText(options).transform((value) => (typeof value === 'string' ? value.trim() || null : value));

const PaymentMethod = z
  .object(
    {
      payment_method_type: z.enum(['provider', 'manual'], 'invalid_payment_method').nullish(),
      payment_method_id: z.string('invalid_payment_method').max(LINE_MAX, 'invalid_payment_method').nullish(),
    },
    'invalid_payment_method',
  )
  .nullish()
  .refine((value) => value?.payment_method_type !== 'manual' || !value.payment_method_id, 'invalid_payment_method')
  .transform((value) =>
    value === undefined
      ? undefined
      : {
          payment_method_type: value?.payment_method_type ?? null,
          payment_method_id: value?.payment_method_id || null,
        },
  );

const editable = {
  name: trimmed(),
  ending_at: instantField().nullish(),
  plan_overrides: PlanOverrides.nullish(),
  usage_thresholds: UsageThresholdsInput.nullish(),
  activation_rules: ActivationRules.nullish(),
  payment_method: PaymentMethod,
  invoice_custom_section: SectionChoice,
  billing_entity_code: optionalText(),
  billing_entity_id: optionalText(),
  purchase_order_number: trimmed({ max: PURCHASE_ORDER_NUMBER_MAX }),
  buyer_reference: trimmed({ max: BUYER_REFERENCE_MAX }),
  consolidate_invoice: boolean().optional(),
  progressive_billing_disabled: boolean().optional(),
};

// The same length as in events (events.md#fields): a longer id could never be metered.
const externalId = () => text({ maxBytes: KEY_MAX_BYTES }).transform((value) => value.trim());

const SubscriptionCreate = z.object({
  ...editable,
  external_customer_id: text(),
  plan_code: text(),
  external_id: externalId(),
  billing_time: z.preprocess((value) => value ?? 'calendar', oneOf(['calendar', 'anniversary'])),
  subscription_at: instantField().nullish(),
});
export type SubscriptionCreate = z.infer<typeof SubscriptionCreate>;

const SubscriptionUpdate = z.object({
  ...editable,
  subscription_at: instantField().nullish(),
  external_customer_id: optionalText(),
  external_id: optionalText(),
  plan_code: optionalText(),
  billing_time: optionalText(),
  on_termination_credit_note: z.enum(['credit', 'refund', 'offset', 'skip'], 'invalid_value').nullish(),
  on_termination_invoice: z.enum(['generate', 'skip'], 'invalid_value').nullish(),
});
export type SubscriptionUpdate = z.infer<typeof SubscriptionUpdate>;

/** Content of the root key; fields beside the root keep their own name. A missing or empty root is 400. */
const contentOf = (body: Record<string, unknown>): object => {
  const content = body.subscription;
  if (typeof content === 'object' && content !== null && !Array.isArray(content) && Object.keys(content).length > 0)
    return content;
  throw refuse.missingRoot('subscription');
};

// Errors inside a list are reported under the field of the rule; an element that is not a rule under the list.
const listErrors = renameErrors((path) => {
  const [list, , field] = path;
  if (list === 'lineage_status') return ['status'];
  if (list === 'activation_rules') return [field === 'timeout_hours' ? field : list];
  return list === 'usage_thresholds' && path.length > 2 ? [field!] : path;
});

export const SubscriptionCreateBody = z.preprocess(
  (body) => ({
    ...contentOf(body as Record<string, unknown>),
    authorization: (body as { authorization?: unknown }).authorization,
  }),
  SubscriptionCreate.extend({ authorization: Authorization }).check(listErrors),
);
export const SubscriptionCreateDocumented = z.object({
  subscription: SubscriptionCreate.extend({
    external_id: text(),
    billing_time: z.enum(['calendar', 'anniversary']).optional(),
  }),
  authorization: z.object({ amount_cents: z.int(), amount_currency: z.enum(CURRENCIES) }).optional(),
});

/** The status of the selected record is in the body, beside the root, or in the query. */
export const SubscriptionUpdateBody = z.preprocess(
  (body) => ({ ...contentOf(body as Record<string, unknown>), lineage_status: (body as { status?: unknown }).status }),
  SubscriptionUpdate.extend({
    lineage_status: anyValue({ max: SCALAR_MAX, textMax: LINE_MAX })
      .optional()
      .transform((value) => (typeof value === 'string' ? value : undefined)),
  }).check(listErrors),
);
export const SubscriptionUpdateDocumented = z.object({
  subscription: SubscriptionUpdate,
  status: z.string().optional(),
});

const isStatus = (value: unknown): value is (typeof SUBSCRIPTION_STATUSES)[number] =>
  (SUBSCRIPTION_STATUSES as readonly unknown[]).includes(value);

const oneStatus = { type: 'string', enum: SUBSCRIPTION_STATUSES };

// An unknown word is ignored.
export const StatusQuery = z.object({
  status: textFilter.transform((value) => (isStatus(value) ? value : 'active')).meta(oneStatus),
});
export const TerminationQuery = z.object({
  status: textFilter.meta(oneStatus),
  on_termination_credit_note: z.enum(['credit', 'refund', 'offset', 'skip'], 'invalid_value').optional(),
  on_termination_invoice: z.enum(['generate', 'skip'], 'invalid_value').optional(),
});

const statusesFilter = listFilter
  .transform((values) => {
    if (values === undefined) return ['active'] as const;
    return values.every(isStatus) ? values : undefined;
  })
  .meta({ type: 'array', items: oneStatus });

const filters = {
  external_id: textFilter,
  plan_code: textFilter,
  // An unknown value drops the whole filter (lists.md#filters-and-order).
  status: statusesFilter,
  overridden: booleanFilter,
  overriden: booleanFilter,
  currency: textFilter,
  billing_entity_codes: listFilter,
  search_term: textFilter,
  ...countedPageQuery,
};
export const SubscriptionsQuery = z.object({ ...filters, external_customer_id: textFilter });
export const CustomerSubscriptionsQuery = z.object(filters);

const Instant = z.string();
const InstantOrNull = z.string().nullable();

export const SubscriptionObject = z.object({
  svc_id: z.string(),
  external_id: z.string(),
  svc_customer_id: z.string(),
  external_customer_id: z.string(),
  billing_entity_code: z.string(),
  name: z.string().nullable(),
  plan_code: z.string(),
  plan_amount_cents: z.int(),
  plan_amount_currency: z.string(),
  status: z.enum(SUBSCRIPTION_STATUSES),
  billing_time: z.enum(['calendar', 'anniversary']),
  subscription_at: Instant,
  started_at: InstantOrNull,
  activated_at: InstantOrNull,
  trial_ended_at: InstantOrNull,
  ending_at: InstantOrNull,
  terminated_at: InstantOrNull,
  canceled_at: InstantOrNull,
  cancellation_reason: z.enum(['payment_failed', 'timeout']).nullable(),
  created_at: Instant,
  previous_plan_code: z.string().nullable(),
  next_plan_code: z.string().nullable(),
  downgrade_plan_date: z.string().nullable(),
  current_billing_period_started_at: InstantOrNull,
  current_billing_period_ending_at: InstantOrNull,
  on_termination_credit_note: z.enum(['credit', 'refund', 'offset', 'skip']).nullable(),
  on_termination_invoice: z.enum(['generate', 'skip']),
  consolidate_invoice: z.boolean(),
  progressive_billing_disabled: z.boolean(),
  purchase_order_number: z.string().nullable(),
  // Absent while there is none.
  buyer_reference: z.string().optional(),
  payment_method: z.object({
    payment_method_type: z.enum(['provider', 'manual']),
    payment_method_id: z.string().optional(),
  }),
  activation_rules: z.array(ActivationRuleView),
  applied_invoice_custom_sections: z.array(SelectedSectionView),
});
export const SubscriptionEnvelope = z.object({ subscription: SubscriptionObject });
export const SubscriptionExtendedEnvelope = z.object({
  subscription: SubscriptionObject.extend({
    plan: z.looseObject({}),
    applicable_usage_thresholds: z.array(ApplicableUsageThreshold),
    entitlements: z.array(SubscriptionEntitlementView),
  }),
});
export const SubscriptionsEnvelope = z.object({ subscriptions: z.array(SubscriptionObject), meta: PageMeta });
