import { z } from 'zod';
import { TOP_UP_INTERVALS } from '../../../engine/credits/wallet-interval.ts';
import { CURRENCIES } from '../../../engine/money/currency.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import {
  listFilter,
  numberFilter,
  optionalNumberFilter,
  textFilter,
  wordsFilter,
} from '../../../platform/lists/filters.ts';
import { countedPageQuery, PageMeta } from '../../../platform/lists/pagination.ts';
import { anyValue } from '../../../platform/schema/bounded.ts';
import {
  boolean,
  decimalInput,
  INVALID,
  integer,
  OUT_OF_RANGE,
  oneOf,
  optionalText,
  text,
} from '../../../platform/schema/fields.ts';
import { renameErrors } from '../../../platform/schema/flat-errors.ts';
import { instantField } from '../../../platform/schema/instant-field.ts';
import { CODES_MAX, LINE_MAX } from '../../../platform/schema/sizes.ts';
import { Metadata } from '../../catalog/plans/metadata.ts';
import { SectionChoice, SelectedSectionView } from '../../customers/invoice-custom-sections/schema.ts';
import { creditsInput, MOST_PAIRS_OF_WALLET, pairsInput, paymentMethodInput, priorityInput } from './input-fields.ts';

/** Fees that a wallet may be limited to: it pays no others. */
export const WALLET_FEE_TYPES = ['charge', 'subscription', 'commitment', 'fixed_charge'] as const;

const CODE_MAX = 255;
const PURCHASE_ORDER_NUMBER_MAX = 255;
const NAME_MAX = 255;

const limitCents = () => integer({ min: 1 }).nullish();

const shared = {
  name: optionalText({ max: NAME_MAX }),
  code: optionalText({ max: CODE_MAX }),
  priority: priorityInput(),
  expiration_at: z.union([instantField(), z.null()]).optional(),
  invoice_requires_successful_payment: boolean().nullish(),
  paid_top_up_min_amount_cents: limitCents(),
  paid_top_up_max_amount_cents: limitCents(),
  // Errors of these two have their own codes, see limits-of-wallet.ts and top-up-rule-input.ts.
  applies_to: anyValue({ max: CODES_MAX, textMax: LINE_MAX }).optional(),
  recurring_transaction_rules: anyValue({ max: CODES_MAX }).optional(),
  payment_method: paymentMethodInput(),
  billing_entity_code: optionalText(),
  invoice_custom_section: SectionChoice,
  purchase_order_number: optionalText({ max: PURCHASE_ORDER_NUMBER_MAX }),
  metadata: Metadata.nullish(),
};

// Errors inside a payment method and inside metadata stand under the field that the rules name.
const plainErrors = <Output>() =>
  renameErrors<Output>((path) => {
    if (path[0] === 'metadata') return ['value'];
    return path[0] === 'payment_method' || path[0] === 'transaction_metadata' ? [path[0]] : path;
  });

/** Rate of a credit in money, 5 decimals. */
const rate = () =>
  decimalInput().refine((value) => decimal(value).toDecimalPlaces(5).gt(0) && decimal(value).lt('1e25'), OUT_OF_RANGE);

const create = {
  ...shared,
  rate_amount: rate(),
  currency: oneOf(CURRENCIES).nullish(),
  paid_credits: creditsInput('paid_credits'),
  granted_credits: creditsInput('granted_credits'),
  ignore_paid_top_up_limits_on_creation: boolean().nullish(),
  transaction_name: optionalText({ max: NAME_MAX }),
  transaction_priority: priorityInput(),
  transaction_metadata: pairsInput(MOST_PAIRS_OF_WALLET),
};

/** Input of `POST /customers/{external_id}/wallets`. Rule: wallets.md#fields. */
export const CustomerWalletCreate = z.object(create).check(plainErrors());
export type CustomerWalletCreate = z.infer<typeof CustomerWalletCreate>;

/** Input of `POST /wallets`. */
export const WalletCreate = z.object({ ...create, external_customer_id: text() }).check(plainErrors());
export type WalletCreate = z.infer<typeof WalletCreate>;

/** Input of `PUT`: what is absent stays; rate and currency never change. */
export const WalletUpdate = z
  .object({ ...shared, rate_amount: rate().nullish(), currency: z.string().max(LINE_MAX, INVALID).nullish() })
  .check(plainErrors());
export type WalletUpdate = z.infer<typeof WalletUpdate>;

const PaymentMethod = z.object({
  payment_method_type: z.enum(['provider', 'manual']),
  payment_method_id: z.string().optional(),
});

const Rule = z.object({
  svc_id: z.uuid(),
  trigger: z.enum(['interval', 'threshold']),
  method: z.enum(['fixed', 'target']),
  interval: z.enum(TOP_UP_INTERVALS),
  status: z.enum(['active', 'terminated']),
  threshold_credits: z.string(),
  paid_credits: z.string(),
  granted_credits: z.string(),
  target_ongoing_balance: z.string().nullable(),
  grants_target_top_up: z.boolean(),
  started_at: z.iso.datetime().nullable(),
  expiration_at: z.iso.datetime().nullable(),
  invoice_requires_successful_payment: z.boolean(),
  ignore_paid_top_up_limits: z.boolean(),
  transaction_name: z.string().nullable(),
  transaction_metadata: z.array(z.object({ key: z.string(), value: z.string() })),
  payment_method: PaymentMethod,
  purchase_order_number: z.string().nullable(),
  applied_invoice_custom_sections: z.array(SelectedSectionView),
  created_at: z.iso.datetime(),
});

export const WalletObject = z.object({
  svc_id: z.uuid(),
  svc_customer_id: z.uuid(),
  external_customer_id: z.string(),
  billing_entity_code: z.string(),
  status: z.enum(['active', 'terminated']),
  currency: z.enum(CURRENCIES),
  name: z.string().nullable(),
  code: z.string(),
  priority: z.int(),
  rate_amount: z.string(),
  credits_balance: z.string(),
  balance_cents: z.int(),
  credits_ongoing_balance: z.string(),
  ongoing_balance_cents: z.int(),
  credits_ongoing_usage_balance: z.string(),
  ongoing_usage_balance_cents: z.int(),
  consumed_credits: z.string(),
  applies_to: z.object({ fee_types: z.array(z.string()), billable_metric_codes: z.array(z.string()) }),
  paid_top_up_min_amount_cents: z.int().nullable(),
  paid_top_up_max_amount_cents: z.int().nullable(),
  invoice_requires_successful_payment: z.boolean(),
  payment_method: PaymentMethod,
  purchase_order_number: z.string().nullable(),
  applied_invoice_custom_sections: z.array(SelectedSectionView),
  expiration_at: z.iso.datetime().nullable(),
  last_balance_sync_at: z.iso.datetime().nullable(),
  last_consumed_credit_at: z.iso.datetime().nullable(),
  terminated_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  metadata: z.record(z.string(), z.string().nullable()).optional(),
  recurring_transaction_rules: z.array(Rule).optional(),
});

export const WalletEnvelope = z.object({ wallet: WalletObject });
export const WalletList = z.object({ wallets: z.array(WalletObject), meta: PageMeta });
export const WalletListQuery = z.object({
  ...countedPageQuery,
  external_customer_id: textFilter,
  currency: textFilter,
  statuses: wordsFilter(['active', 'terminated']),
  days_left_to: optionalNumberFilter({ min: 0, max: 400 }),
  billing_entity_codes: listFilter,
});
export type WalletListQuery = z.infer<typeof WalletListQuery>;

export const WalletBurnDownQuery = z.object({ days: numberFilter({ min: 7, max: 400, usual: 90 }) });
export type WalletBurnDownQuery = z.output<typeof WalletBurnDownQuery>;

export const WalletBurnDown = z.object({
  burn_down: z.object({
    currency: z.string(),
    points: z.array(
      z.object({
        day: z.iso.date(),
        balance_cents: z.int(),
        ongoing_balance_cents: z.int(),
        added_cents: z.int(),
        consumed_cents: z.int(),
      }),
    ),
    available_cents: z.int(),
    daily_rate_cents: z.string().nullable(),
    days_left: z.int().nullable(),
    exhausted_on: z.iso.date().nullable(),
    next_top_up_on: z.iso.date().nullable(),
  }),
});
export type WalletBurnDown = z.infer<typeof WalletBurnDown>;
