import type { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { assert } from '../../../engine/assert.ts';
import { canRuleMove, RULE_STATUSES, type RuleStatus } from '../../../engine/subscriptions/activation-rule-states.ts';
import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { json } from '../../../platform/db/values.ts';
import type { PaymentProviderId, SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { isTransferred } from '../../../platform/payments/unstored-kinds.ts';
import { refuse } from '../../../platform/refusal.ts';
import { list } from '../../../platform/schema/bounded.ts';
import { findMethod } from '../../customers/payment-methods/queries.ts';
import type { SubscriptionRow } from './queries.ts';

const POSITIVE_OR_ZERO = 'value_must_be_positive_or_zero';

/** How many rules a list may have: with more rules than types one type would appear twice. */
const RULES_MAX = 10;
/** A century, so that dates derived from it can still be written. */
const TIMEOUT_HOURS_MAX = 876_600;

/** The kind of methods that are collected by a mandate on a bank account. */
const BANK_DEBIT = 'bank_debit';
/** Eight days: a bank debit may take that long, and a shorter rule would expire before each of them. */
const DEBIT_HOURS = 192;

const ActivationRule = z.object(
  {
    type: z.literal('payment', 'invalid_type'),
    timeout_hours: z
      .int(POSITIVE_OR_ZERO)
      .min(0, POSITIVE_OR_ZERO)
      .max(TIMEOUT_HOURS_MAX, 'value_is_out_of_range')
      .nullish()
      .transform((hours) => hours ?? 0),
  },
  'invalid_format',
);

/** Conditions for a subscription to become active: at most one rule of each type. */
export const ActivationRules = list(ActivationRule, {
  max: RULES_MAX,
  wrong: 'invalid_format',
  tooMany: 'duplicated_type',
}).refine((rules) => new Set(rules.map(({ type }) => type)).size === rules.length, 'duplicated_type');
export type ActivationRules = z.infer<typeof ActivationRules>;

export const ActivationRuleView = z.object({
  svc_id: z.string(),
  type: z.literal('payment'),
  timeout_hours: z.int(),
  status: z.enum(RULE_STATUSES),
  expires_at: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
});

/** A rule as the database gives it with its subscription. */
export interface ActivationRuleJson {
  id: string;
  rule_type: 'payment';
  timeout_hours: number;
  status: RuleStatus;
  expires_at: string | null;
  created_at: string;
  updated_at: string;
}

/** Rules of the subscription `s` of a query, in the order in which they were given. */
export const activationRules = (db: Db) => db`
  (select coalesce(jsonb_agg(jsonb_build_object('id', rule.id, 'rule_type', rule.rule_type,
     'timeout_hours', rule.timeout_hours, 'status', rule.status,
     'expires_at', ${wholeSeconds(db, db`rule.expires_at`)}, 'created_at', ${wholeSeconds(db, db`rule.created_at`)},
     'updated_at', ${wholeSeconds(db, db`rule.updated_at`)}) order by rule.id), '[]')
   from subscription_activation_rules rule
   where rule.organization_id = s.organization_id and rule.subscription_id = s.id)`;

const wholeSeconds = (db: Db, instant: ReturnType<Db>) => db`
  to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

export const activationRuleView = ({ id, rule_type, ...rule }: ActivationRuleJson) => ({
  svc_id: id,
  type: rule_type,
  timeout_hours: rule.timeout_hours,
  status: rule.status,
  expires_at: rule.expires_at,
  created_at: rule.created_at,
  updated_at: rule.updated_at,
});

/** The customer and the payment method of a subscription. */
type PaidBy = Pick<SubscriptionRow, 'customer_id' | 'payment_method_type' | 'payment_method_id'>;

/**
 * Stores the rules of a subscription that has not started, in place of those that it had.
 *
 * @throws Refusal 422 customer, when it cannot be charged automatically; activation_rules timeout_too_short, when a
 *   bank debit cannot end in time
 */
export async function saveRules(
  ctx: Context,
  subscription: { id: SubscriptionId } & PaidBy,
  rules: ActivationRules,
): Promise<void> {
  if (rules.length > 0) await refuseUnpayable(ctx, subscription, rules);
  await dropRules(ctx, subscription.id);
  await insertRules(ctx, subscription.id, rules);
}

/** A repeated plan change keeps its rules, whatever has become of the payment method. */
export async function copyRules(ctx: Context, ids: { from: string; to: string }): Promise<void> {
  const rules = await ctx.db<ActivationRules>`
    select rule_type as type, timeout_hours from subscription_activation_rules
    where organization_id = ${ctx.organizationId} and subscription_id = ${ids.from}
    order by id`;
  await insertRules(ctx, ids.to, rules);
}

async function insertRules(ctx: Context, subscriptionId: SubscriptionId, rules: ActivationRules): Promise<void> {
  const rows = rules.map((rule) => ({ id: newId(), ...rule }));
  await ctx.db`
    insert into subscription_activation_rules (id, organization_id, subscription_id, rule_type, timeout_hours, status,
      created_at, updated_at)
    select rule.id, ${ctx.organizationId}::uuid, ${subscriptionId}::uuid, rule.type, rule.timeout_hours, 'inactive',
      ${ctx.now()}, ${ctx.now()}
    from jsonb_to_recordset(${json(rows)}::jsonb) as rule (id uuid, type text, timeout_hours integer)`;
}

export const dropRules = (ctx: Context, subscriptionId: SubscriptionId) => ctx.db`
  delete from subscription_activation_rules
  where organization_id = ${ctx.organizationId} and subscription_id = ${subscriptionId} and status = 'inactive'`;

async function refuseUnpayable(ctx: Context, subscription: PaidBy, rules: ActivationRules): Promise<void> {
  if (subscription.payment_method_type === 'manual')
    throw refuse.invalid({ customer: ['manual_payment_method_invalid_for_payment_activation_rules'] });
  const [customer] = await ctx.db<
    { payment_provider_id: PaymentProviderId | null; provider_payment_methods: string[] }[]
  >`
    select payment_provider_id, provider_payment_methods from customers
    where organization_id = ${ctx.organizationId} and id = ${subscription.customer_id}`;
  if (!customer?.payment_provider_id) throw refuse.invalid({ customer: ['no_linked_payment_provider'] });
  const { payment_method_id: methodId } = subscription;
  // Nobody waits for days for a transfer, and an invoice that is open has no page that names the account.
  const isByTransfer = methodId === null && isTransferred(customer.provider_payment_methods);
  const method = isByTransfer ? undefined : await findMethod(ctx, subscription.customer_id, methodId);
  if (!method) throw refuse.invalid({ customer: ['no_default_payment_method'] });
  const isTooShort = ({ timeout_hours: hours }: ActivationRules[number]) => hours > 0 && hours < DEBIT_HOURS;
  if (method.method_type === BANK_DEBIT && rules.some(isTooShort))
    throw refuse.invalid({ activation_rules: ['timeout_too_short'] });
}

/**
 * Evaluates the rules of a subscription that starts now.
 *
 * @param hasToPay whether there is anything to pay in advance; without it a rule does not apply
 * @returns whether the subscription has to wait
 * Rule: activation-rules.md.
 */
export async function evaluateRules(ctx: Context, subscriptionId: SubscriptionId, hasToPay: boolean): Promise<boolean> {
  const rows = await ctx.db<{ status: RuleStatus }[]>`
    update subscription_activation_rules set status = ${hasToPay ? 'pending' : 'not_applicable'},
      updated_at = ${ctx.now()},
      expires_at = (${ctx.now()}::timestamptz at time zone 'UTC'
        + nullif(timeout_hours * ${hasToPay ? 1 : 0}::integer, 0) * interval '1 hour') at time zone 'UTC'
    where organization_id = ${ctx.organizationId} and subscription_id = ${subscriptionId} and status = 'inactive'
    returning status`;
  return hasToPay && rows.length > 0;
}

/** Ends the rules for which a subscription waited. */
export async function endRules(ctx: Context, subscriptionId: SubscriptionId, status: RuleStatus): Promise<void> {
  assert(canRuleMove('pending', status), 'a rule that is waited for ends');
  await ctx.db`
    update subscription_activation_rules set status = ${status}, updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and subscription_id = ${subscriptionId} and status = 'pending'`;
}

/** Whether a rule for which a subscription waits has expired at `at`. */
export async function isExpired(ctx: Context, subscriptionId: SubscriptionId, at: Temporal.Instant): Promise<boolean> {
  const rows = await ctx.db`
    select from subscription_activation_rules
    where organization_id = ${ctx.organizationId} and subscription_id = ${subscriptionId} and status = 'pending'
      and expires_at <= ${at}`;
  return rows.length > 0;
}
