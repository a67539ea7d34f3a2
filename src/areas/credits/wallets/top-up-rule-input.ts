import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { isAfter } from '../../../engine/calendar/instants.ts';
import { TOP_UP_INTERVALS } from '../../../engine/credits/wallet-interval.ts';
import { bookedCredits } from '../../../engine/credits/wallet-money.ts';
import { decimal, ZERO } from '../../../engine/money/decimal.ts';
import { boolean } from '../../../platform/schema/fields.ts';
import { instantField } from '../../../platform/schema/instant-field.ts';
import { SectionChoice } from '../../customers/invoice-custom-sections/schema.ts';
import { creditsInput, MOST_PAIRS_OF_WALLET, pairsInput, paymentMethodInput } from './input-fields.ts';
import type { RuleFields, RuleRow } from './top-up-rule-queries.ts';

const NAME_MAX = 255;

/** A rule as clients send it. Rule: top-ups.md#recurring-rules. */
const RuleInput = z.object({
  svc_id: z.string().nullish(),
  trigger: z.enum(['interval', 'threshold']),
  interval: z.enum(TOP_UP_INTERVALS).nullish(),
  method: z.enum(['fixed', 'target']).nullish(),
  threshold_credits: creditsInput('paid_credits'),
  paid_credits: creditsInput('paid_credits'),
  granted_credits: creditsInput('granted_credits'),
  target_ongoing_balance: creditsInput('paid_credits'),
  grants_target_top_up: boolean().nullish(),
  started_at: instantField().nullish(),
  expiration_at: instantField().nullish(),
  invoice_requires_successful_payment: boolean().nullish(),
  ignore_paid_top_up_limits: boolean().nullish(),
  transaction_name: z.string().min(1).max(NAME_MAX).nullish(),
  transaction_metadata: pairsInput(MOST_PAIRS_OF_WALLET),
  payment_method: paymentMethodInput(),
  invoice_custom_section: SectionChoice,
  purchase_order_number: z.string().max(NAME_MAX).nullish(),
});

/** The fields of its wallet that a rule depends on. */
export interface RuleWallet {
  invoice_requires_successful_payment: boolean;
  created_at: Temporal.Instant;
  /** The first credits of a new wallet, which a rule without amount adds each time. */
  firstPaid?: string | null;
  firstGranted?: string | null;
}

export interface ReadRule {
  id: string | null;
  fields: RuleFields;
  /** What it says about sections; undefined says nothing. */
  sections?: SectionChoice;
}

/**
 * A rule as it is stored; fields that an update omits keep their value. Undefined if anything is wrong.
 * Rule: top-ups.md#recurring-rules.
 */
export function readRule(
  given: unknown,
  wallet: RuleWallet,
  now: Temporal.Instant,
  stored: readonly RuleRow[] = [],
): ReadRule | undefined {
  const parsed = RuleInput.safeParse(given);
  if (!parsed.success) return undefined;
  const input = parsed.data;
  const former = stored.find(({ id }) => id === input.svc_id);
  if (input.svc_id && !former) return undefined;
  const isNamed = (field: string) => Object.hasOwn(given as object, field);
  const credits = (field: 'paid_credits' | 'granted_credits' | 'threshold_credits', first?: string | null) => {
    if (isNamed(field)) return decimal(input[field] ?? 0);
    if (former) return former[field];
    const takesFirst = !isNamed('paid_credits') && !isNamed('granted_credits');
    return takesFirst && first ? decimal(first) : ZERO;
  };
  const kept = <Field extends keyof RuleFields>(field: Field, value: RuleFields[Field], other: RuleFields[Field]) =>
    isNamed(field) ? value : former ? former[field] : other;

  const method = input.method ?? former?.method ?? 'fixed';
  const expirationAt = input.expiration_at ? Temporal.Instant.from(input.expiration_at) : null;
  const startedAt = input.started_at ? Temporal.Instant.from(input.started_at) : null;
  const target = input.target_ongoing_balance === null ? null : decimal(input.target_ongoing_balance);
  const fields: RuleFields = {
    trigger: input.trigger,
    method,
    interval: input.trigger === 'interval' ? kept('interval', input.interval ?? null, null) : null,
    threshold_credits: input.trigger === 'threshold' ? credits('threshold_credits') : ZERO,
    paid_credits: method === 'fixed' ? credits('paid_credits', wallet.firstPaid) : ZERO,
    granted_credits: method === 'fixed' ? credits('granted_credits', wallet.firstGranted) : ZERO,
    target_ongoing_balance: method === 'target' ? kept('target_ongoing_balance', target, null) : null,
    grants_target_top_up: kept('grants_target_top_up', input.grants_target_top_up ?? false, false),
    started_at: kept('started_at', startedAt, null),
    expiration_at: kept('expiration_at', expirationAt, null),
    invoice_requires_successful_payment: kept(
      'invoice_requires_successful_payment',
      input.invoice_requires_successful_payment ?? wallet.invoice_requires_successful_payment,
      wallet.invoice_requires_successful_payment,
    ),
    ignore_paid_top_up_limits: kept('ignore_paid_top_up_limits', input.ignore_paid_top_up_limits ?? false, false),
    transaction_name: kept('transaction_name', input.transaction_name ?? null, null),
    transaction_metadata: kept('transaction_metadata', input.transaction_metadata, []),
    payment_method_type: isNamed('payment_method')
      ? (input.payment_method?.payment_method_type ?? null)
      : (former?.payment_method_type ?? null),
    payment_method_id: isNamed('payment_method')
      ? (input.payment_method?.payment_method_id ?? null)
      : (former?.payment_method_id ?? null),
    purchase_order_number: kept('purchase_order_number', input.purchase_order_number ?? null, null),
    skip_invoice_custom_sections: isNamed('invoice_custom_section')
      ? (input.invoice_custom_section?.skip_invoice_custom_sections ?? null)
      : (former?.skip_invoice_custom_sections ?? null),
  };
  const isComplete =
    (fields.trigger === 'threshold' ? former || isNamed('threshold_credits') : fields.interval !== null) &&
    (method === 'fixed' ? !fields.grants_target_top_up : fields.target_ongoing_balance !== null);
  const isConsistent =
    (fields.target_ongoing_balance?.gte(fields.threshold_credits) ?? true) &&
    (expirationAt === null || isAfter(expirationAt, now));
  return isComplete && isConsistent
    ? { id: former?.id ?? null, fields, sections: input.invoice_custom_section }
    : undefined;
}

interface Limits {
  rate: ReturnType<typeof decimal>;
  exponent: number;
  min: number | null;
  max: number | null;
}

/** What is wrong with the money of credits that are bought: limits of the wallet. Rule: wallets.md#transactions. */
export function limitFault(paid: ReturnType<typeof decimal>, { rate, exponent, min, max }: Limits): string | undefined {
  if (paid.isZero()) return undefined;
  const { amountCents } = bookedCredits(paid, { rate, exponent });
  if (min !== null && amountCents < min) return 'amount_below_minimum';
  return max !== null && amountCents > max ? 'amount_above_maximum' : undefined;
}

/** Whether what a rule buys each time is within the limits of its wallet. */
export const isWithinLimits = (rule: RuleFields, limits: Limits): boolean =>
  rule.ignore_paid_top_up_limits || limitFault(rule.paid_credits, limits) === undefined;
